"""The screen that `transit-etl status` prints."""

from datetime import timedelta
from io import StringIO

import duckdb
import pytest
from pydantic import SecretStr
from rich.console import Console

from tests.collect.helpers import write_lake, write_network
from tests.operations.status.installations import NOW, Passage, land, poll, put_requests
from transit_etl.operations.status import read_status, show_status
from transit_etl.paths import published_database
from transit_etl.settings import Settings


def screen(settings: Settings, width: int = 110) -> str:
    """Return what a terminal of some width shows."""
    file = StringIO()
    show_status(
        read_status(settings), Console(file=file, width=width, force_terminal=True, color_system=None)
    )
    return file.getvalue()


def test_the_screen_says_what_matters_in_a_few_lines(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0001", "0002"]}, at=NOW)
    land(settings, poll(10, Passage(1)), poll(9.1)).close()
    shown = screen(settings)

    assert "0 of 60 requests used in the last minute, 0.1% of the last hour's" in shown
    assert "0 of 1 lines had a good answer for every stop in the last hour" in shown
    assert "1 of 2 stops had none in 14 days" in shown
    assert "longest without one: stop 0002, no answer in 14 days" in shown
    assert "100.0%: of 1 passages expected in the last hour, 1 were gone within a minute" in shown
    assert "not staged yet: 1 passages" in shown


@pytest.mark.parametrize("width", [80, 100])
def test_the_screen_fits_a_terminal_and_keeps_its_bars_on_one_line(settings: Settings, width: int) -> None:
    write_network(settings.data_dir, {"001-00": ["0001", "0002"]}, at=NOW)
    land(settings, poll(10, Passage(1)), poll(9.1)).close()
    lines = screen(settings, width).splitlines()

    assert max(map(len, lines)) <= width
    assert 1 == sum(line.startswith("passages ") and "0.1%" in line for line in lines)
    assert 1 == sum(line.startswith("1 ") and "50.0%" in line for line in lines)


def test_other_operators_have_a_line_each(settings: Settings) -> None:
    file = StringIO()
    other = settings.model_copy(update={"operator": "other", "rate_per_minute": 300})
    console = Console(file=file, width=80, force_terminal=True, color_system=None)
    show_status(read_status(settings), console, [read_status(other)])
    lines = [line.split() for line in file.getvalue().splitlines()]

    assert [["other", "0", "300"]] == [
        words[:3] for words in lines if words[:1] == ["other"] and words[1:2] == ["0"]
    ]


def test_answers_of_the_future_are_named_and_not_counted(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0000", "0001"]}, at=NOW)
    put_requests(settings, "passages", [timedelta(minutes=5), timedelta(days=-3)])
    status = read_status(settings)
    shown = " ".join(screen(settings, 300).split())

    assert NOW + timedelta(days=3) == status.future_until
    assert NOW - timedelta(minutes=5) == status.usage[0].last_good_at
    assert 1 == status.n_stops_never_seen
    assert f"answers until {status.future_until:%Y-%m-%d %H:%M:%S} UTC lie in the future" in shown


def test_a_rejected_batch_is_shown_with_its_reason(settings: Settings) -> None:
    failed = {
        "window": "w",
        "suite": "passages",
        "rule": "two",
        "reason": "because",
        "scope": "batch",
        "is_success": False,
        "last_received_at": NOW.replace(tzinfo=None),
    }
    write_lake(settings.data_dir, "validation_results", [failed], at=NOW)

    assert "passages of w: two: because" in screen(settings)


OLDER = """
create schema quality; create schema core;
create table quality.builds as select 7 as build_number;
create table core.requests as
select 'emulated' as operator, timestamp '2026-11-10 08:00' as received_at, 'w' as "window";
"""
WITH_FINDINGS = f"""{OLDER}
create table quality.findings as select 'emulated' as operator, * from (values
    ('core.requests', 'The clock was set.', date '2026-11-10', 2),
    ('core.requests', 'The clock was set.', date '2026-11-12', 1),
    ('staging.status', 'No start.', date '2026-11-09', 1)
) as findings(found_in, finding, found_date, n_rows);
"""
WITH_AUDIT = f"""{OLDER}
create table core.audit_visits as
select
    'emulated' as operator, date '2026-11-10' + (n % 2)::integer as service_date,
    if(n < 9, 'passed', 'starved') as result
from range(12) as numbers(n);
create table quality.audit as select 'emulated' as operator, * from (values
    (date '2026-11-10', 'all', 3, 0.02, -0.01, 0.05), (date '2026-11-11', 'all', 6, -0.01, -0.04, 0.02),
    (date '2026-11-11', 'hour', 1, 0.9, null, null)
) as audit(service_date, part, n_audited, error, error_low, error_high);
"""


def publish(settings: Settings, sql: str) -> None:
    """Publish a warehouse with the tables that some SQL makes."""
    path = published_database(settings.data_dir)
    path.parent.mkdir(parents=True)
    with duckdb.connect(path) as connection:
        connection.execute(sql)


def test_nothing_published_about_one_operator_is_told_of_another(settings: Settings) -> None:
    new_name = f"""
    create table quality.drift as
    select 'emulated' as operator, 'value' as kind, 'X' as name, 'status' as dataset,
        timestamp '{NOW:%Y-%m-%d %H:%M}' as first_seen_at
    """
    publish(settings, f"{WITH_FINDINGS}{new_name}")
    own, other = read_status(settings), read_status(settings.model_copy(update={"operator": "other"}))

    assert (2, ["value X of status"]) == (len(own.findings), own.new_names)
    assert own.published_until is not None
    assert ([], [], None) == (other.findings, other.new_names, other.published_until)


def test_findings_about_data_are_shown_with_their_rows_and_dates(settings: Settings) -> None:
    publish(settings, WITH_FINDINGS)
    shown = screen(settings)

    assert "core.requests: The clock was set. 3 rows, 2026-11-10 to 2026-11-12" in shown
    assert "staging.status: No start. 1 row, 2026-11-09" in shown


def test_the_audit_of_the_estimates_is_one_line(settings: Settings) -> None:
    """Two dates off by +2 and -1 points, each with half an interval of 3; the second weighs twice as much."""
    publish(settings, WITH_AUDIT)
    shown = " ".join(screen(settings, 200).split())

    assert "Audit 2026-11-10 to 2026-11-11: 12 visits drawn, 9 seen passing" in shown
    assert "observed minus estimated on-time share: +0.0 points (-2.2 to +2.2)" in shown


def test_an_audit_of_a_single_passage_says_nothing_of_the_estimates(settings: Settings) -> None:
    publish(settings, f"{WITH_AUDIT} update quality.audit set n_audited = 1, error_low = null;")

    assert "seen passing: too few to compare estimates with" in " ".join(screen(settings, 200).split())


def test_a_warehouse_without_an_audit_sample_shows_none(settings: Settings) -> None:
    publish(settings, f"{WITH_AUDIT} delete from core.audit_visits;")

    assert "Audit" not in screen(settings)


def test_a_warehouse_of_an_older_version_has_no_findings(settings: Settings) -> None:
    publish(settings, OLDER)

    assert "build 7" in screen(settings)
    assert "Findings" not in screen(settings)


def test_a_budget_that_cannot_be_read_leaves_the_rest_to_be_seen(settings: Settings) -> None:
    lost = settings.model_copy(update={"limiter_url": SecretStr("postgresql://x@127.0.0.1:1/x")})
    shown = " ".join(screen(lost).split())

    assert "cannot be used, so nothing may be sent" in shown
    assert "Windows" in shown


def test_the_screen_of_an_empty_installation_says_how_to_begin(settings: Settings) -> None:
    shown = screen(settings)

    assert "begin with `transit-etl run`" in shown
    assert "nothing yet" in shown


def test_a_damaged_publication_is_named_among_all_the_rest(settings: Settings) -> None:
    path = published_database(settings.data_dir)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database")
    shown = " ".join(screen(settings, 300).split())

    assert "0 being written" in shown
    assert f"Published the published warehouse {path} cannot be read (" in shown
