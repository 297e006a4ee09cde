"""Changes inputs where it matters: inside the JSON of an answer, line or state, before it is compressed."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

Dice = random.Random
Mutate = Callable[[bytes, Dice], bytes]

TEXTS = (
    "", " ", "\x00", "\n", "\ud83d", "\ude00", "&#55357;", "&#0;", "&#999999;", "[/red]", "$.a[0]", "~1~0/",
    "'", '"', "../..", "*ERR*", "ok", "passages", "lines", "requests", "emulated", "0001", "015-00",
    "infinity", "-infinity", "nan", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z",
    "2026-11-20T08:00:00+99:99", "2026-03-04T07:00:00", "294247-01-10", "24:00:00", "99:59:59", "-1:00",
    "999:00", "9223372036854775808'", "1e999", "31/12/9999 23:59", "x" * 300,
)  # fmt: skip
NUMBERS = (0, -1, 1, 1.5, 2**31, 2**63, 2**64, -(2**63), 10**400, 1e308, -1e308, 5e-324)
_PLAIN: Sequence[Callable[[], object]] = (
    lambda: None,
    lambda: True,
    lambda: False,
    list,
    dict,
    lambda: [[]],
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: _deep(200),
)
_MOST_BYTES = 16_000


def _deep(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def of_bytes(data: bytes, dice: Dice) -> bytes:
    """Replace, remove, repeat or insert a few bytes."""
    start, end = sorted(dice.randint(0, len(data)) for _ in range(2))
    end = min(end, start + dice.choice((0, 1, 2, 8, 200)))
    new = dice.choice(
        (dice.randbytes(dice.randint(0, 4)), data[start:end] * 2, b"", _encoded(dice.choice(TEXTS)))
    )
    return data[:start] + new + data[end:]


def of_json(data: bytes, dice: Dice) -> bytes:
    """Change a JSON document in one to three places; what is no JSON is changed as bytes."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return of_bytes(data, dice)
    for _ in range(dice.randint(1, 3)):
        document = _changed(document, dice)
    return _written(document, dice)


def of_lines(data: bytes, dice: Dice) -> bytes:
    """Change one line, or drop, repeat or swap some."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    way = dice.randrange(10)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(at, lines[dice.randrange(len(lines))])
    elif way == 2:
        lines[at] = of_bytes(lines[at], dice)
    else:
        lines[at] = of_json(lines[at], dice)
    return b"\n".join(lines)


def of_text(data: bytes, dice: Dice) -> bytes:
    """Change one of the lines `name=value`: its value, or all of it as bytes."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    name, _, value = lines[at].partition(b"=")
    new = dice.choice(
        (_encoded(dice.choice(TEXTS)), str(dice.choice(NUMBERS)).encode(), of_bytes(value, dice))
    )
    lines[at] = name + b"=" + new if dice.randrange(5) else of_bytes(lines[at], dice)
    return b"\n".join(lines)


def with_head(mutate: Mutate) -> Mutate:
    """Return a mutation of what follows the first empty line; the head is changed as lines of text."""

    def mutated(data: bytes, dice: Dice) -> bytes:
        head, separator, rest = data.partition(b"\n\n")
        if dice.randrange(4):
            return head + separator + mutate(rest, dice)
        return of_text(head, dice) + separator + rest

    return mutated


def _changed(document: Any, dice: Dice) -> Any:  # noqa: ANN401 - any JSON
    """Change a document at a random place, whichever level that is on."""
    if isinstance(document, list) and document and dice.randrange(6):
        return _changed_list(document, dice)
    if isinstance(document, dict) and document and dice.randrange(6):
        return _changed_object(document, dice)
    if isinstance(document, str) and dice.randrange(3):
        return _changed_text(document, dice)
    return _value(dice)


def _changed_list(document: list[Any], dice: Dice) -> list[Any]:
    at = dice.randrange(len(document))
    way = dice.randrange(12)
    if way == 0:
        return document[:at] + document[at + 1 :]
    if way == 1:
        return document[:at] + [document[at]] * dice.choice((2, 3, 50)) + document[at + 1 :]
    if way == 2:
        return dice.sample(document, len(document))
    return [_changed(one, dice) if number == at else one for number, one in enumerate(document)]


def _changed_object(document: dict[str, Any], dice: Dice) -> dict[str, Any]:
    name = dice.choice(sorted(document))
    way = dice.randrange(12)
    if way == 0:
        return {other: value for other, value in document.items() if other != name}
    if way == 1:
        return document | {dice.choice(TEXTS): document[name]}
    if way == 2:
        return document | {name: document[dice.choice(sorted(document))]}
    return document | {name: _changed(document[name], dice)}


def _changed_text(text: str, dice: Dice) -> str:
    try:
        inner = json.loads(text)  # such as the body of an answer in a raw line
    except (ValueError, RecursionError):
        inner = None
    if isinstance(inner, dict | list):
        return json.dumps(_changed(inner, dice), ensure_ascii=dice.random() < 0.5)
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(TEXTS) + text[at + dice.choice((0, 1, 5)) :]


def _value(dice: Dice) -> object:
    return dice.choice((lambda: dice.choice(TEXTS), lambda: dice.choice(NUMBERS), *_PLAIN))()


def _written(document: object, dice: Dice) -> bytes:
    try:
        if dice.randrange(4):
            return json.dumps(document, separators=(",", ":")).encode()
        return _encoded(json.dumps(document, ensure_ascii=False))
    except (ValueError, RecursionError):  # a number that is too long to be written
        return b"{}"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def repeated(mutate: Mutate, data: bytes, dice: Dice, most_bytes: int = _MOST_BYTES) -> bytes:
    """Mutate once or some more times, as long as the input stays short."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        data = mutate(data, dice)[:most_bytes]
    return data
