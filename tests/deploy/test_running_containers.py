"""The image is built and does a round; deploy/compose collects and publishes, though two parts are killed.

Podman and Buildah run it, with a storage of their own. No registry is asked: Debian's packages make the base
of each image, in place of those that the files name.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import yaml

from tests.deploy.test_compose import SERVICES, make_secrets, tool
from tests.documents.sessions import ROOT
from transit_emulator.process import emulator_process
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.paths import raw_files

PROGRAMS = ("podman", "buildah", "debootstrap", "runc", "iptables")
# The certificates of this machine: its package index may have a certificate of its own authority.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
IMAGES = Path(__file__).parent / "images"
NAME = SERVICES["worker-1"]["image"]
RUN_AS_IN_COMPOSE = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
LONGEST_SECONDS = 900
ANSWERS = "/tmp/answers.jsonl"  # noqa: S108 - in a container, as is what follows
# Short windows, so that what a killed worker polled ends soon.
SETTINGS = """
TRANSIT_BASE_URL=http://upstream:8400/api/v1/
TRANSIT_OPERATOR=example
TRANSIT_WINDOW_SECONDS=60
"""
UPSTREAM = {
    "services": {
        "upstream": {
            "image": NAME,
            "command": ["transit-etl", "emulator", "--host", "0.0.0.0", "--log", ANSWERS],  # noqa: S104
            "tmpfs": ["/tmp"],  # noqa: S108
        }
    }
}
# Podman asks for more files and processes than a machine may allow that is itself a virtual one.
CONTAINERS = """
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
"""
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""
pytestmark = [pytest.mark.long, pytest.mark.timeout(3 * LONGEST_SECONDS)]


@dataclass(frozen=True, slots=True)
class Podman:
    """Its settings and images, which are in one folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that Podman, Buildah and Docker Compose find it by."""
        return {
            **os.environ,
            "CONTAINERS_CONF": f"{self.folder}/containers.conf",
            "CONTAINERS_STORAGE_CONF": f"{self.folder}/storage.conf",
            "DOCKER_HOST": f"unix://{self.folder}/socket",
        }

    def call(self, *command: str | Path) -> str:
        """Run a command, and return what it prints; AssertionError with all of that if it fails."""
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=self.environment)
        assert 0 == done.returncode, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
        return done.stdout

    def build(self, context: Path, name: str, *options: str) -> None:
        """Build an image."""
        self.call("buildah", "bud", "--isolation=chroot", f"--tag={name}", *options, context)


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    """Yield a Podman that has the image of transit-etl; skip the tests where it cannot be made."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"needs root and {', '.join(PROGRAMS)}, which `make setup` installs on Debian")
    found = Podman(tmp_path_factory.mktemp("podman"))
    for file, text in (("containers.conf", CONTAINERS), ("storage.conf", STORAGE)):
        (found.folder / file).write_text(text.format(folder=found.folder))
    try:
        _make_base(found)
    except AssertionError as error:
        pytest.skip(f"no container runs here: {error}")
    found.build(
        ROOT, NAME, f"--file={ROOT}/deploy/container/Containerfile", "--build-arg=BASE=localhost/base"
    )
    try:
        yield found
    finally:
        found.call("podman", "rm", "--all", "--force", "--time=0")
        found.call("podman", "system", "reset", "--force")


def _make_base(podman: Podman) -> None:
    """Make the base of all images, and run a command in it."""
    base, archive = podman.folder / "base", podman.folder / "base.tar"
    podman.call(
        "debootstrap", "--variant=minbase", "--include=python3-venv,ca-certificates", "bookworm", base
    )
    shutil.copy(AUTHORITIES, base / AUTHORITIES.removeprefix("/"))
    podman.call("tar", "--create", f"--file={archive}", f"--directory={base}", ".")
    podman.call("podman", "import", f"--change=ENV SSL_CERT_FILE={AUTHORITIES}", archive, "localhost/base")
    podman.call("podman", "run", "--rm", "--network=host", "localhost/base", "true")


def test_the_image_does_a_round(podman: Podman) -> None:
    with emulator_process() as upstream:
        command = "transit-etl run --for 30s --json && transit-etl sql 'from core.requests' --format json"
        printed = podman.call(
            "podman", "run", "--rm", "--network=host", *RUN_AS_IN_COMPOSE,
            "--volume=/var/lib/transit-etl", f"--env=TRANSIT_BASE_URL={upstream.base_url}",
            NAME, "sh", "-c", command,
        )  # fmt: skip
    _, rows = _json_values(printed)

    assert {"lines", "stops", "passages", "status"} <= {row["endpoint"] for row in rows}
    assert {"ok"} == {row["outcome"] for row in rows}


def _json_values(text: str) -> list[Any]:
    """Return the values that follow one another in a text."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


@dataclass(frozen=True, slots=True)
class Compose:
    """The services of compose.yaml, which run together."""

    podman: Podman
    command: tuple[str | Path, ...]

    def __call__(self, *words: str) -> str:
        """Call Docker Compose."""
        return self.podman.call(*self.command, *words)

    def inside(self, service: str, *command: str) -> str:
        """Run a command in the container of a service."""
        return self.podman.call("podman", "exec", self.container(service), *command)

    def container(self, service: str) -> str:
        """Return the container of a service."""
        label = f"--filter=label=com.docker.compose.service={service}"
        [found] = self.podman.call("podman", "ps", "--all", "--quiet", label).split()
        return found

    def state(self, service: str) -> dict[str, Any]:
        """Return what Podman says of the container of a service."""
        [found] = json.loads(self.podman.call("podman", "inspect", self.container(service)))
        state: dict[str, Any] = found["State"]
        return state

    def published(self) -> Counter[str]:
        """Count the rows of each request in the published file."""
        statement = "select request_id from core.requests"
        try:
            rows = json.loads(self.inside("worker-2", "transit-etl", "sql", statement, "--format", "json"))
        except AssertionError:  # nothing is published yet
            return Counter()
        return Counter(row["request_id"] for row in rows)


@pytest.fixture
def compose(podman: Podman, tmp_path: Path) -> Iterator[Compose]:
    """Yield the services of compose.yaml when all are well, with an emulated upstream beside them."""
    podman.build(IMAGES / "postgresql", f"docker.io/library/{SERVICES['postgresql']['image']}")
    podman.build(IMAGES / "redis", f"docker.io/library/{SERVICES['redis']['image']}")
    deploy = tmp_path / "deploy"
    shutil.copytree(ROOT / "deploy", deploy, ignore=shutil.ignore_patterns("secrets"))
    make_secrets(deploy)
    (deploy / "compose/transit.env").write_text(SETTINGS)
    (tmp_path / "upstream.yaml").write_text(yaml.safe_dump({"version": "3.9", **UPSTREAM}))
    files = ("--file", deploy / "compose/compose.yaml", "--file", tmp_path / "upstream.yaml")
    found = Compose(podman, (*tool(), *files))
    serve = ["podman", "system", "service", "--time=0", podman.environment["DOCKER_HOST"]]
    service = subprocess.Popen(serve, env=podman.environment)
    ended = Event()
    asking = Thread(target=_ask_for_health, args=(podman, ended))
    asking.start()
    try:
        _wait_until((podman.folder / "socket").exists)
        found("up", "--detach")
        yield found
    finally:
        ended.set()
        asking.join()
        podman.call("podman", "rm", "--all", "--force", "--time=0")
        service.terminate()
        service.wait()


def _ask_for_health(podman: Podman, ended: Event) -> None:
    """Run the health checks of all containers: Podman leaves that to systemd, which may not run here."""
    while not ended.wait(5):
        for container in podman.call("podman", "ps", "--quiet").split():
            check = ["podman", "healthcheck", "run", container]
            subprocess.run(check, check=False, capture_output=True, env=podman.environment)


def _wait_until(is_reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while not is_reached():
        assert time.monotonic() < deadline
        time.sleep(5)


@pytest.mark.exhaustive
def test_compose_collects_and_publishes_after_a_worker_and_a_scheduler_were_killed(compose: Compose) -> None:
    data = Path(
        compose.podman.call("podman", "volume", "inspect", "--format={{.Mountpoint}}", "compose_data").strip()
    )

    def asked() -> set[str]:
        return {json.loads(line)["request_id"] for path in raw_files(data) for line in read_lines(path)}

    kept_running = [name for name, each in SERVICES.items() if each.get("healthcheck")]
    _wait_until(lambda: {"healthy"} == {compose.state(name)["Health"]["Status"] for name in kept_running})
    _wait_until(lambda: bool(compose.published()))
    before = asked()
    first = {name: compose.state(name)["Pid"] for name in ("worker-1", "scheduler-1")}
    for process in first.values():
        os.kill(process, signal.SIGKILL)
    _wait_until(lambda: all(compose.state(name)["Pid"] not in {0, first[name]} for name in first))
    _wait_until(lambda: before < compose.published().keys())  # all that was asked before, and more
    published = compose.published()
    answers = [json.loads(line) for line in compose.inside("upstream", "cat", ANSWERS).splitlines()]

    assert {1} == set(published.values())
    assert published.keys() <= asked()
    assert {200} == {answer["status"] for answer in answers}
    compose.inside("worker-2", "transit-etl", "verify")
