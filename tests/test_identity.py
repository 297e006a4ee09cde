"""What a data folder is: who else writes into it is refused, until the folder is told otherwise."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.collect.helpers import NOON, write_lake
from tests.operations.status.installations import Exchange, land, minutes, stop
from transit_etl import identity
from transit_etl.collect import collect, collect_round
from transit_etl.identity import (
    OtherFolderError,
    OutdatedFolderError,
    Rehearsal,
    claim,
    claim_to_build,
    identity_of,
    kept_identity,
    mark_rehearsed,
    mark_reprocessed,
)
from transit_etl.operations.backup import BackupReport, back_up, release_raw, restore
from transit_etl.operations.backup.place import BackupError
from transit_etl.operations.check import check
from transit_etl.operations.pruning import prune
from transit_etl.operations.verification import verify
from transit_etl.paths import identity_file, published_database, raw_dir
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.stage import compact, restage, stage
from transit_etl.warehouse import Variant, WarehouseError, build, build_variant, publish
from transit_etl.warehouse.building.operators import are_other_rules_built, record_operators
from transit_etl.warehouse.database import open_build_database

DAY = date(2026, 3, 4)
WRITERS: dict[str, Callable[[Settings], object]] = {
    "collect": lambda it: collect(it, "lines"),
    "run": lambda it: collect_round(it, 1, lambda: None),
    "rehearse": lambda it: rehearse(it, NOON, 1),
    "stage": stage,
    "reprocess": lambda it: restage(it, DAY, DAY),
    "compact": lambda it: compact(it, DAY),
    "build": build,
    "build a variant": lambda it: build_variant(it, Variant(2, None)),
    "publish": publish,
    "verify": verify,
    "prune": prune,
    "prune raw": lambda it: release_raw(it, it.data_dir.parent, DAY),
    "backup": lambda it: back_up(it, it.data_dir.parent),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of a data folder that holds an answer."""
    settings = Settings(data_dir=tmp_path / "data")
    land(settings, Exchange(stop(1), minutes(0.1), {})).close()
    claim(settings)
    return settings


def changed(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update=values)


@pytest.mark.parametrize("writes", WRITERS.values(), ids=WRITERS)
def test_who_writes_with_settings_of_another_folder_is_refused_and_nothing_changes(
    settings: Settings, writes: Callable[[Settings], object]
) -> None:
    before = set(settings.data_dir.rglob("*"))
    other = changed(settings, operator="other")

    with pytest.raises(OtherFolderError, match=r"answers of emulated, not of other .* folder --accept"):
        writes(other)
    assert before == set(settings.data_dir.rglob("*"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"operator": "other"}, "holds answers of emulated, not of other (TRANSIT_OPERATOR)"),
        ({"timezone": "Europe/Athens"}, "time zone Europe/Rome, not Europe/Athens (TRANSIT_TIMEZONE)"),
        (
            {"service_day_cutoff": time(3)},
            "has service days from 04:00:00, not 03:00:00 (TRANSIT_SERVICE_DAY_CUTOFF)",
        ),
    ],
)
def test_a_setting_of_another_folder_is_named_also_by_check(
    settings: Settings, values: dict[str, object], words: str
) -> None:
    (problem,) = [each for each in check(changed(settings, **values)) if each.name == "other_folder"]

    assert words in problem.text
    assert "\n" not in problem.text


def test_an_empty_folder_becomes_that_of_who_fills_it_and_of_nobody_else(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    claim(settings)
    was_claimed = settings.data_dir.exists()
    claim(settings, begins=True)

    assert not was_claimed
    assert ["emulated"] == list(identity_of(settings).operators)  # type: ignore[union-attr]


def test_a_folder_without_the_file_is_what_its_answers_and_its_published_file_say(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", timezone="Europe/Athens")
    land(settings, Exchange(stop(1), minutes(0.1), {})).close()
    land(changed(settings, operator="other"), Exchange(stop(1), minutes(0.1), {})).close()
    path = published_database(settings.data_dir)
    path.parent.mkdir(parents=True)
    with duckdb.connect(path) as connection:
        connection.execute(
            "create schema quality; create table quality.publication as "
            "select 'Europe/Madrid' as timezone, time '03:00' as service_day_cutoff"
        )

    days = identity.ServiceDays("Europe/Madrid", time(3))
    assert identity.Identity({"emulated": days, "other": days}) == identity_of(settings)
    with pytest.raises(OtherFolderError):
        claim(settings)
    claim(changed(settings, timezone="Europe/Madrid", service_day_cutoff=time(3)))
    assert ["emulated", "other"] == list(kept_identity(settings.data_dir).operators)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"operators": 3}', '{"operators": [{}]}'])
def test_a_damaged_file_is_made_again_from_what_the_folder_holds(settings: Settings, text: str) -> None:
    identity_file(settings.data_dir).write_text(text)
    with pytest.raises(OtherFolderError):
        claim(changed(settings, operator="other"))
    claim(settings)

    assert ["emulated"] == list(json.loads(identity_file(settings.data_dir).read_text())["operators"])


def test_the_file_of_an_older_version_has_one_time_zone_for_all_operators(settings: Settings) -> None:
    old = {
        "operators": ["emulated", "other"],
        "timezone": "Europe/Rome",
        "service_day_cutoff": "04:00:00",
        "rehearsals": [{"start": "2026-03-04T08:00:00Z", "end": "2026-03-04T09:00:00Z"}],
        "to_reprocess": ["2026-03-01", "2026-03-02"],
    }
    identity_file(settings.data_dir).write_text(json.dumps(old))
    found = identity_of(settings)

    days, outdated = identity.ServiceDays("Europe/Rome", time(4)), (date(2026, 3, 1), date(2026, 3, 2))
    assert found is not None
    assert {"emulated": days, "other": days} == found.operators
    assert {"emulated": outdated, "other": outdated} == found.to_reprocess
    assert 1 == len(found.rehearsals)


def test_a_folder_that_accepts_another_operator_has_both(settings: Settings) -> None:
    (said,) = identity.accept(changed(settings, operator="other"))
    claim(settings)
    claim(changed(settings, operator="other"))

    assert "hold the answers of emulated, other from now on" in said


def test_each_operator_of_a_folder_has_its_own_service_days(settings: Settings) -> None:
    other = changed(settings, operator="other", timezone="America/New_York", service_day_cutoff=time(3))
    identity.accept(other)
    claim(settings)
    claim(other)

    assert other == identity.settings_of(settings, "other")
    assert settings == identity.settings_of(other, "emulated")
    with pytest.raises(OtherFolderError, match="time zone America/New_York, not Europe/Rome"):
        claim(changed(settings, operator="other", service_day_cutoff=time(3)))
    assert not identity.accept(settings)
    assert {"emulated", "other"} == set(identity.service_days(settings))


def test_an_operator_that_the_project_names_is_added_to_a_folder_once_it_collects(settings: Settings) -> None:
    other = changed(settings, operator="other", timezone="America/New_York")
    other = other.knowing({"emulated": settings, "other": other})
    claim(other)
    before = identity_of(settings)
    claim(other, begins=True)
    after = identity_of(settings)

    assert before is not None
    assert after is not None
    assert ["emulated"] == list(before.operators)
    assert "America/New_York" == after.operators["other"].timezone
    assert after.operators["emulated"] == before.operators["emulated"]

    land(other, Exchange(stop(1), minutes(0.1), {})).close()
    identity_file(settings.data_dir).unlink()
    claim(settings.knowing({"emulated": settings, "other": other}))
    assert after == kept_identity(settings.data_dir)


def test_answers_of_an_operator_whose_time_zone_a_folder_does_not_know_are_named(settings: Settings) -> None:
    land(changed(settings, operator="copied"), Exchange(stop(1), minutes(0.1), {})).close()

    with pytest.raises(OtherFolderError, match="holds answers of copied too, whose time zone it does not"):
        claim(settings)
    identity.accept(changed(settings, operator="copied"))
    claim(settings)


def test_a_folder_that_accepts_another_zone_is_built_once_all_days_are_staged_again(
    settings: Settings,
) -> None:
    land(settings, Exchange(stop(1), timedelta(days=1), {}), worker="w2").close()
    moved = changed(settings, timezone="Europe/Athens")
    today = datetime.now(UTC).date()
    yesterday = today - timedelta(days=1)
    (said,) = identity.accept(moved)

    assert f"`transit-etl reprocess --from {yesterday} --to {today}`" in said
    assert "outdated_folder" in {problem.name for problem in check(moved)}
    for last in (yesterday, today):
        with pytest.raises(OutdatedFolderError, match="staged with service days of earlier settings"):
            claim_to_build(moved)
        mark_reprocessed(moved, yesterday, last)
    claim_to_build(moved)


def test_to_stage_days_again_makes_them_those_of_the_folder(settings: Settings) -> None:
    moved = changed(settings, timezone="Europe/Athens")
    identity.accept(moved)
    shutil.rmtree(raw_dir(settings.data_dir))  # so that there is nothing to stage, which takes seconds
    restage(moved, date(2020, 1, 1), datetime.now(UTC).date())

    claim_to_build(moved)


@pytest.mark.parametrize("values", [{"timezone": "UTC"}, {"service_day_cutoff": time(3)}])
def test_other_service_days_of_an_operator_are_built_from_nothing_and_those_of_another_one_are_not(
    settings: Settings, values: dict[str, object]
) -> None:
    with open_build_database(settings) as connection:
        record_operators(connection, settings)
        identity.accept(changed(settings, operator="other", **values))
        other_operator = are_other_rules_built(connection, settings)
        identity.accept(changed(settings, **values))
        other_days = are_other_rules_built(connection, settings)

    assert (False, True) == (other_operator, other_days)


def test_another_ruleset_of_an_operator_is_built_from_nothing(settings: Settings) -> None:
    with open_build_database(settings) as connection:
        record_operators(connection, settings)
        before = are_other_rules_built(connection, settings)
        after = are_other_rules_built(connection, changed(settings, ruleset=2))

    assert (False, True) == (before, after)


def test_a_ruleset_that_does_not_exist_is_refused(settings: Settings) -> None:
    with (
        open_build_database(settings) as connection,
        pytest.raises(WarehouseError, match="TRANSIT_RULESET is 7"),
    ):
        record_operators(connection, changed(settings, ruleset=7))


def test_a_backup_brings_back_what_the_folder_was(settings: Settings, tmp_path: Path) -> None:
    identity.accept(changed(settings, operator="other"))
    target = tmp_path / "backup"
    target.mkdir()
    made = back_up(settings, target)
    empty = changed(settings, data_dir=tmp_path / "new")
    restore(empty, target, tmp_path)

    assert isinstance(made, BackupReport)
    assert ["emulated", "other"] == list(identity_of(empty).operators)  # type: ignore[union-attr]


def test_the_backup_of_one_folder_is_not_restored_into_another(settings: Settings, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    target.mkdir()
    back_up(settings, target)
    other = changed(settings, operator="other", data_dir=tmp_path / "other")
    claim(other, begins=True)

    with pytest.raises(BackupError, match="backup of a data folder of emulated in the time zone Europe/Rome"):
        restore(other, target, tmp_path)


def test_a_folder_knows_for_good_what_was_rehearsed_in_it(settings: Settings) -> None:
    for hours in (3, 2):
        mark_rehearsed(settings, NOON, NOON + timedelta(hours=hours))

    assert (Rehearsal(NOON, NOON + timedelta(hours=3)),) == identity.rehearsals_in(settings)


def test_a_rehearsal_of_an_earlier_version_is_known_by_the_names_of_its_windows(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    for hour in (8, 9):
        window = f"20260304T{hour:02}0000Z-passages-rehearsal"
        write_lake(settings.data_dir, "requests", [{}], window, at=NOON)
    first = datetime(2026, 3, 4, 8, tzinfo=UTC)

    assert (Rehearsal(first, first + timedelta(hours=1)),) == identity.rehearsals_in(settings)
