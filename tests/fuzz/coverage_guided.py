"""Runs one target under atheris, which keeps the inputs that reach new code. A find does not end the run.

    python -m tests.fuzz.coverage_guided TARGET FOLDER [options of libFuzzer]

`FOLDER/corpus` has the inputs to begin with, and those kept; `FOLDER/finds` each input that raised, with its
traceback. Of the finds that raised the same at the same line the shortest is kept.
"""

import logging
import random
import sys
import traceback
from hashlib import sha256
from pathlib import Path

import atheris  # type: ignore[import-untyped]

with atheris.instrument_imports(include=["transit_etl"]):
    from tests.fuzz.targets import TARGETS
from tests.fuzz.mutation import repeated

_STRUCTURED = 0.8  # share of the inputs that are changed by the target's own mutation


def main(name: str, folder: Path, options: list[str]) -> None:
    """Fuzz until libFuzzer's options end it, which ends the process."""
    logging.disable(logging.CRITICAL)
    target, finds = TARGETS[name], folder / "finds"

    def check(data: bytes) -> None:
        try:
            target.run(data)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            _keep(finds, data, error)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        dice = random.Random(seed)  # noqa: S311 - not a secret
        if dice.random() < _STRUCTURED:
            return repeated(target.mutate, data, dice, max_size)
        changed: bytes = atheris.Mutate(data, min(max_size, max(1, 2 * len(data))))
        return changed

    arguments = [sys.argv[0], str(folder / "corpus"), f"-artifact_prefix={finds}/", *options]
    atheris.Setup(arguments, check, custom_mutator=mutate)
    atheris.Fuzz()


def _keep(finds: Path, data: bytes, error: Exception) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/site-packages/" not in frame.filename] or frames
    places = [f"{frame.filename}:{frame.lineno}" for frame in (own[-1], frames[-1])]
    place = " ".join([type(error).__name__, *places])
    path = finds / f"find-{sha256(place.encode()).hexdigest()[:12]}"
    if not path.exists() or len(data) < path.stat().st_size:
        path.write_bytes(data)
        path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), "utf-8", "replace")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
