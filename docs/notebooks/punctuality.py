"""Show how punctual the network or a line was: a marimo notebook that asks the published file."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="How punctual was it?")

with app.setup:
    import sys
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence
    from contextlib import closing
    from datetime import date, timedelta
    from pathlib import Path
    from typing import Any, NamedTuple, NoReturn

    import altair as alt
    import duckdb
    import marimo as mo

    from transit_base.errors import NotPublishedError, TransitError, first_line
    from transit_etl.paths import published_database
    from transit_etl.settings import load_settings
    from transit_exports.periods import Period
    from transit_exports.scope import connect
    from transit_reports.figures import with_ends
    from transit_reports.periods import ReportPeriod
    from transit_reports.words import known_text, share_with_interval

    Row = Mapping[str, Any]
    CONTENTS = """
        select operators.operator, published_at, first_date, least(last_date, closed_date) as last_date
        from quality.publication, quality.operators
    """
    DIRECTIONS = """
        select distinct line_code, direction, line, towards
        from marts.punctuality_daily join direction_names() using (operator, line_code, direction)
        order by line_code, direction
    """
    # The share for each value of an expression, of all lines or one. The function has no row for what was due
    # and not observed at all: that is not known either.
    FIGURES = """
        with due as (
            select {key} as key, sum(n_due) as n_due
            from marts.punctuality
            where service_date between $first and $last
                and ($line is null or (line_code = $line and direction = $direction))
            group by all
            having count(*) > 0
        )
        select
            due.key,
            due.n_due,
            coverage as observed_share,
            cast(n_expected as double) / nullif(figures.n_due, 0) as unseen_share,
            estimated_on_time_share as on_time,
            estimated_on_time_share_low as on_time_low,
            estimated_on_time_share_high as on_time_high,
            case when estimated_on_time_share is null then words end as why_unknown,
            -early_seconds as early_seconds,
            late_seconds
        from
            due
            left join punctuality_between(
                case when $line is null or (line_code = $line and direction = $direction) then {key} end,
                $first,
                $last
            ) as figures on due.key = figures.key
            left join core.null_reasons on reason = coalesce(estimate_null_reason, 'nothing observed')
            left join core.rulesets using (ruleset_version)
        order by due.key
    """
    # Seen on white and on black.
    FIGURE, BAND, UNKNOWN = "#2f7dc4", "#8fbfe8", "#9a9a9a"
    # An odd number: the first and the last are coloured.
    N_STRIPES = 81


@app.class_definition
class UnusableError(TransitError):
    """The notebook cannot show what it was asked for; the message says what and why."""


@app.class_definition
class Line(NamedTuple):
    """A direction of a line, with what its buses show; `code` is None for all lines together."""

    code: str | None = None
    direction: str | None = None
    number: str = ""
    towards: str = ""

    @property
    def subject(self) -> str:
        """Name the line in a sentence."""
        return "all lines" if self.code is None else f"line {self.number} towards {self.towards}"

    @property
    def label(self) -> str:
        """Name the line in a list, in which no two are the same."""
        return self.subject if self.code is None else f"{self.subject} ({self.code} {self.direction})"


@app.class_definition
class Contents(NamedTuple):
    """What the published file has of an operator, when it was published, and the dates that are over."""

    operator: str
    published_at: Any
    first: date
    last: date
    lines: Sequence[Line]


@app.class_definition
class Figures(NamedTuple):
    """Shares on time as fractions with 95 % intervals: of the period, and of each of its dates and hours."""

    period: Row
    dates: Sequence[Row]
    hours: Sequence[Row]


@app.function
def operators_of(path: Path) -> list[str]:
    """Name the operators of a published file; NotPublishedError without one, UnusableError if it is none."""
    if not path.is_file():
        raise NotPublishedError(path)
    try:
        with closing(duckdb.connect(path, read_only=True)) as connection:
            rows = connection.execute("select operator from quality.operators order by operator").fetchall()
    except duckdb.Error as error:
        raise UnusableError(f"{path} is no file that transit-etl published: {first_line(error)}") from error
    return [operator for (operator,) in rows]


@app.function
def contents_of(path: Path, operator: str) -> Contents:
    """Say what a published file holds of an operator; UnusableError if no date of it is over."""
    with closing(connect(path, operator)) as connection:
        [(_, published_at, first, last)] = connection.execute(CONTENTS).fetchall()
        found = connection.execute(DIRECTIONS).fetchall()
    if first is None or last is None or last < first:
        raise UnusableError(f"{path} has no service date of {operator} that is over")
    return Contents(operator, published_at, first, last, [Line(), *(Line(*each) for each in found)])


@app.function
def figures_of(path: Path, operator: str, first: date, last: date, line: Line) -> Figures:
    """Ask the published file about an operator's period; a date of which it has nothing has no share either.

    The file is open only while it is asked, so that the next question is to what is published by then.
    """
    asked = {"line": line.code, "direction": line.direction, "first": first, "last": last}

    def rows(connection: duckdb.DuckDBPyConnection, key: str) -> list[dict[str, Any]]:
        cursor = connection.execute(FIGURES.format(key=key), asked)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    with closing(connect(path, operator)) as connection:
        period, dates, hours = (rows(connection, key) for key in ("true", "service_date", "service_hour"))
    nothing = {"n_due": 0, "on_time": None, "why_unknown": "the file has no passages of it"}
    by_date = {row["key"]: row for row in dates}
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return Figures(
        period[0] if period else nothing, [by_date.get(day, {"key": day, **nothing}) for day in days], hours
    )


@app.function
def sentence_of(figures: Figures, first: date, last: date, line: Line) -> str:
    """Say the share of a period with its interval, and how much of it is known."""
    row, when = figures.period, ReportPeriod(Period(first, last), "").when
    if row["on_time"] is None:
        return (
            f"It is not known what share of the passages of {line.subject} was on time {when}: "
            f"{row['why_unknown']}."
        )
    return (
        f"{share_with_interval(row, 'on_time')} of the passages of {line.subject} were on time {when}; "
        f"{known_text(row)}; on time: from {row['early_seconds']} s early to {row['late_seconds']} s late."
    )


@app.function
def unknown_text(rows: Sequence[Row], name: str) -> str:
    """Say of which dates or hours the share is not known, and why; an empty text if there are none."""
    unknown = [f"{row['key']} ({row['why_unknown']})" for row in rows if row["on_time"] is None]
    return f"Not known, and therefore striped: {name} {', '.join(unknown)}." if unknown else ""


@app.function
def chart_of(rows: Sequence[Row], title: str) -> alt.LayerChart | alt.FacetChart:
    """Draw the share in percent for each key with its 95 % interval as a band; unknown keys are striped."""
    data = [
        {
            "key": f"{row['key']}",
            "due": row["n_due"],
            "text": text_of(row),
            "share": None if row["on_time"] is None else 100 * row["on_time"],
            "low": 0 if row["on_time"] is None else 100 * row["on_time_low"],
            "high": 100 if row["on_time"] is None else 100 * row["on_time_high"],
        }
        for row in rows
    ]
    stripes = [
        {"color": "transparent" if number % 2 else UNKNOWN, "offset": end / N_STRIPES}
        for number in range(N_STRIPES)
        for end in (number, number + 1)
    ]
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X(
            "key:O",
            title=title,
            sort=[each["key"] for each in data],
            axis=alt.Axis(labelAngle=0, labelOverlap=True),
        ),
        tooltip=[alt.Tooltip("key:N", title=title), alt.Tooltip("text:N", title="on time"), "due:Q"],
    )
    known = base.transform_filter("isValid(datum.share)")
    unknown = base.transform_filter("!isValid(datum.share)")
    low = alt.Y("low:Q", title="% on time", scale=alt.Scale(domain=[0, 100]))
    return alt.layer(
        known.mark_bar(color=BAND, width={"band": 0.6}).encode(y=low, y2="high:Q"),
        known.mark_tick(color=FIGURE, thickness=3, width={"band": 0.6}).encode(y="share:Q"),
        unknown.mark_bar(
            color={"gradient": "linear", "x1": 0, "x2": 0, "y1": 0, "y2": 1, "stops": stripes},
            width={"band": 0.6},
        ).encode(y=low, y2="high:Q"),
    ).properties(width="container", height=240)


@app.function
def text_of(row: Row) -> str:
    """Return a share with its interval, such as `58 % (56–60)`, or why it is not known."""
    if row["on_time"] is None:
        return f"not known: {row['why_unknown']}"
    return with_ends(row["on_time"], row["on_time_low"], row["on_time_high"], "share", "interval")


@app.class_definition
class Parser(ArgumentParser):
    """Reads a command line; UnusableError if it is wrong, as an app must not end with it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UnusableError(message)


@app.function
def arguments_of(given: Sequence[str]) -> Namespace:
    """Read `file`, `operator`, `first`, `last`, `line` and `direction`, each None if not given.

    UnusableError if the command line is wrong.
    """
    parser = Parser(description="Say how punctual the network or a line was, from a published file.")
    parser.add_argument("--file", type=Path, help="the published file; by default that of TRANSIT_DATA_DIR")
    parser.add_argument("--operator", help="where the file has several; by default the first")
    parser.add_argument("--from", dest="first", type=date.fromisoformat, help="first date: 2026-03-02")
    parser.add_argument("--to", dest="last", type=date.fromisoformat, help="last date")
    parser.add_argument("--line", help="line, by its code such as 018-00; by default all")
    parser.add_argument("--direction", help="its direction; by default the first")
    return parser.parse_args(given)


@app.function
def choice_of(asked: Namespace, contents: Contents) -> tuple[date, date, Line]:
    """Return the period and the line asked for, by default all; UnusableError if the file lacks them."""
    first, last = asked.first or contents.first, asked.last or contents.last
    if not contents.first <= first <= last <= contents.last:
        raise UnusableError(f"{first} to {last} is no period within {contents.first} to {contents.last}")
    for line in contents.lines:
        if asked.line == line.code and asked.direction in {None, line.direction}:
            return first, last, line
    codes = ", ".join(sorted({line.code for line in contents.lines if line.code}))
    raise UnusableError(
        f"the file has no line {' '.join(filter(None, [asked.line, asked.direction]))} among these: {codes}"
    )


@app.function
def refuse(error: TransitError) -> NoReturn:
    """Show what is wrong: a script ends with it, an app shows it in place of what follows."""
    if mo.app_meta().mode == "script":
        sys.exit(str(error))
    mo.stop(True, mo.callout(str(error), kind="danger"))
    raise error


@app.cell
def _():
    mo.md("""
    # How punctual was it?

    The share of passages that were on time, of all lines or one, as the published file says it. A bar is the
    95 % interval, the mark in it is the share. What is not known is striped: it is not zero.
    """)
    return


@app.cell
def _():
    try:
        asked = arguments_of(sys.argv[1:])
        default = asked.file or published_database(load_settings().data_dir)
    except TransitError as error:
        refuse(error)
    path_field = mo.ui.text(f"{default}", label="Published file", full_width=True)
    path_field
    return asked, path_field


@app.cell
def _(asked, path_field):
    path = Path(path_field.value)
    try:
        operators = operators_of(path)
        operator = asked.operator or operators[0]
        if operator not in operators:
            raise UnusableError(f"{path} holds nothing of {operator}, but of {', '.join(operators)}")
    except TransitError as error:
        refuse(error)
    operator_field = mo.ui.dropdown(operators, operator, label="Operator")
    operator_field if len(operators) > 1 else None
    return operator_field, path


@app.cell
def _(asked, operator_field, path):
    try:
        contents = contents_of(path, operator_field.value)
        choice = choice_of(asked, contents)
    except TransitError as error:
        refuse(error)
    return choice, contents


@app.cell
def _(choice, contents):
    period_field = mo.ui.date_range(contents.first, contents.last, choice[:2], label="Service dates")
    line_field = mo.ui.dropdown(
        {each.label: each for each in contents.lines}, choice[2].label, label="Line", searchable=True
    )
    mo.hstack([period_field, line_field], justify="start")
    return line_field, period_field


@app.cell
def _(contents, line_field, path, period_field):
    first, last = period_field.value
    line = line_field.value or Line()
    figures = figures_of(path, contents.operator, first, last, line)
    sentence = sentence_of(figures, first, last, line)
    mo.callout(sentence)
    return figures, line, sentence


@app.cell
def _(figures, line):
    mo.vstack(
        [
            mo.md(f"## By date: {line.subject}"),
            chart_of(figures.dates, "service date"),
            mo.md(unknown_text(figures.dates, "the dates")),
        ]
    )
    return


@app.cell
def _(figures, line):
    mo.vstack(
        [
            mo.md(f"## By hour: {line.subject}"),
            chart_of(figures.hours, "hour of the service day; 25 is one o'clock of the next date"),
            mo.md(unknown_text(figures.hours, "the hours")),
        ]
    )
    return


@app.cell
def _(contents):
    mo.md(f"""
    From the file of {contents.operator} that was published at {contents.published_at:%Y-%m-%d %H:%M} UTC, by
    its function `punctuality_between`. Do not average shares: ask for another period or line.
    """)
    return


@app.cell
def _(figures, sentence):
    if mo.app_meta().mode == "script":
        print(sentence)
        for row in (*figures.dates, *figures.hours):
            print(f"{row['key']}: {text_of(row)}")
    return


if __name__ == "__main__":
    app.run()
