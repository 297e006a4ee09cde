"""Shows the status on one screen: whether all is well and, if not, where to look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from transit_base.files import misplaced_text
from transit_etl.operations.status.allowance import KindRequests
from transit_etl.operations.status.coverage import LineCoverage
from transit_etl.operations.status.facts import Status
from transit_etl.operations.status.lake import LEDGER_DAYS
from transit_etl.operations.status.outage import Outage

N_LINES = 8
BAR_CELLS = 10
LABEL_WIDTH = 9
HIGH, LOW = 0.95, 0.5  # shares from which, and below which, a bar is coloured
LATE = timedelta(minutes=30)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def show_status(status: Status, console: Console, others: Sequence[Status] = ()) -> None:
    """Print the status, and in a line each that of other operators of the installation.

    Lines that are too long for the console are folded next to their label.
    """
    console.print(
        Group(
            Text.assemble((status.operator, "bold"), f" at {status.base_url}, {_at(status.now)}"),
            Text(f"data in {status.data_dir}", style="dim"),
            *_rehearsed(status),
            *_outage(status),
            Text(),
            *_allowance(status),
            Text(),
            *_coverage(status),
            Text(),
            *_windows_and_warehouse(status),
            *_others(others),
        ),
        highlight=False,
        soft_wrap=not console.is_terminal,
    )


def _rehearsed(status: Status) -> Iterator[Text]:
    if status.rehearsals:
        when = ", ".join(map(str, status.rehearsals))
        said = f"REHEARSED on a virtual clock: {when}. None of these answers counts here; published figures "
        yield Text(said + "are of them too", style="bold yellow")


def _outage(status: Status) -> Iterator[Text]:
    if status.outage is not None:
        yield Text(describe_outage(status.outage, status.now), style="bold red")


def describe_outage(outage: Outage, now: datetime) -> str:
    """Say since when the upstream is down, and what came instead of usable answers."""
    since = outage.since
    return (
        f"UPSTREAM DOWN since {_at(since)} ({ago(since, now)}): "
        f"no usable answer but {_counts(outage.outcomes)}; "
        f"last good answer {last_answer(outage.last_good_at, now)}"
    )


def _allowance(status: Status) -> Iterator[RenderableType]:
    n_last_minute = sum(each.n_last_minute for each in status.usage)
    share = sum(each.share for each in status.usage)
    used = (
        f"{n_last_minute} of {status.rate_per_minute} requests used in the last minute, "
        f"{share:.1%} of the last hour's"
    )
    yield _section("Allowance", [Text(used), *_budget_error(status), *_pace(status)])
    if status.usage:
        yield _requests(status)
    else:
        yield Text("No request was sent yet: begin with `transit-etl run`.", style="yellow")


def _budget_error(status: Status) -> Iterator[Text]:
    if status.budget_error is not None:
        yield Text(status.budget_error, style="red")


def _pace(status: Status) -> Iterator[Text]:
    pace = status.pace
    if pace is None:
        return
    if pace.blocked_until is not None:
        seconds = max(0, (pace.blocked_until - status.now).total_seconds())
        yield Text(
            f"told to wait (429, 503): no request is sent for another {seconds:.0f} seconds", style="red"
        )
    if pace.rate_per_minute < status.rate_per_minute:
        yield Text(f"slowed down after a 429: {pace.rate_per_minute:.0f} requests a minute", style="yellow")
    if pace.waiting:
        yield Text(f"waiting for a permit: {_counts(pace.waiting)}", style="dim")


def _requests(status: Status) -> Table:
    table = _table("requests for")
    for heading in ("minute", "hour", "good", "429"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("of the allowance", no_wrap=True)
    table.add_column("last good answer", no_wrap=True)
    for each in status.usage:
        table.add_row(*_requests_row(each, status.now))
    return table


def _requests_row(requests: KindRequests, now: datetime) -> list[RenderableType]:
    n_bad = requests.n_sent - requests.n_good
    good = Text(f"{requests.n_good:,}", style="yellow" if n_bad > 0.1 * requests.n_sent else "")
    limited = Text(f"{requests.n_rate_limited:,}", style="red" if requests.n_rate_limited else "dim")
    is_one = set(requests.endpoints) <= {requests.kind}
    return [
        Text(requests.kind if is_one else f"{requests.kind} ({_counts(requests.endpoints)})"),
        f"{requests.n_last_minute:,}",
        f"{requests.n_sent:,}",
        good,
        limited,
        _bar(requests.share),
        last_answer(requests.last_good_at, now),
    ]


def _coverage(status: Status) -> Iterator[RenderableType]:
    if not status.lines:
        yield _section("Coverage", [Text("no stop is known yet: `transit-etl run` collects lines and stops")])
        return
    n_covered = sum(line.n_seen == line.n_stops for line in status.lines)
    sentences = [
        f"{n_covered} of {len(status.lines)} lines had a good answer for every stop in the last hour",
        f"{status.n_stops_never_seen} of {status.n_stops} stops had none in {LEDGER_DAYS} days",
        f"longest without one: stop {status.unseen}, {_since(status.unseen_since, status.now)}",
    ]
    yield _section("Coverage", map(Text, sentences))
    evidence = status.evidence
    if evidence.share is not None:
        said = (
            f"{evidence.share:.1%}: of {evidence.n_due:,} passages expected in the last hour, "
            f"{evidence.n_evidenced:,} were gone within a minute of their last listing, "
            f"{evidence.n_bounded:,} later"
        )
        yield _section("Evidence", [Text(said)])
    least = [line for line in status.lines if line.share < 1][:N_LINES]
    if least:
        yield _lines(least, status.now)


def _lines(lines: list[LineCoverage], now: datetime) -> Table:
    table = _table("least covered lines")
    table.add_column("stops", justify="right")
    table.add_column("in the last hour", no_wrap=True)
    table.add_column("longest without an answer")
    for line in lines:
        name = f"{line.line_number} ({line.line_code})" if line.line_number else line.line_code
        is_late = line.unseen_since is None or now - line.unseen_since > LATE
        unseen = Text(f"{line.unseen}, {_since(line.unseen_since, now)}", "yellow" if is_late else "")
        table.add_row(Text(name), str(line.n_stops), _bar(line.share), unseen)
    return table


def _windows_and_warehouse(status: Status) -> Iterator[RenderableType]:
    waiting = f"not staged yet: {_counts(status.waiting)}" if status.waiting else "all finished are staged"
    built = "never" if status.built_at is None else f"last written {ago(status.built_at, status.real_now)}"
    if status.build_seconds is not None:
        built += f"; the last one that passed took {status.build_seconds:,.0f} s"
    yield _section("Windows", [Text(f"{status.n_open} being written, {waiting}")])
    yield from _store(status)
    yield _section("Build", [Text(built)])
    yield _section("Published", [Text(_published(status))])
    if status.audit:
        yield _section("Audit", [Text(str(status.audit))])
    if status.findings:
        yield _section("Findings", map(Text, status.findings))
    if status.future_until:
        said = (
            f"answers until {_at(status.future_until)} lie in the future, by a moved or wrong clock: "
            "none of them is counted above"
        )
        yield _section("Future", [Text(said, style="yellow")])
    if status.misplaced:
        yield _section("Misplaced", [Text(misplaced_text(path)) for path in status.misplaced], style="red")
    if status.unreadable:
        yield _section("Unreadable", map(Text, status.unreadable), style="red")
    rejected = [f"{each.dataset} of {each.window}: {each.rule}: {each.reason}" for each in status.rejected]
    if rejected:
        again = "after a repair, `transit-etl reprocess --from DATE --to DATE` stages their days again"
        yield _section("Rejected", map(Text, [*rejected, again]), style="red")


def _store(status: Status) -> Iterator[RenderableType]:
    if status.store is None:
        return
    last = status.store.last
    waits = f"{status.store} wait" if status.store else "nothing waits"
    sentences = [Text(f"{waits} for the object store; last compared {ago(last.at, status.real_now)}")]
    yield _section("Store", [*sentences, *([Text(last.error, style="yellow")] if last.error else [])])


def _published(status: Status) -> str:
    if status.published_error is not None:
        return status.published_error
    if status.published_at is None:
        return "nothing yet"
    took = "" if status.publish_seconds is None else f" in {status.publish_seconds:,.0f} s"
    return (
        f"build {status.published_build}, {ago(status.published_at, status.real_now)}{took}, "
        f"with {_published_answers(status)}"
    )


def _published_answers(status: Status) -> str:
    if status.published_until is None and status.rehearsals:
        return "rehearsed answers alone"
    return f"answers until {_at(status.published_until)}"


def _others(others: Sequence[Status]) -> Iterator[RenderableType]:
    if not others:
        return
    table = _table("other operators")
    for heading in ("minute", "allowed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("of the last hour's", no_wrap=True)
    table.add_column("last good answer", no_wrap=True)
    for each in others:
        answered_at = max((at for at in each.last_good_at.values() if at), default=None)
        is_down = each.outage is not None
        table.add_row(
            Text(each.operator),
            f"{sum(kind.n_last_minute for kind in each.usage):,}",
            f"{each.rate_per_minute:,}",
            _bar(sum(kind.share for kind in each.usage)),
            Text(last_answer(answered_at, each.now), style="bold red" if is_down else ""),
        )
    yield Text()
    yield table


def _section(label: str, sentences: Iterable[Text], style: str = "") -> Table:
    """Put sentences below each other, next to their label."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=style or "bold", min_width=LABEL_WIDTH)
    grid.add_column(style=style, overflow="fold")
    for number, sentence in enumerate(sentences):
        grid.add_row("" if number else label, sentence)
    return grid


def _table(first_heading: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first_heading)
    return table


def _bar(share: float) -> Text:
    full = round(min(1.0, share) * BAR_CELLS)
    style = "green" if share >= HIGH else "yellow" if share < LOW else ""
    bar = ("█" * full, style), ("░" * (BAR_CELLS - full), "bright_black")
    return Text.assemble(*bar, f" {share:6.1%}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _at(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC" if instant else "never"


def last_answer(answered_at: datetime | None, now: datetime) -> str:
    """Write when the last answer of the ledger was; of what is older than it reads nothing is known."""
    return f"none in {LEDGER_DAYS} days" if answered_at is None else ago(answered_at, now)


def _since(instant: datetime | None, now: datetime) -> str:
    return f"no answer in {LEDGER_DAYS} days" if instant is None else f"last answer {ago(instant, now)}"


def ago(instant: datetime | None, now: datetime) -> str:
    """Write how long ago an instant was, in the largest unit that says enough; `never` for None."""
    if instant is None:
        return "never"
    return f"{span(now - instant)} ago"


def span(length: timedelta) -> str:
    """Write how long something lasts, in the largest unit that says enough."""
    if length < 2 * MINUTE:
        return f"{max(0, length // SECOND)} s"
    if length < 2 * HOUR:
        return f"{length // MINUTE} min"
    return f"{length // HOUR} h" if length < 2 * DAY else f"{length // DAY} days"
