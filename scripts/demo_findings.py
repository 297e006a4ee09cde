"""Prints the results of a demonstration, all queried from the published warehouse by the command line."""

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.demo_rehearsal import Days
from scripts.demo_truth import truth_table
from scripts.local_airflow import BIN
from transit_base.cited import cited
from transit_etl.paths import published_database
from transit_etl.warehouse.publishing.published_audit import AuditFigures, audit_figures

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
VISITS = """
    select count(distinct trip_id) as n_trips, count(*) filter (passed_before is not null) as n_passed,
        count(*) filter (arrival_quality = 'evidenced') as n_evidenced
    from core.stop_visits where service_date > $day
"""
DISRUPTIONS = """
    select
        if(category = 'ASC', 'Lift: ' || replace(effect_class, '_', ' '), coalesce(event_meaning, event))
            as what,
        coalesce(nullif(array_to_string(lines, ', '), ''), 'none is named') as lines_or_lift,
        coalesce(cause, nullif(cause_class, 'unknown') || ' (by the message)', 'not told') as cause,
        if(started_at > last_seen_at, 'from ', 'since ')
            || strftime(local_time(coalesce(started_at, first_seen_at)), '%d %B, %H:%M') as valid
    from marts.disruptions where is_open order by category, started_at limit 8
"""
# What the README says that the warehouse answers. The queries are printed, to be copied and changed.
ANSWERS = {
    "How punctual was the network?": "select sentence from headline.on_time_network order by period",
    "Which lines and stops were least punctual?": (
        "(select sentence from headline.on_time_lines where figure is not null order by figure limit 1) "
        "union all "
        "(select sentence from headline.on_time_stops where figure is not null order by figure limit 1) "
        "union all (select 'It is not known of ' || count(*) || ' lines and directions.' "
        "from headline.on_time_lines where figure is null having count(*) > 0) "
        "union all (select 'It is not known of ' || count(*) || ' stops.' "
        "from headline.on_time_stops where figure is null having count(*) > 0)"
    ),
    "Where did riders of frequent lines wait longest beyond the timetable?": (
        "(select sentence from headline.excess_waiting where figure is not null order by figure desc "
        "limit 2) "
        "union all (select 'It is not known of ' || count(*) || ' other lines and directions.' "
        "from headline.excess_waiting where figure is null having count(*) > 0)"
    ),
    "Which trips ran, which did not, and which could not be observed?": (
        "(select sentence from headline.trips_delivered order by high, low, sentence limit 1) "
        "union (select sentence from headline.trips_delivered order by coverage, sentence limit 1)"
    ),
    "Which lift was out of use, and for how long?": (
        "select sentence from headline.lifts order by low, lift limit 2"
    ),
    "What disrupted the service longest?": (
        "select sentence from headline.service_disruptions order by low desc limit 2"
    ),
    "In which hours was too little polled to know?": (
        "select 'On the service date ' || service_date || ' from ' || service_hour % 24 || ':00' "
        "|| if(service_hour < 24, '', ' of the next day') || ' too little was observed of ' || count(*) "
        "|| ' lines and directions.' as sentence from marts.punctuality_shares "
        "where estimate_null_reason = 'interval too wide' "
        "group by service_date, service_hour order by count(*) desc, service_date, service_hour limit 2"
    ),
}
# Commands for who goes on; PLACE stands for the data folder.
NEXT = """. .venv/bin/activate && export TRANSIT_DATA_DIR=PLACE
transit-etl sql "from headline.on_time_lines"            # all lines; `transit-etl tables` lists the tables
transit-etl sql "from marts.punctuality_daily"           # days
transit-etl export punctuality_by_stop --format geojson  # the stops on a map
transit-etl export --format gtfs                         # the timetable as a GTFS feed
"""


def show_findings(console: Console, environment: Mapping[str, str], folder: Path, days: Days) -> None:
    """Print the rehearsed days beside the truth, what was polled live, and answers to questions."""
    ask = _Questions(environment)
    console.rule("[bold]Are the figures right?")
    console.print(f"Rehearsed: {days}. The pipeline never sees what truly happened.", highlight=False)
    console.print(
        truth_table(published_database(folder), folder / "truth", days.first, days.last), highlight=False
    )
    console.print(_audit(audit_figures(ask, "emulated")), highlight=False)
    console.rule("[bold]Polled live, on the morning after")
    for line in (_budget(ask), _stop_visits(ask, days.last), _disruptions(ask)):
        console.print(line, highlight=False)
    console.rule("[bold]Questions that the warehouse answers, each with its query")
    for question, query in ANSWERS.items():
        console.print(f"[bold]{question}[/]", highlight=False)
        for row in ask(query) or [{"sentence": "The query gives no row."}]:
            console.print(row["sentence"], markup=False, highlight=False)
        console.print(
            f'transit-etl sql "{query}"\n', style="dim", markup=False, highlight=False, soft_wrap=True
        )
    console.rule("[bold]Go on yourself")
    place = folder.relative_to(Path.cwd())
    console.print(NEXT.replace("PLACE", str(place)), markup=False, highlight=False, soft_wrap=True)
    for what, where in (
        ("The report: open this first", "reports/performance/index.html"),
        ("The warehouse, a DuckDB file", "warehouse/warehouse.duckdb"),
        ("What truly happened", "truth/*.parquet"),
        ("Results of the data checks", "reports/quality/index.html"),
        ("The models, as a page", "reports/models/index.html"),
    ):
        console.print(f"{what}: {place / where}", highlight=False, soft_wrap=True)


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


def _audit(figures: AuditFigures | None) -> str:
    if figures is None:
        return "No visit was drawn by chance to audit the estimates."
    drawn = f"{figures.n_drawn:,} visits drawn by chance were watched, and {figures.n_seen:,} of them seen"
    if figures.error is None or figures.half_interval is None:
        return f"An audit needs no truth: {drawn}, too few to compare estimates with."
    ends = figures.error - figures.half_interval, figures.error + figures.half_interval
    error, low, high, decimals = cited(figures.error, *ends)
    return (
        f"An audit needs no truth: {drawn}. Their share on time minus what the estimates say of them: "
        f"{error:+.{decimals}f} points (95 % interval: {low:+.{decimals}f} to {high:+.{decimals}f})."
    )


def _budget(ask: _Questions) -> str:
    sent = ask(BUDGET)[0]
    return (
        f"{sent['n_sent']:,} requests were sent, {sent['n_good']:,} got a valid answer, and "
        f"{sent['n_refused'] or 'none'} was refused. No 60 seconds had more than {sent['busiest_minute']} "
        f"({ALLOWANCE} are allowed)."
    )


def _stop_visits(ask: _Questions, rehearsed: date) -> str:
    seen = ask(VISITS.replace("$day", f"date '{rehearsed}'"))[0]
    return (
        f"{seen['n_passed']:,} passages of {seen['n_trips']:,} trips were seen, {seen['n_evidenced']:,} of "
        "them to within 60 s. This day is not over: it has no share yet."
    )


def _disruptions(ask: _Questions) -> Table:
    table = Table(
        title="Disruptions and notices about lifts that are listed (at most 8)", title_justify="left"
    )
    rows = ask(DISRUPTIONS)
    for name in rows[0] if rows else ("no disruption is listed",):
        table.add_column(name.replace("_", " "))
    for row in rows:
        table.add_row(*(value or "" for value in row.values()))
    return table
