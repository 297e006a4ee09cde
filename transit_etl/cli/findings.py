"""Says what a round found: what was seen, what is not known yet and why, and when it will be."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from transit_base.cited import cited
from transit_base.quoting import sql_text
from transit_etl.service_day import service_date
from transit_etl.settings import FolderSettings

_FOUND = """
with visits as (
    select *, arrival_quality in ('evidenced', 'bounded') as is_seen
    from core.stop_visits where operator = {operator} and service_date = '{day}'
),
seen as (
    select
        count(*) as n_visits,
        count(*) filter (is_seen) as n_seen,
        count(*) filter (arrival_quality = 'evidenced') as n_evidenced,
        count(*) filter (is_seen and scheduled_at is null) as n_without_schedule
    from visits
),
trips as (
    select
        count(*) filter (outcome = 'run') as n_trips_seen,
        count(*) filter (outcome = 'run' and scheduled_departure_at is null) as n_trips_without_departure
    from core.trips where operator = {operator} and service_date = '{day}'
),
polled as (
    select strftime(local_time(min(sent_at), {operator}), '%H:%M') as polled_since
    from core.requests
    where
        operator = {operator} and endpoint = 'passages' and is_good
        and service_date(sent_at, {operator}) = '{day}'
),
shares as (
    select
        n_due, coverage, estimated_on_time_share, estimated_on_time_share_low, estimated_on_time_share_high,
        estimate_null_reason, words as estimate_null_words
    from marts.network_punctuality_daily
    left join core.null_reasons on reason = estimate_null_reason
    where operator = {operator} and service_date = '{day}'
)
select
    date '{day}' as service_date, seen.*, trips.*, polled.*, shares.*,
    (
        select sentence from headline.on_time_network where operator = {operator} order by period desc limit 1
    ) as latest_sentence
from seen cross join trips cross join polled left join shares on true
"""
_BY_LINE = """transit-etl sql "select line_code, direction, service_hour as hour, n_due, n_visits, coverage, \
estimated_on_time_share as on_time, estimate_null_reason as why_none from marts.punctuality_shares \
where service_date = '{day}' order by n_visits desc limit 10"
"""


def find(settings: FolderSettings) -> dict[str, Any]:
    """Return what the published warehouse knows of the service date that is running, by name."""
    from transit_etl.warehouse import query

    today = service_date(settings.clock.now(), settings.zone, settings.service_day_cutoff)
    rows: list[dict[str, Any]] = query(
        settings, _FOUND.format(day=today, operator=sql_text(settings.operator))
    ).to_pylist()
    ends_at = datetime.combine(today + timedelta(days=1), settings.service_day_cutoff)
    return {**rows[0], "ends_at": f"{ends_at:%Y-%m-%d %H:%M}"}


def labelled(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield labelled sentences about what was found, and the query that shows it by line."""
    yield "seen", _seen(found)
    yield "matched", _matched(found)
    yield "on time", _on_time(found)
    yield "final", _final(found)
    yield "last day", found["latest_sentence"] or ""
    yield "by line", _BY_LINE.format(day=found["service_date"]).strip()


def _seen(found: Mapping[str, Any]) -> str:
    if not found["n_seen"]:
        return (
            f"no bus passing yet, {found['n_visits']:,} coming: a passage is seen once a poll lists the bus "
            "and a later one does not"
        )
    return (
        f"{found['n_seen']:,} passages since {found['polled_since']}, {found['n_evidenced']:,} of them to "
        f"within 60 s; {found['n_due'] or 0:,} were due since the day began"
    )


def _matched(found: Mapping[str, Any]) -> str:
    """Say which of the passages seen cannot be judged yet, and why; empty where all can."""
    if not found["n_without_schedule"]:
        return ""
    return (
        f"{found['n_without_schedule']:,} of these passages have no scheduled time yet, and "
        f"{found['n_trips_without_departure']:,} of the {found['n_trips_seen']:,} trips match no departure "
        "yet: the interface gives the times of departures from the origin alone. The times at other stops "
        "are learned from what stops list before a bus sets out: after two hours of polling most are known"
    )


def _on_time(found: Mapping[str, Any]) -> str:
    day, share = found["service_date"], found["estimated_on_time_share"]
    if share is None:
        why = found["estimate_null_words"] or found["estimate_null_reason"] or "nothing was due"
        return f"not known yet for {day}, because {why}"
    figure, low, high, decimals = cited(
        share, found["estimated_on_time_share_low"], found["estimated_on_time_share_high"]
    )
    return (
        f"{figure:.{decimals}f} % of what was due so far on {day} "
        f"(95 % interval: {low:.{decimals}f} to {high:.{decimals}f} %)"
    )


def _final(found: Mapping[str, Any]) -> str:
    day: date = found["service_date"]
    return (
        f"{day} counts in headlines once it is over, from {found['ends_at']} on (local time); how much is "
        "then known of it depends on how long passages are polled until then"
    )
