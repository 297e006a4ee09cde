"""Whatever others wrote is read, or refused in one clear line; `make fuzz` tries more of it."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutation import repeated
from tests.fuzz.target import NOW, START, Target
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.xdist_group("fuzz")

WINDOW = b"endpoint=passages\nwindow=20261118T070000Z-passages-w\ndate=2026-11-18\n\n"
BUDGET = {
    "format": 1, "touched_at": 1772000000.0, "granted_at": 0.0, "paced_at": 0.0, "blocked_until": 0.0,
    "slowed_at": 0.0, "slow_share": 1.0, "granted_since": {}, "permits": [], "demands": {},
}  # fmt: skip
JOURNAL = {
    "start": START.isoformat(),
    "done_until": NOW.isoformat(),
    "budget": json.dumps(BUDGET),
    "n_refused": 0,
}

RECEIVED = {"type": "instant", "values": [START.replace(tzinfo=None).isoformat()]}
GOOD = {"type": "flag", "values": [True]}
TEXTS = {"type": "text", "values": ["x"]}


def encoded(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def damaged_schema() -> bytes:
    """Return a SQLite file whose schema names a table by bytes that are no text."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table request_budget (credential text primary key, state text)")
        return connection.serialize().replace(b"CREATE", b"\x86REATE").replace(b"request_b", b"\x86equest_b")


# What `make fuzz` found: the target, what happened, and the input made as small as it gets.
ENTRY = {"size_bytes": 1, "modified_ns": 1, "sha256": ""}
FINDS = [
    ("raw lines", "status ended at a line that is no JSON", WINDOW + b"\xab\n"),
    ("raw lines", "status ended at an instant that is none", WINDOW + encoded({"sent_at": "NaN"})),
    ("raw lines", "learning from the last hour ended at a line that is no row", WINDOW + b"[]\n"),
    ("open windows", "learning from other workers ended at a line that is no row", b"\n\n[]\n"),
    ("lake tables", "status ended at metadata that is no list of windows",
     encoded({"dataset": "requests", "window": "day", "metadata": "[", "columns": {"key": TEXTS}})),
    ("lake tables", "merging ended at a column of another type",
     encoded({"dataset": "lines", "window": "w", "columns": {"row_number": TEXTS}})),
    ("checksum list", "verify ended at a path that is a number",
     encoded(ENTRY | {"path": 1.5})),
    ("checksum list", "verify ended at a path without a dataset",
     encoded(ENTRY | {"path": "lake/operator=emulated/date=2026-11-18/w.parquet"})),
    ("checksum list", "verify ended at a path without a date",
     encoded(ENTRY | {"path": "quarantine/operator=emulated/dataset=lines/w.parquet"})),
    ("budget text", "a share that no 429 leaves stopped all requests",
     encoded(BUDGET | {"slow_share": 5e-324, "blocked_until": 1772000100.0})),
    ("budget file", "the message about a damaged schema was no text", damaged_schema()),
    ("lake tables", "status ended at requests of an endpoint that is not in the table",
     encoded({"dataset": "requests", "window": "w",
              "columns": {"endpoint": TEXTS, "received_at": RECEIVED, "is_good": GOOD}})),
    ("journal", "the refusal had two lines", encoded(JOURNAL | {"policy": "a\nb"})),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, _, data in FINDS], ids=[what for _, what, _ in FINDS]
)
def test_what_was_found_is_read_or_refused(name: str, data: bytes) -> None:
    TARGETS[name].run(data)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_real_inputs_are_read(target: Target, collected: Path) -> None:
    seeds = target.seeds(collected)
    assert seeds
    target.run(seeds[0])


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_changed_inputs_are_read_or_refused(target: Target, collected: Path) -> None:
    seeds = target.seeds(collected)

    @settings(max_examples=target.n_quick, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(seeds), st.integers(0, 2**64) | st.binary(max_size=200))
    def check(seed: bytes, change: int | bytes) -> None:
        target.run(change if isinstance(change, bytes) else changed(seed, change))

    def changed(seed: bytes, number: int) -> bytes:
        return repeated(target.mutate, seed, random.Random(number))  # noqa: S311 - not a secret

    check()
