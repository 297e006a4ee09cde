"""Decides how the service status publishes a disruption: when it is listed, how it reads, how it is edited.

Publishers announce works and withdraw them, correct starts and causes, forget lines, write one name in
several ways, and let an event vanish for some minutes.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from transit_emulator import noise
from transit_emulator.days.events import DAY, HOUR, MINUTE, Event, Version, one_of
from transit_emulator.texts import label

_ADDENDUM = "Aggiornamento: si prevedono tempi lunghi."
_FLAP_MINUTES = (3, 20)
_MOST_FLAPS = 3
_SHORTEST_SEGMENT = 30 * MINUTE  # between two absences, and before the first one
_CORRECTIONS = (5, 10, 15, 30, 60, 120, 180)  # minutes by which a start is corrected


@dataclass(frozen=True, slots=True)
class Shares:
    """How often a status entry is published in an unusual way: shares of the events it can happen to."""

    announced: float = 0.25  # of works and demonstrations: listed one to fourteen days before the start
    withdrawn_per_event: float = 0.1  # announced events that never happen, per event that does
    flapping: float = 0.08
    message_edited: float = 0.3
    line_added: float = 0.08  # of those of several lines: one line is named only later
    line_removed: float = 0.06
    cause_edited: float = 0.08
    start_corrected: float = 0.08  # published wrong, and right later
    start_rewritten: float = 0.04  # published right, and later as the time of the edit
    padded: float = 0.06  # labels with zeros: 011 for 11
    respelled: float = 0.03  # labels with zeros from some time on
    slash: float = 0.04  # 17/ for 17
    one_text: float = 0.05  # "12, 13" in place of an array
    name_variant: float = 0.35  # of the notices about plant: the name in another spelling
    name_respelled: float = 0.06  # of the notices about plant: the name in another spelling from some time on
    second_notice: float = 0.4  # of the failures of plant that last over two hours


SHARES = Shares()
_NAME_VARIANTS = ("upper", "abbreviated", "spaced", "plain")


def published(event: Event, causes: tuple[str, ...] = (), numbers: Collection[str] = ()) -> Event:
    """Return an event with the edits, spellings and absences that are drawn for it.

    It comes with one listing and one version. `causes` are those that a wrong one may be taken from,
    `numbers` those of all lines: a label that would be another line's is never written.
    """
    event = _labelled(event, numbers)
    event = _edited(event, causes)
    return _flapping(event)


def _labelled(event: Event, numbers: Collection[str]) -> Event:
    """Write the labels of the lines as this publisher does."""
    name, first = event.id, event.versions[0]
    classes: tuple[str, ...] = ()
    if first.lines and noise.unit(name, "padded") < SHARES.padded:
        first, classes = replace(first, lines=tuple(map(_padded, first.lines))), ("padded",)
    elif first.lines and noise.unit(name, "slash") < SHARES.slash:
        slashed = [_with_slash(number) for number in first.lines]
        labels = (new if new not in numbers else old for old, new in zip(first.lines, slashed, strict=True))
        first, classes = replace(first, lines=tuple(labels)), ("slash",)
    if first.lines and noise.unit(name, "one text") < SHARES.one_text:
        first, classes = replace(first, is_one_text=True), (*classes, "one_text")
    if first.name and noise.unit(name, "name") < SHARES.name_variant:
        first, classes = replace(first, name=spelled(first.name, name)), (*classes, "spelling")
    return replace(event, versions=(first,), classes=event.classes + classes)


def _edited(event: Event, causes: tuple[str, ...]) -> Event:
    """Return an event with one version more for each kind of edit that is drawn for it."""
    name, true = event.id, event.versions[0]
    kinds = _kinds_of_edits(event, causes)
    seconds = event.unlisted_at - event.listed_at
    edits = [(event.listed_at + int(seconds * noise.unit(name, kind, "at")), kind) for kind in kinds]
    edits = [(max(at // MINUTE * MINUTE, event.listed_at + MINUTE), kind) for at, kind in edits]
    edits = sorted((at, kind) for at, kind in edits if at < event.unlisted_at)
    versions = [_with_mistakes(true, [kind for _, kind in edits], causes, name)]
    for at, kind in edits:
        edited = _EDITS[kind](versions[-1], true, name, at)
        versions.append(replace(edited, valid_from=at))
    classes = event.classes + tuple(kind for _, kind in edits)
    return replace(event, versions=tuple(versions), classes=classes)


def _kinds_of_edits(event: Event, causes: tuple[str, ...]) -> list[str]:
    """Draw which edits an event has among those that are possible for it."""
    first = event.versions[0]
    has_several = len(first.lines) > 1
    possible = {
        "message_edited": SHARES.message_edited,
        "line_added": SHARES.line_added * has_several,
        "line_removed": SHARES.line_removed * has_several,
        "cause_edited": SHARES.cause_edited * (bool(causes) and first.cause is not None),
        "start_corrected": SHARES.start_corrected,
        "start_rewritten": SHARES.start_rewritten * (event.listed_at >= event.started_at),
        "respelled": SHARES.respelled * (bool(first.lines) and "padded" not in event.classes),
        "name_respelled": SHARES.name_respelled * bool(first.name),
    }
    found = [kind for kind, share in possible.items() if noise.unit(event.id, kind) < share]
    excluded = {"line_added": "line_removed", "start_corrected": "start_rewritten"}
    return [kind for kind in found if not any(excluded.get(other) == kind for other in found)]


def _with_mistakes(true: Version, kinds: list[str], causes: tuple[str, ...], name: str) -> Version:
    """Return the first version, with the mistakes that its edits will mend."""
    first = true
    if "line_added" in kinds:
        first = _without_line(first, noise.pick(len(first.lines), name, "added later"))
    if "cause_edited" in kinds:
        wrong = one_of(causes, name, "wrong cause")
        first = replace(first, cause=None if wrong == true.cause else wrong)
    if "start_corrected" in kinds:
        minutes = _CORRECTIONS[noise.pick(len(_CORRECTIONS), name, "corrected by")]
        first = replace(first, starts_at=first.starts_at - minutes * MINUTE)
    return first


_EDITS: dict[str, Callable[[Version, Version, str, int], Version]] = {
    "message_edited": lambda now, _true, _name, _at: replace(now, message=f"{now.message} {_ADDENDUM}"),
    "line_added": lambda now, true, _name, _at: replace(now, lines=true.lines, positions=true.positions),
    "line_removed": lambda now, _true, name, _at: _without_line(
        now, noise.pick(len(now.lines), name, "removed")
    ),
    "cause_edited": lambda now, true, _name, _at: replace(now, cause=true.cause),
    "start_corrected": lambda now, true, _name, _at: replace(now, starts_at=true.starts_at),
    "start_rewritten": lambda now, _true, _name, at: replace(now, starts_at=at),
    "respelled": lambda now, _true, _name, _at: replace(now, lines=tuple(map(_padded, now.lines))),
    "name_respelled": lambda now, _true, name, _at: replace(now, name=spelled(now.name, name + "/again")),
}


def _without_line(version: Version, place: int) -> Version:
    """Return a version without one label, and without the line that it stands for."""
    kept = [number for number in range(len(version.lines)) if number != place]
    return replace(
        version,
        lines=tuple(version.lines[number] for number in kept),
        positions=tuple(version.positions[number] for number in kept),
    )


def _flapping(event: Event) -> Event:
    """Return the event, some of them missing from the list for some minutes, once or several times."""
    name, (first, until) = event.id, event.listed[0]
    n_absences = min(1 + noise.pick(_MOST_FLAPS, name, "flaps"), (until - first) // (3 * _SHORTEST_SEGMENT))
    if n_absences < 1 or noise.unit(name, "flapping") >= SHARES.flapping:
        return event
    segment = (until - first) // n_absences
    listed, begins = [], first
    for number in range(n_absences):
        shortest, longest = _FLAP_MINUTES
        minutes = shortest + noise.pick(longest - shortest + 1, name, "absent", number)
        room = segment - 2 * _SHORTEST_SEGMENT - longest * MINUTE
        absent_from = (
            first + number * segment + _SHORTEST_SEGMENT + int(room * noise.unit(name, "when", number))
        )
        listed.append((begins, absent_from))
        begins = absent_from + minutes * MINUTE
    return replace(event, listed=(*listed, (begins, until)), classes=(*event.classes, "flap"))


def days_ahead(name: str, most: int) -> int:
    """Return how long before its start an event is announced, in seconds: one day or more, by day."""
    return (1 + noise.pick(most, name, "days ahead")) * DAY - noise.pick(12, name, "hours ahead") * HOUR


def delisting_lag(name: str) -> int:
    """Return for how many seconds an event stays listed after its end."""
    return noise.pick(15, name, "delisting lag") * MINUTE


def spelled(name: str, draw: str) -> str:
    """Return the name of a plant in another spelling."""
    kind = one_of(_NAME_VARIANTS, draw, "spelling")
    first, _, rest = name.partition(" ")
    if kind == "upper":
        return name.upper()
    if kind == "abbreviated":
        return f"{first[:3].upper()}. {rest}"
    if kind == "spaced":
        return name.replace(" ", "  ", 1) + " "
    accents = str.maketrans({"à": "a'", "è": "e'", "é": "e'", "ì": "i'", "ò": "o'", "ù": "u'"})
    return name.lower().translate(accents)


def _padded(number: str) -> str:
    return label(number, is_slash=False, is_padded=True)


def _with_slash(number: str) -> str:
    return label(number, is_slash=True, is_padded=False)
