"""Prints the results of a demonstration, all queried from the published warehouse by the command line."""

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.demo_truth import truth_table
from scripts.local_airflow import BIN
from transit_etl.warehouse.published_audit import audit_figures

ALLOWANCE = 300

LIVE = (
    """with live as (from core.requests where sent_at is not null and not contains("window", '-rehearsal'))"""
)
BUDGET = f"""{LIVE}
    select count(*) as n_sent,
        count(*) filter (is_good) as n_good,
        count(*) filter (outcome = 'rate_limited') as n_refused,
        max((
            select count(*) from live as later
            where later.sent_at >= first.sent_at and later.sent_at < first.sent_at + interval 60 second
        )) as busiest_minute
    from live as first
"""
WINDOW = f"""{LIVE}
    select count(*) as n_sent, date_diff('second', min(sent_at), max(sent_at)) as seconds
    from live
    where sent_at between (select min(sent_at) from live where endpoint = 'passages')
        and (select max(sent_at) from live where endpoint = 'passages')
"""
VISITS = """
    select count(distinct trip_id) as n_trips, count(*) filter (passed_before is not null) as n_passed,
        count(*) filter (arrival_quality = 'evidenced') as n_evidenced
    from core.stop_visits where service_date > $day
"""
DISRUPTIONS = """
    select category, event, cause, array_to_string(lines, ', ') as lines,
        strftime(started_at, '%Y-%m-%d %H:%M UTC') as since
    from marts.disruptions where is_open order by category, started_at limit 8
"""
QUESTION = """select line_code, direction, count(*) as visits, median(delay_seconds) as median_delay_seconds,
  min(delay_low_seconds) as at_least, max(delay_high_seconds) as at_most
from core.stop_visits where delay_seconds is not null
group by line_code, direction order by visits desc, median_delay_seconds desc limit 5"""


def show_findings(console: Console, environment: Mapping[str, str], folder: Path, rehearsed: date) -> None:
    """Print the rehearsed day and the truth, the live polling, open disruptions, and an example query."""
    ask = _Questions(environment)
    console.rule("[bold]Results")
    console.print(truth_table(folder / "warehouse" / "warehouse.duckdb", folder / "truth", rehearsed))
    console.print(
        f"[bold]Audit of its estimates[/]\n  {audit_figures(ask) or 'no visit was drawn'}", highlight=False
    )
    console.print("[bold]Polled live[/], the morning after", highlight=False)
    for line in (_budget(ask), _stop_visits(ask, rehearsed)):
        console.print(line, highlight=False)
    console.print(_disruptions(ask))
    console.rule("[bold]Query the warehouse yourself")
    place = f"TRANSIT_DATA_DIR={folder.relative_to(Path.cwd())}"
    console.print(
        f'{place} .venv/bin/transit-etl sql "{QUESTION}"', markup=False, highlight=False, soft_wrap=True
    )
    console.print(_table(ask(QUESTION)))
    for what, where in (
        ("The warehouse", "warehouse/warehouse.duckdb"),
        ("The truth", "truth/*.parquet"),
        ("Results of the data checks", "reports/quality/index.html"),
    ):
        console.print(f"{what}: {folder / where}", highlight=False, soft_wrap=True)


class _Questions:
    """Queries the published warehouse through the command line."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __call__(self, question: str) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        done = subprocess.run(
            [BIN / "transit-etl", "sql", "--json", question],
            env=dict(self._environment),
            check=True,
            capture_output=True,
            text=True,
        )
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows


def _budget(ask: _Questions) -> str:
    total, window = ask(BUDGET)[0], ask(WINDOW)[0]
    share = window["n_sent"] / (ALLOWANCE / 60 * window["seconds"])
    return (
        f"  requests     {total['n_sent']:,} sent, {total['n_good']:,} with a valid answer, "
        f"{total['n_refused']} refused;\n"
        f"               at most {total['busiest_minute']} in 60 s ({ALLOWANCE} allowed); "
        f"{share:.0%} of the allowance used"
    )


def _stop_visits(ask: _Questions, rehearsed: date) -> str:
    seen = ask(VISITS.replace("$day", f"date '{rehearsed}'"))[0]
    return (
        f"  stop visits  of {seen['n_trips']:,} trips: {seen['n_passed']:,} observed passing, "
        f"{seen['n_evidenced']:,} of them to within 60 s"
    )


def _disruptions(ask: _Questions) -> Table:
    return _table(ask(DISRUPTIONS), "Open disruptions (at most 8)")


def _table(rows: list[dict[str, Any]], title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name, value in (rows[0] if rows else {"none": ""}).items():
        table.add_column(name.replace("_", " "), justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    return table
