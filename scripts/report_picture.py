"""Takes the picture of a report that README.md shows.

python -m scripts.report_picture data/demo/reports/performance/2026-W48/index.html docs/_static/report.png
"""

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

_WIDTH, _HEIGHT = 1000, 960


def main() -> None:
    """Write the picture of the upper part of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("page", type=Path, help="index.html of a report")
    parser.add_argument("picture", type=Path, help="the PNG file")
    chosen = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("no chromium here: `make setup` installs it on Debian when root runs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.goto(chosen.page.absolute().as_uri())
        page.screenshot(path=chosen.picture)
        browser.close()


if __name__ == "__main__":
    main()
