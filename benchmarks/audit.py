"""Measure what the audit sample costs and how far it answers: a rehearsal with it and one without.

    python benchmarks/audit.py --size city --rate 60 --hours 3

Both rehearse the same hours against the emulator in process. Printed are

- cost: visits evidenced with the audit, without those it drew, over those evidenced without it;
- share of the requests for passages, and polls for each visit drawn;
- what came of the visits drawn;
- response: of the drawn buses that were tracked when they passed, those seen to pass, by how late they were.
  An audit leans if late buses answer less often than others;
- width: seconds between the polls that enclose a passage, and how far `passed_at` is from the truth.

Visits due less than half an hour before the end are left out of the last three.
"""

import argparse
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import httpx2

from transit_emulator.app import DEFAULT_TOKEN, create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import NETWORK_NAMES, build_world
from transit_etl import warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.warehouse.database import database_path

FREE_RATE = 60  # requests a minute without a token
END_LEFT_OUT = timedelta(minutes=30)

PREPARE = """
create table drawn as
with departures as (
    select
        *,
        row_number() over (
            partition by service_date, line_code, direction, service_code, departure_at order by trip_id
        ) as duplicate_number
    from read_parquet('{truth}/timetable_departures.parquet')
)
select
    visits.result,
    visits.n_audit_requests,
    epoch(visits.passed_before - visits.passed_after) as width,
    abs(epoch(visits.passed_at - passages.passed_at)) as error,
    epoch(passages.passed_at - scheduled.scheduled_at) as delay,
    trips.live_from < passages.passed_at and coalesce(trips.lost_at > passages.passed_at, true) as is_tracked,
    visits.due_at < '{last}'::timestamp as is_over
from built.core.audit_visits as visits
left join departures using (service_date, line_code, direction, service_code, departure_at, duplicate_number)
left join read_parquet('{truth}/trips.parquet') as trips using (service_date, trip_id)
left join read_parquet('{truth}/scheduled_passages.parquet') as scheduled
    using (service_date, trip_id, stop_code)
left join read_parquet('{truth}/actual_passages.parquet') as passages
    using (service_date, trip_id, stop_code)
"""
FIGURES = {
    "visits drawn, polls of the audit for each": (
        "select count(*) || ', ' || round(avg(n_audit_requests), 2) from drawn"
    ),
    "share of the requests for passages": """
        select round(100 * avg((purpose is not distinct from 'audit')::int), 1) || ' %'
        from built.core.requests where endpoint = 'passages' and sent_at is not null
    """,
    "results": """
        select string_agg(n || ' ' || result, ', ' order by n desc)
        from (select result, count(*) as n from drawn group by result)
    """,
    "response of tracked buses by delay": """
        select string_agg(kind || ' ' || share || ' % of ' || n, ', ' order by kind)
        from (
            select
                case when delay < -60 then 'early' when delay >= 360 then 'late' else 'on time' end as kind,
                round(100 * avg((result = 'passed')::int), 1) as share,
                count(*) as n
            from drawn where is_tracked and is_over group by kind
        )
    """,
    "seconds between the polls, median and p90": """
        select quantile_cont(width, 0.5)::bigint || ', ' || quantile_cont(width, 0.9)::bigint
        from drawn where result = 'passed' and is_over
    """,
    "seconds from passed_at to the truth, median and p90": """
        select quantile_cont(error, 0.5)::bigint || ', ' || quantile_cont(error, 0.9)::bigint
        from drawn where result = 'passed' and is_over
    """,
}
EVIDENCED = """
    select count(*) from built.core.stop_visits as visits
    where arrival_quality = 'evidenced'
        and not exists (from built.core.audit_visits as drawn where drawn.visit_key = visits.visit_key)
"""


def main() -> None:
    """Rehearse twice, build, compare, print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="transit-audit-") as name:
        folder = options.keep or Path(name)
        with_audit, without = (_built(options, folder / f"{share}", share) for share in (options.share, 0.0))
        with duckdb.connect() as db:
            db.execute("set timezone = 'UTC'")
            n_without = _evidenced(db, without)
            n_with = _evidenced(db, with_audit)
            print(
                f"evidenced by the planner: {n_with} of {n_without}, {100 * (n_with / n_without - 1):+.1f} %"
            )
            last = options.start + timedelta(hours=options.hours) - END_LEFT_OUT
            truth = folder / f"{options.share}" / "truth"
            db.execute(PREPARE.format(truth=truth, last=last.replace(tzinfo=None).isoformat()))
            for figure, query in FIGURES.items():
                print(f"{figure}: {db.execute(query).fetchall()[0][0]}")


def _built(options: argparse.Namespace, folder: Path, share: float) -> Settings:
    """Return the settings of a rehearsal that is built, made anew unless the folder has it."""
    settings = Settings(
        data_dir=folder / "data",
        operator="emulated",
        rate_per_minute=options.rate,
        token=DEFAULT_TOKEN if options.rate > FREE_RATE else None,
        audit_share=share,
    )
    if not (folder / "truth").exists():
        world = build_world(options.size, None, options.seed)
        app = create_app(world, tokens=[DEFAULT_TOKEN], limit_with_token=max(300, options.rate))
        report = rehearse(settings, options.start, options.hours, transport=httpx2.ASGITransport(app))
        first = options.start.date() - timedelta(days=1)
        write_truth(world, first, report.end.date(), folder / "truth")
    warehouse.build(settings)
    return settings


def _evidenced(db: duckdb.DuckDBPyConnection, settings: Settings) -> int:
    """Return how many visits were evidenced that the audit did not draw; the database stays attached."""
    db.execute("detach database if exists built")
    db.execute(f"attach '{database_path(settings)}' as built (read_only)")
    return int(db.execute(EVIDENCED).fetchall()[0][0])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=NETWORK_NAMES, default="city")
    parser.add_argument("--seed", type=int, default=1, help="of the emulator")
    parser.add_argument("--rate", type=int, default=60, help="requests a minute")
    parser.add_argument("--share", type=float, default=0.1, help="of the requests for passages")
    parser.add_argument("--start", type=datetime.fromisoformat, default="2026-11-18T06:00:00+00:00")
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--keep", type=Path, help="a folder in which the rehearsals are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
