"""The compose file: a real tool accepts it, and what it sets and starts exists."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from airflow.cli.cli_parser import get_parser
from airflow.configuration import conf
from airflow.providers.celery.get_provider_info import get_provider_info

from tests.deploy.units import UNITS, WORKERS, variables
from tests.documents.sessions import ROOT
from transit_etl.settings import PREFIX, Settings

COMPOSE = ROOT / "deploy" / "compose"
FILE = yaml.safe_load((COMPOSE / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
IS_ROOT = os.geteuid() == 0


def tool() -> list[str]:
    """Return the command of Docker Compose; skip the test where there is none."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            found = subprocess.run([*command, "version"], check=False, capture_output=True)
            if found.returncode == 0:
                return command
    pytest.skip("no docker-compose here: `make setup` installs it on Debian when root runs it")


@pytest.fixture
def deploy(tmp_path: Path) -> Path:
    """Return a copy of the folder `deploy` with secrets."""
    folder = tmp_path / "deploy"
    shutil.copytree(ROOT / "deploy", folder, ignore=shutil.ignore_patterns("secrets"))
    make_secrets(folder)
    return folder


def make_secrets(deploy: Path) -> None:
    subprocess.run(["/bin/sh", deploy / "compose/secrets.sh"], check=True, capture_output=True)


@pytest.mark.skipif(not IS_ROOT, reason="gives the secrets to a group of the containers")
def test_compose_accepts_the_file(deploy: Path) -> None:
    done = subprocess.run(
        [*tool(), "--file", deploy / "compose/compose.yaml", "config"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert set(SERVICES) == set(yaml.safe_load(done.stdout)["services"])


@pytest.mark.skipif(not IS_ROOT, reason="gives the secrets to a group of the containers")
def test_secrets_are_made_once_for_a_group_alone_and_are_all_different(deploy: Path, tmp_path: Path) -> None:
    made = sorted((deploy / "compose/secrets").iterdir())
    before = {path: path.read_text() for path in made}
    make_secrets(deploy)
    other = tmp_path / "other"
    shutil.copytree(ROOT / "deploy", other, ignore=shutil.ignore_patterns("secrets"))
    make_secrets(other)

    assert before == {path: path.read_text() for path in made}
    assert {0o640} == {path.stat().st_mode & 0o777 for path in made}
    assert {each["file"] for each in FILE["secrets"].values()} == {f"secrets/{path.name}" for path in made}
    assert not [
        path for path in made if path.read_text() == (other / "compose/secrets" / path.name).read_text()
    ]


def test_a_service_has_secrets_as_files_alone() -> None:
    for name, service in SERVICES.items():
        secret = {
            variable
            for variable in service.get("environment", {})
            if any(part in variable for part in ("PASSWORD", "SECRET", "KEY", "CONN", "BROKER", "TOKEN"))
        }
        plain = {variable for variable in secret if not variable.endswith(("_CMD", "_FILE"))}
        used = {each if isinstance(each, str) else each["source"] for each in service.get("secrets", [])}

        assert set() == plain, name
        assert used <= set(FILE["secrets"]), name


def settings_of_airflow() -> set[str]:
    """Return the variables that set something in Airflow or its provider of Celery."""
    described = [*conf.configuration_description.items(), *get_provider_info()["config"].items()]  # type: ignore[no-untyped-call]
    found = {"AIRFLOW_HOME"}
    for section, content in described:
        for option, about in content["options"].items():
            name = f"AIRFLOW__{section.upper()}__{option.upper()}"
            found |= {name, f"{name}_CMD"} if about.get("sensitive") else {name}
    return found


@pytest.mark.parametrize(
    "file",
    [UNITS / "airflow.env", WORKERS / "celery.env", WORKERS / "hosts.env", COMPOSE / "transit.env", None],
    ids=lambda file: file.name if file else "compose.yaml",
)
def test_every_variable_is_a_setting(file: Path | None) -> None:
    names = (
        {name for service in SERVICES.values() for name in service.get("environment", {})}
        - set(SERVICES["postgresql"]["environment"])
        - {"HOME"}
        if file is None
        else set(variables(file.read_text(encoding="utf-8")))
    )
    of_transit = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}

    assert names
    assert set() == names - settings_of_airflow() - of_transit


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in {"postgresql", "redis"}])
def test_the_command_of_a_service_is_one_of_airflow(name: str) -> None:
    check_commands_of_airflow(SERVICES[name]["command"])


def check_commands_of_airflow(command: list[str]) -> None:
    """Check that a command, or each in a line of the shell, is one of Airflow, but for files put in place."""
    *_, text = command
    parts = [shlex.split(part) for part in text.split("&&")] if command[0] == "sh" else [command]
    words = [part[1:] if part[0] == "exec" else part for part in parts if part[0] != "install"]

    assert {"airflow"} == {each[0] for each in words}
    for each in words:
        get_parser().parse_args(each[1:])  # ends the test where it does not know one


def test_airflow_writes_the_file_of_passwords_that_it_is_given() -> None:
    service = SERVICES["api-server"]
    copied = shlex.split(service["command"][-1])[4]

    assert copied == service["environment"]["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"]
    assert copied.startswith(f"{service['tmpfs'][0]}/")


def test_what_a_service_is_made_of_exists() -> None:
    for service in SERVICES.values():
        named = list(service.get("env_file", []))
        named += [each.split(":")[0] for each in service.get("volumes", []) if each.startswith(".")]
        if "build" in service:
            named.append(f"{service['build']['context']}/{service['build']['dockerfile']}")

        assert [] == [path for path in named if not (COMPOSE / path).exists()]
