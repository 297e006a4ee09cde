"""Draws charts as SVG that takes its colours from the page, so that it fits light, dark and print."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import vl_convert
from markupsafe import Markup, escape

from transit_reports.language import _, day_text, language, short_day
from transit_reports.queries import Row

_WIDTH = 560  # pixels, of the plot without its axes; a page scales it
_FONT = 13
_HALF_STROKE = 0.6  # percent, of the mark of a figure
_INK, _QUIET, _LINE = "currentColor", "var(--quiet)", "var(--line)"
SERIES, BAND, BOUNDS = "var(--series)", "var(--band)", "var(--bounds)"
_YEAR = 365
_HIDDEN = re.compile(
    r' (?:role|aria-[a-z]+)="[^"]*"'
)  # one label of the whole says more than one of each part


def share_by_date(rows: Sequence[Row], name: str, reading: str) -> Markup:
    """Draw a share on each date with its 95 % interval; a date without a share has a hatched column.

    rows: with `service_date`, the share, and its `_low` and `_high`.
    """
    known = [row for row in rows if row[name] is not None]
    label = short_day if len(rows) < _YEAR else day_text
    data = [_interval(row, name) | {"date": label(row["service_date"])} for row in known]
    unseen = [
        {"date": label(row["service_date"]), "low": 0, "high": 100} for row in rows if row[name] is None
    ]
    order = [label(row["service_date"]) for row in rows]
    x = alt.X("date:O", title=None, sort=order, axis=_axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("low:Q", title="%", scale=alt.Scale(domain=[0, 100]), axis=_axis())
    layers = [
        _chart(data).mark_bar(color=BAND, width={"band": 0.6}).encode(x=x, y=y, y2="high:Q"),
        _chart(data).mark_bar(color=SERIES, width={"band": 0.6}).encode(x=x, y="below:Q", y2="above:Q"),
        _chart(unseen).mark_bar(fill="url(#unseen)", stroke=_LINE).encode(x=x, y=y, y2="high:Q"),
    ]
    return _svg(alt.layer(*layers), reading)


def along_a_route(rows: Sequence[Row], reading: str) -> Markup:
    """Draw the median delay at each stop of a route, and the half of the passages around it, in minutes.

    rows: with `stop_sequence`, `median_delay`, `quarter_delay` and `three_quarters_delay` in seconds.
    """
    data = [
        {
            "stop": row["stop_sequence"],
            "value": row["median_delay"] / 60,
            "low": row["quarter_delay"] / 60,
            "high": row["three_quarters_delay"] / 60,
        }
        for row in rows
        if row["median_delay"] is not None
    ]
    x = alt.X("stop:Q", title=_("stop, in the order of the route"), axis=_axis(tickMinStep=1, grid=False))
    y = alt.Y("low:Q", title=_("minutes late"), axis=_axis())
    base = _chart(data)
    layers = [
        base.mark_area(color=BAND).encode(x=x, y=y, y2="high:Q"),
        base.mark_line(color=SERIES, strokeWidth=2).encode(x=x, y="value:Q"),
        base.mark_point(color=SERIES, filled=True, size=28).encode(x=x, y="value:Q"),
    ]
    return _svg(alt.layer(*layers), reading)


def distribution(rows: Sequence[Row], reading: str) -> Markup:
    """Draw how many passages had each delay in minutes.

    rows: with `delay_minutes` and `n_passages`.
    """
    data = [{"minutes": row["delay_minutes"], "n": row["n_passages"]} for row in rows]
    x = alt.X(
        "minutes:O",
        title=_("minutes late"),
        sort=list(range(-6, 21)),
        scale=alt.Scale(domain=list(range(-6, 21))),
        axis=_axis(labelAngle=0, grid=False, labelExpr=_ENDS),
    )
    y = alt.Y("n:Q", title=_("passages"), axis=_axis(tickMinStep=1))
    return _svg(_chart(data).mark_bar(color=SERIES).encode(x=x, y=y), reading)


def spans(rows: Sequence[Row], reading: str) -> Markup:
    """Draw disruptions as bars in time; the hatched end is where the end is not known better.

    rows: with `label`, `begun`, `ended_low` and `ended_high`, local times.
    """
    data = [
        {
            "label": row["label"],
            "begun": f"{row['begun']:%Y-%m-%dT%H:%M:%S}",
            "low": f"{row['ended_low']:%Y-%m-%dT%H:%M:%S}",
            "high": f"{row['ended_high']:%Y-%m-%dT%H:%M:%S}",
        }
        for row in rows
    ]
    y = alt.Y("label:O", title=None, sort=None, axis=_axis(grid=False, labelLimit=230))
    x = alt.X("begun:T", title=None, axis=_axis(format="%d %b %H:%M", labelAngle=0, tickCount=5))
    layers = [
        _chart(data).mark_bar(color=SERIES).encode(y=y, x=x, x2="low:T"),
        _chart(data).mark_bar(fill="url(#unseen)", stroke=BOUNDS).encode(y=y, x="low:T", x2="high:T"),
    ]
    return _svg(alt.layer(*layers).properties(height=alt.Step(22)), reading)


_ENDS = (
    "datum.value == -6 ? '≤ −6' : datum.value == 20 ? '20+' "
    ": datum.value % 5 == 0 && datum.value != -5 ? datum.value : ''"
)


def differences(rows: Sequence[Row], reading: str) -> Markup:
    """Draw differences of shares in points with their intervals, and where 0 is.

    rows: with `label`, `change`, `change_low` and `change_high`.
    """
    data = [_interval(row, "change") | {"label": row["label"]} for row in rows]
    y = alt.Y("label:O", title=None, sort=None, axis=_axis(grid=False, labelLimit=230))
    x = alt.X("low:Q", title=_("points"), axis=_axis())
    layers = [
        _chart(data).mark_bar(color=BAND, height={"band": 0.6}).encode(y=y, x=x, x2="high:Q"),
        _chart(data).mark_bar(color=SERIES, height={"band": 0.6}).encode(y=y, x="below:Q", x2="above:Q"),
        _chart([{"zero": 0}]).mark_rule(color=_INK).encode(x="zero:Q"),
    ]
    return _svg(alt.layer(*layers).properties(height=alt.Step(22)), reading)


def _interval(row: Row, name: str) -> dict[str, Any]:
    figure = 100 * row[name]
    return {
        "below": figure - _HALF_STROKE,
        "above": figure + _HALF_STROKE,
        "low": 100 * row[f"{name}_low"],
        "high": 100 * row[f"{name}_high"],
    }


def _chart(data: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=data))


def _axis(**given: Any) -> alt.Axis:  # noqa: ANN401 - what Altair takes
    return alt.Axis(**given)


def _svg(chart: alt.Chart | alt.LayerChart | alt.FacetChart, reading: str) -> Markup:
    """Return a chart as SVG with one label: the sentence that says what it shows."""
    specification = chart.to_dict(validate=False)
    specification |= {"width": _WIDTH, "background": "transparent", "config": _CONFIG}
    specification.setdefault("height", 220)
    locale = _LOCALES[language()]
    svg = _HIDDEN.sub(
        "", vl_convert.vegalite_to_svg(specification, format_locale=locale, time_format_locale=locale)
    )
    label = f'<svg role="img" aria-label="{escape(reading)}"'
    return Markup(svg.replace("<svg", label, 1).replace(_UNUSED, "", 1))  # noqa: S704 - Vega escapes texts


_LOCALES: dict[str, Literal["en-GB", "it-IT"]] = {"en": "en-GB", "it": "it-IT"}
_UNUSED = ' xmlns:xlink="http://www.w3.org/1999/xlink"'
_CONFIG = {
    "font": "DejaVu Sans, Verdana, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "labelFontSize": _FONT,
        "titleFontSize": _FONT,
        "titleFontWeight": "normal",
        "gridColor": _LINE,
        "domainColor": _QUIET,
        "tickColor": _QUIET,
    },
}
