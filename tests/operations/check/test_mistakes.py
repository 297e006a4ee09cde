"""An operator's mistakes: `check`, or the settings before it, says each in one line that names the remedy."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.hostile import http, serving
from tests.operations.check.installation import healthy
from tests.operations.status.installations import NOW, Exchange, Passage, land, minutes, poll, stop
from transit_base.errors import TransitError
from transit_emulator.process import free_port
from transit_etl.api.exchange import Outcome
from transit_etl.identity import claim
from transit_etl.operations.check import check, machine
from transit_etl.settings import PREFIX, load_settings
from transit_etl.stage import stage


class Operator:
    """Somebody who may set variables and change files of an installation with which nothing is wrong."""

    def __init__(self, patcher: pytest.MonkeyPatch, folder: Path, open_until_the_end: ExitStack) -> None:
        self.folder = folder
        self._patcher = patcher
        self._open = open_until_the_end

    def sets(self, **settings: str) -> None:
        """Set variables, named without their prefix."""
        for name, value in settings.items():
            self._patcher.setenv(f"{PREFIX}{name.upper()}", value)

    def begins_anew(self, **settings: str) -> None:
        """Use an empty data folder, so that `check` asks the upstream itself."""
        self.sets(data_dir=str(self.folder / "new"), **settings)

    def meets(self, status: str, body: bytes = b"{}") -> None:
        """Begin anew with an upstream that answers everything alike."""
        self.begins_anew(base_url=self._open.enter_context(serving(lambda _: http(body, status))))

    def collects(self, *exchanges: Exchange) -> None:
        """Receive answers."""
        land(load_settings(), *exchanges, worker="w2").close()

    def lets_time_pass(self, hours: float) -> None:
        """Do nothing for hours."""
        shift = load_settings().clock_shift_seconds + timedelta(hours=hours).total_seconds()
        self.sets(clock_shift_seconds=str(shift), base_url=f"http://127.0.0.1:{free_port()}/api/v1/")

    def has_disk(self, *, free: int = 10**12, kind: str = "ext4") -> None:
        """Use a disk of a kind with some free bytes."""
        self._open.enter_context(patch.object(machine, "file_system", return_value=kind))
        self._open.enter_context(patch("shutil.disk_usage")).return_value.free = free


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Operator]:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    with ExitStack() as open_until_the_end:
        operator = Operator(monkeypatch, tmp_path, open_until_the_end)
        operator.sets(
            project_dir=str(tmp_path),
            limiter_url=f"sqlite:///{tmp_path}/budget.sqlite",
            clock_shift_seconds=str((NOW - datetime.now(UTC)).total_seconds()),
        )
        healthy(load_settings())
        yield operator


def lines() -> list[str]:
    """Return what an operator reads who runs `transit-etl check`."""
    try:
        return [f"{problem.name}: {problem.text}" for problem in check(load_settings())]
    except TransitError as error:
        return [str(error)]


def nobody_listens(operator: Operator) -> None:
    operator.begins_anew(base_url=f"http://127.0.0.1:{free_port()}/api/v1/")


def wrong_protocol(operator: Operator) -> None:
    operator.meets("200 OK")
    address = load_settings().base_url.replace("http:", "https:")
    operator.sets(base_url=address, connect_timeout_seconds="0.5")


def wrong_zone(operator: Operator) -> None:
    operator.collects(*(poll(0.3, Passage(wait)) for wait in range(24)))
    operator.sets(timezone="America/New_York")
    stage(load_settings())


def readable_secret(operator: Operator) -> None:
    file = operator.folder / "transit-etl.toml"
    file.write_text("token = 'x'")
    file.chmod(0o644)


def clock_ahead(operator: Operator) -> None:
    stamp = f"{NOW - minutes(5):%Y-%m-%dT%H:%M:%S.000Z}"
    body = {"timestamp": stamp, "passaggi": []}
    operator.collects(*(Exchange(stop(number), minutes(0.1), body) for number in range(40)))


def folder_is_a_file(operator: Operator) -> None:
    (operator.folder / "file").touch()
    operator.sets(data_dir=str(operator.folder / "file" / "data"))


def nobody_stages(operator: Operator) -> None:
    (path,) = operator.folder.glob("data/raw/operator=*/endpoint=passages/date=*/*.zst")
    old = f"{NOW - timedelta(hours=1):%Y%m%dT%H%M%SZ}-passages-w9.jsonl.zst"
    path.with_name(old).write_bytes(path.read_bytes())


def too_fast(operator: Operator) -> None:
    operator.sets(rate_per_minute="300")
    operator.collects(Exchange(stop(1), minutes(3), {}, Outcome.RATE_LIMITED))


def moved_day(operator: Operator) -> None:
    claim(load_settings())
    operator.sets(service_day_cutoff="03:00")


def lost_database(operator: Operator) -> None:
    operator.sets(limiter_url=f"postgresql://nobody@127.0.0.1:{free_port()}/nothing")


MISTAKES: dict[str, tuple[Callable[[Operator], None], str, str]] = {
    "wrong token": (lambda it: it.meets("401 Unauthorized"), "token: ", "TRANSIT_TOKEN"),
    "no token": (lambda it: it.meets("403 Forbidden"), "token: ", "TRANSIT_TOKEN"),
    "wrong path": (lambda it: it.meets("404 Not Found"), "address: ", "; look at TRANSIT_BASE_URL"),
    "log-in page": (lambda it: it.meets("200 OK", b"<html>"), "address: ", "; look at TRANSIT_BASE_URL"),
    "wrong port": (nobody_listens, "address: ", "; look at TRANSIT_BASE_URL"),
    "wrong host": (
        lambda it: it.begins_anew(base_url="http://nowhere.invalid/api/v1/"), "address: ",
        "; look at TRANSIT_BASE_URL",
    ),
    "wrong protocol": (wrong_protocol, "address: ", "; look at TRANSIT_BASE_URL"),
    "no emulator": (lambda it: it.begins_anew(), "address: ", "`transit-etl emulator`"),
    "half an address": (
        lambda it: it.sets(base_url="http://example.org/"), "TRANSIT_BASE_URL: ", "must end in /api/v1/",
    ),
    "misspelt setting": (lambda it: it.sets(baseurl="x"), "unknown setting: ", "TRANSIT_BASEURL"),
    "no such zone": (lambda it: it.sets(timezone="Europe/Roma"), "TRANSIT_TIMEZONE: ", "no such time zone"),
    "wrong zone": (wrong_zone, "rejected_passages_waits_mostly_agree: ", "is TRANSIT_TIMEZONE right?"),
    "other operator": (
        lambda it: it.sets(operator="other"), "other_folder: ", "emulated, not of other (TRANSIT_OPERATOR)",
    ),
    "moved day": (
        moved_day, "other_folder: ",
        "has service days from 04:00:00, not 03:00:00 (TRANSIT_SERVICE_DAY_CUTOFF)",
    ),
    "other folder": (lambda it: it.begins_anew(), "empty: ", "is TRANSIT_DATA_DIR right?"),
    "no folder": (folder_is_a_file, "folder: ", "cannot write"),
    "full disk": (lambda it: it.has_disk(free=1024 * 1024), "space: ", "1 MiB are free"),
    "remote disk": (lambda it: it.has_disk(kind="nfs4"), "local_disk: ", "nfs4"),
    "wrong clock": (clock_ahead, "clock: ", "294 seconds ahead"),
    "readable secret": (readable_secret, "settings_file: ", "chmod 600"),
    "too fast": (too_fast, "refused: ", "TRANSIT_RATE_PER_MINUTE (300)"),
    "nobody collects": (lambda it: it.lets_time_pass(1), "answers_passages: ", "no good answer for over 15"),
    "nobody stages": (nobody_stages, "staging: ", "`transit-etl stage`"),
    "lost database": (lost_database, "allowance: ", "TRANSIT_LIMITER_URL"),
    "lost stops file": (
        lambda it: it.sets(stops_file=f"{it.folder}/no.csv"), "stops_file: ", "TRANSIT_STOPS_FILE",
    ),
    "lost file of judged stops": (
        lambda it: it.sets(judged_stops_file=f"{it.folder}/no.csv"), "judged_stops_file: ",
        "TRANSIT_JUDGED_STOPS_FILE",
    ),
    "lost plant file": (
        lambda it: it.sets(plant_file=f"{it.folder}/no.csv"), "plant_file: ", "TRANSIT_PLANT_FILE",
    ),
    "wrong metrics file": (
        lambda it: it.sets(metrics_file="/proc/no/x.prom"), "metrics_file: ", "TRANSIT_METRICS_FILE",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_in_one_line_with_its_remedy(operator: Operator, mistake: str) -> None:
    makes, name, remedy = MISTAKES[mistake]
    makes(operator)

    (line,) = [line for line in lines() if line.startswith(name)]
    assert remedy in line
    assert "\n" not in line
