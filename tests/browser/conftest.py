"""Headless Chromium, where it is installed."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
OF_THIS_MACHINE = ("file:", "data:", "blob:", "http://127.0.0.1:", "http://localhost:")


# Not for the session: while Playwright is open its event loop runs, and other tests cannot run their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the Chromium of this machine; skip the test without one."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here: `make setup` installs it on Debian when root runs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def requests_elsewhere() -> list[str]:
    """Return the addresses outside this machine that pages requested; it grows while the test runs."""
    return []


@pytest.fixture
def page(browser: Browser, requests_elsewhere: list[str]) -> Iterator[Page]:
    """Open an empty page; an error in a script of it fails the test."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []

    def stay_here(route: Route) -> None:
        if route.request.url.startswith(OF_THIS_MACHINE):
            route.continue_()
        else:
            requests_elsewhere.append(route.request.url)
            route.abort()

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/*", stay_here)
    yield page
    page.close()

    assert [] == errors


@pytest.fixture
def alerts(page: Page) -> list[str]:
    """Return the messages that scripts of pages showed; it grows while the test runs."""
    messages: list[str] = []

    def close(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", close)
    return messages
