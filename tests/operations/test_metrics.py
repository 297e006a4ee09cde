"""The figures of `status` and `check` as Prometheus reads them, and the dashboard that shows them."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.meanings import refer_to_neighbours
from tests.operations.check.installation import healthy
from tests.operations.status.installations import NOW, Exchange, land, minutes, stop
from transit_etl.api.exchange import Outcome
from transit_etl.operations.backup.record import LastBackup, remember
from transit_etl.operations.check import examine
from transit_etl.operations.metrics import PREFIX, metrics_text, write_metrics
from transit_etl.paths import build_database
from transit_etl.settings import Settings
from transit_etl.warehouse.durations import remember_duration

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana-dashboard.json"
Labels = frozenset[tuple[str, str]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of an installation of which everything is known, with one problem."""
    shift = (NOW - datetime.now(UTC)).total_seconds()
    settings = healthy(Settings(data_dir=tmp_path / "data", clock_shift_seconds=shift))
    refused = [Exchange(stop(1), minutes(age), {}, Outcome.RATE_LIMITED) for age in (0.3, 0.2)]
    land(settings, *refused, worker="w2").close()
    remember(settings.data_dir, LastBackup("/mnt/backup", NOW, 3))
    build_database(settings.data_dir).touch()
    remember_duration(settings.data_dir, "build", 12.5)
    remember_duration(settings.data_dir, "publish", 2.5)
    return settings


def values(text: str) -> dict[str, dict[Labels, float]]:
    """Read metrics as Prometheus does: by name, the value by its labels, without the operator."""
    return {
        family.name.removeprefix(PREFIX): {
            frozenset(item for item in sample.labels.items() if item[0] != "operator"): sample.value
            for sample in family.samples
        }
        for family in text_string_to_metric_families(text)
    }


def of(**labels: str) -> Labels:
    return frozenset(labels.items())


def test_the_figures_are_those_of_status_and_check(settings: Settings) -> None:
    found = examine(settings)
    read = values(metrics_text(settings, found))

    assert {of(): len(found.problems)} == read["problems"]
    assert {of(problem=problem.name): 1 for problem in found.problems} == read["problem"]
    assert {of(): 0} == read["upstream_down"]
    assert {of(kind=each.kind): each.n_sent for each in found.status.usage} == read["requests_last_hour"]
    assert 2 == read["outcomes_last_hour"][of(endpoint="passages", outcome="rate_limited")]
    assert 1 == read["rows_last_day"][of(dataset="passages")]
    assert {of(): 12.5} == read["build_duration_seconds"]
    assert {of(): 2.5} == read["publish_duration_seconds"]
    assert {of(): 7} == read["published_build"]
    assert {of(): NOW.timestamp()} == read["backup_timestamp_seconds"]


def test_every_help_text_stands_alone(settings: Settings) -> None:
    families = text_string_to_metric_families(metrics_text(settings, examine(settings)))
    texts = {family.name: family.documentation for family in families}

    assert texts
    assert {} == refer_to_neighbours(texts)
    assert len(texts) == len(set(texts.values()))


def test_every_operator_of_an_installation_has_metrics_of_its_own(settings: Settings) -> None:
    other = settings.model_copy(update={"operator": "other", "rate_per_minute": 300})
    several = settings.knowing({"emulated": settings, "other": other})
    families = text_string_to_metric_families(metrics_text(several, examine(several, asks=False)))
    read = {
        family.name.removeprefix(PREFIX): {each.labels["operator"]: each.value for each in family.samples}
        for family in families
    }

    assert {"emulated": 60, "other": 300} == read["allowance_requests_per_minute"]
    assert {"emulated": 2, "other": 0} == {
        name: status.outcomes.get("passages", {}).get("rate_limited", 0)
        for name, status in (("emulated", examine(settings).status), ("other", examine(other).status))
    }
    assert {"other": 1} == {name: n for name, n in read["problem"].items() if name == "other"}
    assert 1 == read["problems"]["other"]


def test_an_empty_installation_has_metrics(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    read = values(metrics_text(settings, examine(settings)))

    assert {of(problem="empty"): 1, of(problem="address"): 1} == read["problem"]
    assert "published_build" not in read


def test_a_file_is_replaced_in_one_step_and_everybody_can_read_it(settings: Settings, tmp_path: Path) -> None:
    path, found = tmp_path / "metrics" / "transit.prom", examine(settings)
    write_metrics(settings, found, path)
    write_metrics(settings, found, path)

    assert set(values(metrics_text(settings, found))) == set(values(path.read_text()))
    assert path.stat().st_mode & 0o004
    assert [path] == list(path.parent.iterdir())


def test_every_metric_of_the_dashboard_exists(settings: Settings) -> None:
    text = metrics_text(settings, examine(settings))
    defined = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [each["query"]["query"] for each in board["templating"]["list"] if each["type"] == "query"]
    named = {name for query in queries for name in re.findall(rf"{PREFIX}\w+", query)}
    before_any_request = {f"{PREFIX}pace_requests_per_minute"}

    assert 20 < len(named)
    assert set() == named - defined - before_any_request
    assert set() == {
        query for query in queries if "info" not in query and '{operator="$operator"' not in query
    }
