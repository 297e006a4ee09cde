"""Everything that Airflow calls a part of its health is started, whichever way Airflow is run."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from airflow.api_fastapi.core_api.datamodels.monitor import HealthInfoResponse

from scripts import up
from scripts.local_airflow import PROGRAMS
from scripts.stack import Stack
from tests.deploy import test_compose, test_helm, test_workers
from tests.deploy.units import UNITS, service

PARTS = HealthInfoResponse.model_fields.keys() - {"metadatabase"}
WANTED = re.findall(r"[\w-]+(?=\.service)", (UNITS / "transit-etl.target").read_text(encoding="utf-8"))


def words_of(units: list[str]) -> list[list[str]]:
    """Return the commands of units."""
    return [value.split() for unit in units for key, value in service(unit) if key == "ExecStart"]


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([["airflow", *words] for words in PROGRAMS.values()], id="make up"),
        pytest.param(words_of(WANTED), id="systemd, one host"),
        pytest.param(words_of([unit for unit, _ in test_workers.PARTS.values()]), id="systemd, workers"),
        pytest.param(
            [service["command"] for service in test_compose.SERVICES.values() if "command" in service],
            id="compose",
        ),
        pytest.param(
            # The chart starts each part unless it is told not to.
            [["airflow", name] for name in ("scheduler", "dag-processor", "triggerer")
             if test_helm.VALUES.get(re.sub("-p", "P", name), {}).get("enabled", True)],
            id="helm",
        ),
    ],
)  # fmt: skip
def test_every_part_of_the_health_of_airflow_is_started(commands: list[list[str]]) -> None:
    started = {words[1].replace("-", "_") for words in commands if words[0].endswith("airflow")}

    assert PARTS
    assert set() == PARTS - started


@pytest.fixture
def health(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what Airflow answers about its health; all is well until the test changes it."""
    answer = {part: {"status": "healthy"} for part in HealthInfoResponse.model_fields}
    monkeypatch.setattr(
        httpx2,
        "get",
        lambda *_args, **_kwargs: httpx2.Response(200, json=answer, request=httpx2.Request("GET", "/")),
    )
    return answer


def test_make_up_waits_for_each_part_and_names_the_program_of_the_one_that_is_not_well(
    health: dict[str, Any],
) -> None:
    assert up.ailing() is None
    for part, program in zip(
        ("triggerer", "dag_processor", "metadatabase"), ("triggerer", "dag-processor", "airflow"), strict=True
    ):
        health[part] = {"status": None}
        assert program == up.ailing()
        health[part] = {"status": "healthy"}


@pytest.mark.long
def test_make_up_says_at_once_which_program_ended(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.start("airflow", ["sleep", "60"], {})
    stack.start("triggerer", ["false"], {})
    try:
        with pytest.raises(up.CannotStartError, match="triggerer ended"):
            up.wait_until(lambda: "airflow", stack)
    finally:
        stack.stop()
