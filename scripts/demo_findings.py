"""Shows what a demonstration found out, each figure asked of the published warehouse as anybody would ask."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.local_airflow import BIN

ALLOWANCE = 300

BUDGET = """
    select count(*) as n_sent,
        count(*) filter (is_good) as n_good,
        count(*) filter (outcome = 'rate_limited') as n_refused,
        max((
            select count(*) from core.requests as later
            where later.sent_at >= first.sent_at and later.sent_at < first.sent_at + interval 60 second
        )) as busiest_minute
    from core.requests as first where sent_at is not null
"""
WINDOW = """
    select count(*) as n_sent, date_diff('second', min(sent_at), max(sent_at)) as seconds
    from core.requests
    where sent_at between (select min(sent_at) from core.requests where endpoint = 'passages')
        and (select max(sent_at) from core.requests where endpoint = 'passages')
"""
TRIPS = "select count(*) as n_trips, count(*) filter (n_passed > 0) as n_passed from core.trips"
VISITS = """
    select arrival_quality, count(*) as n_visits,
        round(median(date_diff('millisecond', passed_after, passed_before)) / 1000, 1)
            as median_seconds_between_bounds
    from core.stop_visits group by arrival_quality order by n_visits desc
"""
PUNCTUALITY = """
    select sum(n_scheduled) as n_scheduled, sum(n_on_time) as n_on_time,
        sum(n_indeterminate) as n_indeterminate, sum(n_unscheduled) as n_unscheduled
    from marts.punctuality
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


def show_findings(console: Console, environment: Mapping[str, str], folder: Path) -> None:
    """Print the request budget, what was seen, how punctual it was, what is disrupted, and how to go on."""
    ask = _Questions(environment)
    console.rule("[bold]What was found")
    for line in (_budget(ask), _seen(ask), _punctual(ask)):
        console.print(line, highlight=False)
    console.print(_visits(ask))
    console.print(_disruptions(ask))
    console.rule("[bold]Ask it yourself")
    place = f"TRANSIT_DATA_DIR={folder.relative_to(Path.cwd())}"
    console.print(
        f'{place} .venv/bin/transit-etl sql "{QUESTION}"', markup=False, highlight=False, soft_wrap=True
    )
    console.print(_table(ask(QUESTION)))
    console.print(
        f"The warehouse: {folder / 'warehouse' / 'warehouse.duckdb'}", highlight=False, soft_wrap=True
    )
    console.print(
        f"How the data was checked: {folder / 'reports' / 'quality' / 'index.html'}",
        highlight=False,
        soft_wrap=True,
    )


class _Questions:
    """Asks the published warehouse through the command line, as a program would."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __call__(self, question: str) -> list[dict[str, Any]]:
        """Return the rows of an answer."""
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
        f"[bold]Requests[/]     {total['n_sent']:,} sent, {total['n_good']:,} answered well, "
        f"{total['n_refused']} refused; busiest minute {total['busiest_minute']} of {ALLOWANCE} allowed; "
        f"while passages were polled {share:.0%} of the allowance was used"
    )


def _seen(ask: _Questions) -> str:
    trips = ask(TRIPS)[0]
    return f"[bold]Trips[/]        {trips['n_trips']:,} seen, {trips['n_passed']:,} of them passing a stop"


def _punctual(ask: _Questions) -> str:
    counts = {name: int(value or 0) for name, value in ask(PUNCTUALITY)[0].items()}
    scheduled, on_time = counts["n_scheduled"], counts["n_on_time"]
    if not scheduled:
        return "[bold]Punctuality[/]  no visit with a known schedule: poll for longer"
    unsure = counts["n_indeterminate"]
    judged = scheduled - unsure
    point = f"{on_time / judged:.0%}" if judged else "unknown"
    return (
        f"[bold]Punctuality[/]  {point} on time, surely between {on_time / scheduled:.0%} and "
        f"{(on_time + unsure) / scheduled:.0%}: {scheduled} visits with a schedule, {unsure} of them cannot "
        f"be classed; {counts['n_unscheduled']} more have no known schedule yet"
    )


def _visits(ask: _Questions) -> Table:
    return _table(ask(VISITS), "Stop visits, by how well their time is known")


def _disruptions(ask: _Questions) -> Table:
    return _table(ask(DISRUPTIONS), "Open disruptions (at most 8)")


def _table(rows: list[dict[str, Any]], title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name, value in (rows[0] if rows else {"none": ""}).items():
        table.add_column(name.replace("_", " "), justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    return table
