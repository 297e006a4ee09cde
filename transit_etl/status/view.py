"""What `transit-etl status` shows: one screen that says whether all is well, and if not, where to look."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from transit_etl.status.installation import Installation, LineCoverage, Usage

N_LINES = 8
BAR_CELLS = 20
ENOUGH, LITTLE = 0.95, 0.5  # of the allowance used, of a line's stops seen
LATE = timedelta(minutes=30)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def show(found: "Installation", console: Console) -> None:
    """Print how an installation is doing."""
    console.print(
        Group(
            Text.assemble((found.operator, "bold"), f" at {found.base_url}, {_at(found.now)}"),
            Text(f"data in {found.data_dir}", style="dim"),
            Text(),
            *_allowance(found),
            Text(),
            *_coverage(found),
            Text(),
            _storage(found),
        ),
        highlight=False,
        soft_wrap=not console.is_terminal,
    )


def _allowance(found: "Installation") -> Iterator[RenderableType]:
    total = sum(each.n_last_minute for each in found.usage)
    share = sum(each.share for each in found.usage)
    yield Text.assemble(
        ("Allowance  ", "bold"),
        f"{total} of {found.rate_per_minute} in the last minute, {share:.1%} of the last hour's",
    )
    yield from _pace(found)
    if found.usage:
        yield _usage(found)
    else:
        yield Text("Nothing was asked yet: begin with `transit-etl collect lines`.", style="yellow")


def _pace(found: "Installation") -> Iterator[Text]:
    pace = found.pace
    if pace is None:
        return
    if pace.blocked_until is not None:
        seconds = (pace.blocked_until - found.now).total_seconds()
        yield Text(f"Refused (429): nothing is sent for another {max(0, seconds):.0f} seconds.", style="red")
    if pace.rate_per_minute < found.rate_per_minute:
        yield Text(f"Slowed down after a 429: {pace.rate_per_minute:.0f} a minute for now.", style="yellow")
    if pace.waiting:
        yield Text(f"Waiting for a permit: {_counts(pace.waiting)}.", style="dim")


def _usage(found: "Installation") -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("went to", "minute", "hour", "good", "429"):
        table.add_column(heading, justify="left" if heading == "went to" else "right")
    table.add_column("of the allowance")
    table.add_column("last answer")
    for each in found.usage:
        table.add_row(*_usage_row(each, found.now))
    return table


def _usage_row(usage: "Usage", now: datetime) -> list[RenderableType]:
    bad = usage.n_sent - usage.n_good
    good = Text(f"{usage.n_good:,}", style="yellow" if bad > 0.1 * usage.n_sent else "")
    limited = Text(f"{usage.n_rate_limited:,}", style="red" if usage.n_rate_limited else "dim")
    name = (
        usage.kind if set(usage.endpoints) <= {usage.kind} else f"{usage.kind} ({_counts(usage.endpoints)})"
    )
    return [
        name,
        f"{usage.n_last_minute:,}",
        f"{usage.n_sent:,}",
        good,
        limited,
        _bar(usage.share),
        _ago(usage.last_received_at, now),
    ]


def _coverage(found: "Installation") -> Iterator[RenderableType]:
    if not found.lines:
        yield Text.assemble(
            ("Coverage   ", "bold"), "no stop is known yet: collect lines and stops, and stage"
        )
        return
    n_seen = sum(line.n_seen == line.n_stops for line in found.lines)
    yield Text.assemble(
        ("Coverage   ", "bold"),
        f"{n_seen} of {len(found.lines)} lines had every stop seen in the last hour; "
        f"{found.n_stops_never_seen} of {found.n_stops} stops were never seen",
    )
    yield Text(f"           longest unseen: stop {found.unseen}, {_ago(found.unseen_since, found.now)}")
    evidence = found.evidence
    if evidence.share is not None:
        yield Text.assemble(
            ("Evidence   ", "bold"),
            f"{evidence.share:.1%}: of {evidence.n_due:,} passages that came due in the last hour "
            f"{evidence.n_evidenced:,} were seen gone within a minute, {evidence.n_bounded:,} later",
        )
    least = [line for line in found.lines if line.share < 1][:N_LINES]
    if least:
        yield _lines(least, found.now)


def _lines(lines: list["LineCoverage"], now: datetime) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("least covered")
    table.add_column("stops", justify="right")
    table.add_column("seen in the last hour")
    table.add_column("longest unseen")
    for line in lines:
        name = f"{line.line_number} ({line.line_code})" if line.line_number else line.line_code
        unseen = f"{line.unseen}, {_ago(line.unseen_since, now)}"
        is_late = line.unseen_since is None or now - line.unseen_since > LATE
        table.add_row(name, str(line.n_stops), _bar(line.share), Text(unseen, "yellow" if is_late else ""))
    return table


def _storage(found: "Installation") -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    waiting = f"not staged yet: {_counts(found.waiting)}" if found.waiting else "all finished ones are staged"
    grid.add_row("Windows", f"{found.n_open} being written, {waiting}")
    built = "never" if found.built_at is None else _ago(found.built_at, found.real_now)
    grid.add_row("Build", f"last written {built}")
    grid.add_row("Published", _published(found))
    for each in found.rejected:
        said = Text(f"{each.dataset} of {each.window}: {each.rule}: {each.reason}", style="red")
        grid.add_row(Text("Rejected", style="red"), said)
    return grid


def _published(found: "Installation") -> str:
    if found.published_at is None:
        return "nothing yet"
    return (
        f"build {found.published_build}, {_ago(found.published_at, found.real_now)}, "
        f"with answers until {_at(found.published_until)}"
    )


def _bar(share: float) -> Text:
    full = round(min(1.0, share) * BAR_CELLS)
    style = "green" if share >= ENOUGH else "yellow" if share < LITTLE else ""
    bar = ("█" * full, style), ("░" * (BAR_CELLS - full), "bright_black")
    return Text.assemble(*bar, f" {share:6.1%}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _at(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC" if instant else "never"


def _ago(instant: datetime | None, now: datetime) -> str:
    if instant is None:
        return "never"
    age = now - instant
    if age < 2 * MINUTE:
        return f"{max(0, age // SECOND)} s ago"
    if age < 2 * HOUR:
        return f"{age // MINUTE} min ago"
    return f"{age // HOUR} h ago" if age < 2 * DAY else f"{age // DAY} days ago"
