"""Checks the files that changed since the last commit: SQL by its style, Python by the tests named after it.

python -m scripts.check_changed

A module `budget.py` has the tests `test_budget.py`, wherever they are. A changed test runs itself.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def changed() -> list[Path]:
    """Return the files that git finds changed or new, relative to the checkout."""
    listed = [
        _lines("git", "diff", "--name-only", "--diff-filter=d", "HEAD"),
        _lines("git", "ls-files", "--others", "--exclude-standard"),
    ]
    return [Path(name) for names in listed for name in names]


def tests_named_after(files: Sequence[Path]) -> list[Path]:
    """Return the test files among `files`, and those named after the other modules."""
    names = {file.name if file.name.startswith("test_") else f"test_{file.name}" for file in files}
    found = (path.relative_to(ROOT) for path in ROOT.glob("tests/**/test_*.py"))
    return sorted(path for path in found if path.name in names)


def main() -> int:
    """Run what checks the changed files; return the code of the first that failed, or 0."""
    files = changed()
    queries = [str(file) for file in files if file.suffix == ".sql"]
    tests = [str(file) for file in tests_named_after([file for file in files if file.suffix == ".py"])]
    checks = (
        (["sqlfluff", "lint"], queries),
        (["pytest", "-n", "3", "--dist", "loadgroup", "-m", "not long"], tests),
    )
    codes = [
        subprocess.run([sys.executable, "-m", *command, *names], cwd=ROOT, check=False).returncode
        for command, names in checks
        if names
    ]
    return next(filter(None, codes), 0)


def _lines(*command: str) -> list[str]:
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
