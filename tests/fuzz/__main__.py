"""Fuzzes everything that reads what others wrote; `make fuzz` does it for 30 minutes.

    python -m tests.fuzz [--minutes 30] [TARGET …]

Each target gets its share of the time, in a process of its own. The first inputs are taken from a rehearsal.
What raised is in `build/fuzz/TARGET/finds`; then the exit code is 1.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from tests.accounting import rehearse_world
from tests.fuzz.target import START, Target
from tests.fuzz.targets import TARGETS
from transit_emulator.world import build_world

FOLDER = Path("build/fuzz")
_MEMORY = Path("/dev/shm")  # noqa: S108 - folders of targets are faster in memory
_SLOWEST_SECONDS, _MOST_MB, _LONGEST_INPUT = 120, 4000, 16_000
_FINDS = ("find-", "crash-", "oom-", "timeout-")
_STATUS = re.compile(r"^#(\d+)\t\w+ +cov: (\d+) ft: (\d+)", re.MULTILINE)


def main() -> int:
    """Run the targets one after another and print what each reached."""
    parser = argparse.ArgumentParser(description="Fuzz with atheris.")
    parser.add_argument(
        "targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET", help=", ".join(TARGETS)
    )
    parser.add_argument("--minutes", type=float, default=30, help="of all targets together")
    given = parser.parse_args()
    targets = [TARGETS[name] for name in given.targets or TARGETS]
    with TemporaryDirectory() as scratch:
        rehearsed = rehearse_world(Path(scratch), build_world(seed=5), START, 2)
        for target in targets:
            _write_seeds(target, rehearsed.folder)
    table = Table("target", *("seconds", "executions", "edges", "features", "inputs kept", "finds"))
    share = given.minutes * 60 / sum(target.weight for target in targets)
    n_finds = 0.0
    for target in targets:
        figures = _fuzz(target, share * target.weight)
        n_finds += figures[-1]
        table.add_row(target.name, *(f"{figure:,.0f}" for figure in figures))
    Console().print(table)
    return 1 if n_finds else 0


def _write_seeds(target: Target, rehearsed: Path) -> None:
    corpus = _folder(target) / "corpus"
    for folder in (corpus, _folder(target) / "finds"):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds(rehearsed)):
        (corpus / f"seed-{number}").write_bytes(seed)


def _folder(target: Target) -> Path:
    return FOLDER / target.name.replace(" ", "-")


def _fuzz(target: Target, seconds: float) -> list[float]:
    """Fuzz a target, again when an input ends its process; return its figures."""
    folder, started = _folder(target), time.monotonic()
    n_done, reached = 0, (0, 0)
    with (folder / "log.txt").open("w") as log:
        while (left := seconds - (time.monotonic() - started)) > 1:
            output = _run(target, folder, int(left))
            log.write(output)
            log.flush()
            found = [tuple(map(int, status.groups())) for status in _STATUS.finditer(output)]
            n_done += max((executed for executed, _, _ in found), default=0)
            reached = max([reached, *((edges, features) for _, edges, features in found)])
    finds = [
        path for path in (folder / "finds").iterdir() if path.name.startswith(_FINDS) and not path.suffix
    ]
    return [
        time.monotonic() - started,
        n_done,
        *reached,
        len(list((folder / "corpus").iterdir())),
        len(finds),
    ]


def _run(target: Target, folder: Path, seconds: int) -> str:
    options = [
        f"-max_total_time={seconds}", f"-timeout={_SLOWEST_SECONDS}", f"-rss_limit_mb={_MOST_MB}",
        f"-max_len={_LONGEST_INPUT}", "-print_final_stats=1", "-len_control=0",
    ]  # fmt: skip
    command = [sys.executable, "-m", "tests.fuzz.coverage_guided", target.name, str(folder), *options]
    environment = {**os.environ, "TMPDIR": str(_MEMORY)} if _MEMORY.is_dir() else None
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=environment, check=False
    ).stderr


if __name__ == "__main__":
    sys.exit(main())
