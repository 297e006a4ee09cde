"""Sentences made from figures."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from transit_reports.figures import figure_and_ends, with_ends, written
from transit_reports.language import NO_BREAK, _, _n, number
from transit_reports.queries import Row
from transit_reports.report import Report

_SURE = 0.95
_Z = NormalDist().inv_cdf((1 + _SURE) / 2)


def share_with_interval(row: Row, name: str) -> str:
    """Return a share as `58 % (95 % interval: 56 to 60 %)`."""
    figure, low, high = figure_and_ends(row[name], row[f"{name}_low"], row[f"{name}_high"], "share")
    text = _("{figure} % (95 % interval: {low} to {high} %)", figure=figure, low=low, high=high)
    return text.replace(" %", f"{NO_BREAK}%")


def known_text(row: Row) -> str:
    """Say how many passages were due, and how much is known of them."""
    observed, unseen = row["observed_share"] or 0, row["unseen_share"] or 0
    return _n(
        "{n} passage due: {observed} observed, {estimated} estimated from the same bus at other stops, "
        "{unseen} from other buses, because nobody saw the bus",
        "{n} passages due: {observed} observed, {estimated} estimated from the same bus at other stops, "
        "{unseen} from other buses, because nobody saw the bus",
        row["n_due"],
        observed=written(observed, "share"),
        estimated=written(max(1 - observed - unseen, 0), "share"),
        unseen=written(unseen, "share"),
    )


def on_time_citation(report: Report, row: Row, subject: str) -> str:
    """Return the sentence to cite: figure, interval, dates, coverage, rules.

    subject: whose passages, such as `all lines`.
    """
    when = report.period.when
    if row.get("on_time") is None:
        return _(
            "{subject}: it is not known what share of the passages was on time {when}: {reason}.",
            subject=subject, when=when, reason=report.reason(row),
        )  # fmt: skip
    return _(
        "{subject}: {share} of the passages were on time {when}; {known}; {rules}.",
        subject=subject, share=share_with_interval(row, "on_time"), when=when, known=known_text(row),
        rules=report.rules_text,
    )  # fmt: skip


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


NO_CHANGE: dict[str, Any] = dict.fromkeys(["change", "change_low", "change_high"])


def is_told_apart(change: Row) -> bool:
    """Tell whether the interval of a change leaves 0 out."""
    return bool(change["change_low"] > 0 or change["change_high"] < 0)


def figure_as(row: Row, name: str, of: str = "on_time") -> dict[str, Any]:
    """Return a figure of a row and its ends under another name; each is None where there is none."""
    return {f"{name}{end}": row.get(f"{of}{end}") for end in ("", "_low", "_high")}


def change_text(change: Row | None, before: str) -> str:
    """Say how a share changed against a period."""
    if change is None:
        return _("No comparison with {before}: too little is known.", before=before)
    text = with_ends(change["change"], change["change_low"], change["change_high"], "difference", "interval")
    if not is_told_apart(change):
        return _(
            "It cannot be told apart from {before}: the difference is {difference}.",
            before=before, difference=text,
        )  # fmt: skip
    return _("Against {before} the difference is {difference}.", before=before, difference=text)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names as a list in a sentence, the first of them if there are many."""
    if len(names) > most:
        return _("{names} and {n} more", names=", ".join(names[:most]), n=number(len(names) - most))
    if len(names) > 1:
        return _("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])
    return names[0] if names else _("none")
