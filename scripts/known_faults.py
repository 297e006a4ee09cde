"""Put ten faults into copies of the checkout, one at a time, and tell which of them the tests find.

    python -m scripts.known_faults

Each fault is one changed line, in another part of the project. The tests named beside it must fail then;
`make test` runs them too. It takes ten minutes; the code is 1 if a fault is not found.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).parents[1]
NOT_COPIED = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "data", "logs", "target")


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A line of a file that is right, what it is changed into, and the tests that must fail then."""

    part: str
    path: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    KnownFault(
        "limiter", "transit_etl/collect/allowance/budget_state.py",
        "len(self.permits) >= limits.allowance", "len(self.permits) > limits.allowance",
        "tests/collect/allowance/test_budget.py",
    ),
    KnownFault(
        "landing", "transit_etl/collect/raw/landing.py",
        "window.writer.plan(ledger.intent_line(intent))", "ledger.intent_line(intent)",
        "tests/collect/raw/test_landing.py",
    ),
    KnownFault(
        "staging", "transit_etl/stage/sql/passages.sql",
        "wait_minutes > 120", "wait_minutes > 1500",
        "tests/stage/test_passages.py",
    ),
    KnownFault(
        "matching", "transit_estimates/matching.py",
        "matrix[trip][n_departures + trip] = unpaired_cost", "matrix[trip][n_departures + trip] = 0",
        "tests/estimates/test_matching.py",
    ),
    KnownFault(
        "shares", "sql/macros/predictions.sql",
        "1.96 * sqrt(", "1.64 * sqrt(",
        "tests/warehouse/test_models.py",
    ),
    KnownFault(
        "publishing", "transit_etl/warehouse/publishing/publisher.py",
        'if outcome != "passed":', 'if outcome == "running":',
        "tests/warehouse/test_life.py",
    ),
    KnownFault(
        "exports", "transit_exports/types.py",
        r'_SIGNS = r"=+\-@', r'_SIGNS = r"=+@',
        "tests/exports/test_formulas.py",
    ),
    KnownFault(
        "reports", "transit_exports/rendering.py",
        "autoescape=True", "autoescape=False",
        "tests/exports/test_rendering.py",
    ),
    KnownFault(
        "make up", "scripts/local_airflow.py",
        "\nwrite_default_airflow_configuration_if_needed()\n", "\n",
        "tests/dags/test_runs.py",
    ),
    KnownFault(
        "contract", "transit_etl/warehouse/describing/contract_changes.py",
        "found.append(_removed(name, None, before[name]))", "pass",
        "tests/warehouse/test_contract.py",
    ),
)  # fmt: skip


def is_found(fault: KnownFault, folder: Path) -> bool:
    """Tell whether the tests fail in a copy of the checkout with the fault; ValueError if it has no place."""
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (copy / ".venv").symlink_to(ROOT / ".venv")
    path = copy / fault.path
    text = path.read_text(encoding="utf-8")
    if fault.right not in text:
        raise ValueError(f"{fault.path} has no {fault.right!r}: the fault of {fault.part} needs another line")
    path.write_text(text.replace(fault.right, fault.wrong, 1), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--quiet", "-m", "not long", "-x", fault.tests]
    done = subprocess.run(
        command, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, check=False, capture_output=True
    )
    return done.returncode == 1


def main() -> int:
    """Print each fault and whether it is found; return 1 if one is not."""
    console, n_missed = Console(highlight=False), 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            found = is_found(fault, Path(folder))
        n_missed += not found
        console.print(f"{fault.part:12} {'found by' if found else 'NOT FOUND by'} {fault.tests}")
    return 1 if n_missed else 0


if __name__ == "__main__":
    sys.exit(main())
