"""Prints a page as PDF by a browser without a window, where there is one."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from transit_base.files import FILE_MODE, replaced_atomically
from transit_reports.periods import ReportError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TIMEOUT = 120  # seconds


def printer() -> str:
    """Return the path of the browser that prints; ReportError if there is none."""
    for name in _BROWSERS:
        if path := shutil.which(name):
            return path
    raise ReportError(f"no PDF without a browser: install one of {', '.join(_BROWSERS)}")


def print_page(page: Path, pdf: Path) -> None:
    """Print a page into a file; ReportError if the browser fails, and the file is then as it was."""
    with TemporaryDirectory(prefix="transit-pdf-") as profile, replaced_atomically(pdf) as unfinished:
        command = [
            printer(), "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            f"--user-data-dir={profile}", f"--print-to-pdf={unfinished.absolute()}",
        ]  # fmt: skip
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # the sandbox refuses root; the page is ours and has no script
        try:
            done = subprocess.run(  # noqa: S603 - a browser of the system, and a page of ours
                [*command, page.absolute().as_uri()],
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ReportError(f"{page}: the browser did not print it within {_TIMEOUT} s") from None
        if done.returncode or not unfinished.exists():
            words = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise ReportError(f"{page}: the browser did not print it: {words[0]}")
        unfinished.chmod(FILE_MODE)
