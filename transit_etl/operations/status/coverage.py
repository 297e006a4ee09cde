"""Says how many stops of each line gave a good answer in the last hour, and which has waited the longest."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from transit_etl.collect.known_network import Catalogue, LineDirection, NothingKnownError
from transit_etl.collect.raw.windows import HOUR
from transit_etl.settings import FolderSettings


@dataclass(frozen=True, slots=True)
class LineCoverage:
    """How many of a line's stops gave a good answer in the last hour.

    `unseen` is the stop whose last good answer is the oldest, `unseen_since` when that was, if ever.
    """

    line_code: str
    line_number: str | None
    n_stops: int
    n_seen: int
    share: float
    unseen: str
    unseen_since: datetime | None


def line_directions(settings: FolderSettings) -> list[LineDirection]:
    """Return the stops of every active line and direction; none before the network was collected."""
    try:
        return Catalogue(settings.data_dir, settings.operator).line_directions()
    except NothingKnownError:
        return []


def line_coverage(
    directions: Sequence[LineDirection], answered_at: Mapping[str, datetime], now: datetime
) -> list[LineCoverage]:
    """Return the coverage of each line, the least covered first; `answered_at` is by stop."""
    stops: dict[tuple[str, str | None], set[str]] = defaultdict(set)
    for direction in directions:
        stops[direction.line_code, direction.line_number].update(direction.stop_codes)
    lines = [_of_line(*line, sorted(codes), answered_at, now - HOUR) for line, codes in stops.items()]
    return sorted(lines, key=lambda line: (line.share, line.line_code))


def longest_unseen(stops: Sequence[str], answered_at: Mapping[str, datetime]) -> str | None:
    """Return the stop that never gave a good answer, or else the one that did so the longest ago."""
    return min(stops, key=lambda code: (code in answered_at, answered_at.get(code), code), default=None)


def _of_line(
    code: str, number: str | None, stops: Sequence[str], answered_at: Mapping[str, datetime], since: datetime
) -> LineCoverage:
    n_seen = sum(stop in answered_at and answered_at[stop] > since for stop in stops)
    unseen = longest_unseen(stops, answered_at) or ""
    return LineCoverage(
        line_code=code,
        line_number=number,
        n_stops=len(stops),
        n_seen=n_seen,
        share=round(n_seen / len(stops), 4),
        unseen=unseen,
        unseen_since=answered_at.get(unseen),
    )
