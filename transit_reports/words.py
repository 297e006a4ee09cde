"""Sentences made from figures."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from transit_reports.figures import with_ends, written
from transit_reports.queries import Row
from transit_reports.report import Report

_SURE = 0.95
_Z = NormalDist().inv_cdf((1 + _SURE) / 2)


def share_with_interval(row: Row, name: str) -> str:
    """Return a share as `58 % (95 % interval 56 to 60 %)`."""
    text = with_ends(row[name], row[f"{name}_low"], row[f"{name}_high"], "share", "interval")
    figure, _, ends = text.partition(" (")
    return f"{figure} (95 % interval {ends.removesuffix(')').replace('–', ' to ')} %)"


def known_text(row: Row) -> str:
    """Say how many passages were due, and how much is known of them."""
    observed, unseen = row["observed_share"] or 0, row["unseen_share"] or 0
    return (
        f"{row['n_due']:,} passages due: {100 * observed:.0f} % observed, "
        f"{100 * max(1 - observed - unseen, 0):.0f} % estimated from the same bus at other stops, "
        f"{100 * unseen:.0f} % from other buses, because nobody saw the bus"
    )


def on_time_citation(report: Report, row: Row, subject: str, reasons: dict[str, str]) -> str:
    """Return the sentence to cite: figure, interval, dates, coverage, rules."""
    if row.get("on_time") is None:
        return (
            f"It is not known what share of the passages of {subject} was on time {report.period.when}: "
            f"{reason_text(row, reasons)}."
        )
    return (
        f"{share_with_interval(row, 'on_time')} of the passages of {subject} were on time "
        f"{report.period.when}; {known_text(row)}; {report.rules_text}."
    )


def reason_text(row: Row, reasons: dict[str, str]) -> str:
    """Say why a figure is not known."""
    reason = row.get("null_reason") or "nothing due"
    return reasons.get(reason, str(reason))


def difference(now: Row, then: Row, name: str, n_compared: int = 1) -> dict[str, Any] | None:
    """Return how much a figure changed, with its interval; None if one of both is not known.

    The interval holds for all of `n_compared` comparisons together with a probability of 95 %.
    """
    if now.get(name) is None or then.get(name) is None:
        return None
    widening = NormalDist().inv_cdf(1 - (1 - _SURE) / (2 * n_compared)) / _Z
    halves = [(row[f"{name}_high"] - row[f"{name}_low"]) / 2 for row in (now, then)]
    half = widening * (halves[0] ** 2 + halves[1] ** 2) ** 0.5
    change = now[name] - then[name]
    return {"change": change, "change_low": change - half, "change_high": change + half}


def is_told_apart(change: Row) -> bool:
    """Tell whether the interval of a change leaves 0 out."""
    return bool(change["change_low"] > 0 or change["change_high"] < 0)


def change_text(change: Row | None, before: str) -> str:
    """Say how a share changed against a period."""
    if change is None:
        return f"{before} nothing to compare with is known."
    text = with_ends(change["change"], change["change_low"], change["change_high"], "difference", "interval")
    if not is_told_apart(change):
        return f"It cannot be told apart from {before}: the difference is {text}."
    return f"Against {before} the difference is {text}."


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names as a list in a sentence, the first of them if there are many."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"


def count_of(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun; without `many`, the plural has an s."""
    return f"{written(n, 'count')} {one if n == 1 else many or f'{one}s'}"
