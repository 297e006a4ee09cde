"""Says how much of a period is known, seen or estimated, and when that is too little for an export."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from transit_exports.periods import Period, date_column
from transit_exports.source import Source, Table

PASSAGES, STATUS, TIMETABLES = "passages", "status", "timetables"
SEEN = {  # what a share of each says
    PASSAGES: "of the passages due were seen",
    STATUS: "of the time is covered by answers of the service status",
    TIMETABLES: "of the service dates have a timetable",
}
# Passages due are those of the timetable, or those listed with a time where these are more.
_PASSAGES = """
with sums as (
    select line_code, direction, sum(greatest(n_due, n_scheduled)) as n_due,
        sum(n_likely_early + n_likely_on_time + n_likely_late) as n_seen,
        sum(n_scheduled) as n_scheduled, sum(n_indeterminate) as n_indeterminate,
        sum(n_bounded_delays) as n_delays,
        sum(delay_high_seconds_sum) - sum(delay_low_seconds_sum) as width_seconds
    from marts.punctuality where {condition}
    group by line_code, direction
)
select sum(n_seen) / nullif(sum(n_due), 0), sum(n_indeterminate) / nullif(sum(n_scheduled), 0),
    sum(width_seconds) / nullif(sum(n_delays), 0),
    (select interval_width from punctuality_between('all', date '{first}', date '{last}'))
from sums
"""
_STATUS = """
select sum(covered_seconds) / sum(86400.0) from marts.status_coverage where {condition}
"""
_TIMETABLES = """
select count(distinct service_date) / {n_dates}::double from core.scheduled_departures
where is_in_force and {condition}
"""
_MISLEADING = """
select finding, min(found_date), max(found_date), max(answer_share) from quality.findings
where kind is not null and {condition}
group by finding order by finding
"""
_DATES = "select count(distinct service_date) from core.service_days where {condition}"
_RULES = """
select max(seen_threshold), min(widest_interval) from core.rulesets
where list_contains((select rulesets from quality.publication), ruleset_version)
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was due in a period was seen, as a share; dates without requests count as not seen.

    `of` says what was due: passages, answers of the status, or timetables; None where nothing is due. The
    widths say how far low and high lie apart: of the share on time by the polls alone, of a delay in seconds
    on average, and of the 95 % interval of the estimated share on time, to which a date without requests
    adds all from 0 to 1. Of passages `widest_interval` limits the last, of all else `threshold` the share.
    `misleading` says how answers about passages misled, if they did.
    """

    of: str | None = None
    share: float | None = None
    threshold: float | None = None
    n_dates: int | None = None
    n_dates_without_requests: int | None = None
    on_time_share_width: float | None = None
    delay_width_seconds: float | None = None
    estimated_on_time_share_width: float | None = None
    widest_interval: float | None = None
    misleading: tuple[str, ...] = ()

    def as_fields(self) -> dict[str, Any]:
        """Return the fields for a manifest, rounded."""
        return {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def kind_of(source: Source, tables: list[Table]) -> str | None:
    """Return what was due that tables depend on: passages before the status, None where nothing is due.

    A dated table whose origin is unknown counts as one of passages.
    """
    kinds = {_kind_of(source, table) for table in tables}
    return next((kind for kind in (PASSAGES, STATUS) if kind in kinds), None)


def _kind_of(source: Source, table: Table) -> str | None:
    lineage = source.lineage(table)
    is_known = any(name.startswith("lake ") for name in lineage)
    if "lake passages" in lineage or (date_column(table) and not is_known):
        return PASSAGES
    # What an answer proves is decided for all datasets together: a table may depend on the status by name.
    names = (f"{table.schema}.{table.name}", *lineage)
    is_of_status = any(name.partition(".")[2].startswith("status_") for name in names)
    return STATUS if "lake status" in lineage and is_of_status else None


def coverage_of(source: Source, kind: str | None, period: Period) -> Coverage:
    """Measure how much of a period was seen."""
    if kind is None:
        return Coverage()
    condition = period.holds("service_date")
    [(n_dates,)] = source.rows(_DATES.format(condition=condition))
    [(threshold, widest)] = source.rows(_RULES)
    query = {PASSAGES: _PASSAGES, STATUS: _STATUS, TIMETABLES: _TIMETABLES}[kind]
    text = query.format(condition=condition, n_dates=period.n_dates, first=period.first, last=period.last)
    [(share, *widths)] = source.rows(text)
    n_without = period.n_dates - n_dates
    if kind != PASSAGES:
        seen = share * n_dates / period.n_dates if kind == STATUS and share is not None else share
        return Coverage(kind, seen, threshold, period.n_dates, n_without)
    polled, delay, interval = widths
    if share is not None:
        share *= n_dates / period.n_dates
        estimated = 1.0 if interval is None else interval  # seen, but due by no timetable: no estimate
        interval = (estimated * n_dates + n_without) / period.n_dates
    misleading = tuple(_misleading(source, period))
    return Coverage(kind, share, None, period.n_dates, n_without, polled, delay, interval, widest, misleading)


def _misleading(source: Source, period: Period) -> Iterator[str]:
    """Say of each finding about misleading answers when it was made, and how many answers it concerned."""
    query = _MISLEADING.format(condition=period.holds("found_date"))
    for finding, first, last, share in source.rows(query):
        dates = f"On {first}" if first == last else f"From {first} to {last}"
        yield f"{dates}, in up to {share:.0%} of the answers: {finding}"


def what_is_missing(source: Source, coverage: Coverage, period: Period) -> list[str]:
    """Say why too little is known of a period; nothing if enough is."""
    if coverage.of is None:
        return []
    problems = []
    if coverage.of != TIMETABLES and period.last > source.publication.closed_date:
        problems.append(f"{period.last} is not over")
    if _is_too_little(coverage):
        seen = f"{coverage.share or 0:.1%} {SEEN[coverage.of]}"
        dates = f", {coverage.n_dates_without_requests} of {coverage.n_dates} dates have no requests"
        problems.append(f"{seen}{dates if coverage.n_dates_without_requests else ''}; {_rule(coverage)}")
    return problems


def _is_too_little(coverage: Coverage) -> bool:
    if coverage.of == PASSAGES:
        width = coverage.estimated_on_time_share_width
        return width is None or width > (coverage.widest_interval or 0)
    return (coverage.share or 0) < (coverage.threshold or 0)


def _rule(coverage: Coverage) -> str:
    """Say what the ruleset asks for, and what was found instead."""
    if coverage.of != PASSAGES:
        return f"the ruleset asks for {coverage.threshold or 0:.0%}"
    width = coverage.estimated_on_time_share_width
    if width is None:
        return "none was due, so there is no estimate"
    return (
        f"the 95 % interval of the estimated share on time is {points(width)} wide, "
        f"the ruleset allows {points(coverage.widest_interval or 0)}"
    )


def known_of(coverage: Mapping[str, Any]) -> Iterator[str]:
    """Say how much is known, from the fields of a coverage."""
    if coverage.get("share") is not None:
        yield f"{coverage['share']:.1%} {SEEN[coverage['of']]}."
    if coverage.get("estimated_on_time_share_width") is not None:
        yield (
            "The share on time of all passages due, seen or not, is estimated: its 95 % interval is "
            f"{points(coverage['estimated_on_time_share_width'])} wide."
        )
    if coverage.get("on_time_share_width") is not None:
        yield (
            "By bounds of what was polled alone, the share on time of the visits seen lies within "
            f"{points(coverage['on_time_share_width'])}, "
            f"and a delay within {coverage['delay_width_seconds'] or 0:.0f} seconds on average."
        )
    yield from coverage.get("misleading", ())


def points(share: float) -> str:
    """Write the difference of two shares in percentage points."""
    return f"{100 * share:.1f} percentage points"
