"""Pages for people can be read on a telephone: nothing makes them wider than its screen."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.stage.landing import Folder, answer, passage
from transit_etl.export_settings import export_settings
from transit_etl.paths import exports_dir
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, stage
from transit_exports.catalogue import PAGE, write_catalogue
from transit_exports.manifest import File, Manifest, write_manifest
from transit_exports.pages import dataset_page

pytestmark = pytest.mark.browser
WIDTH = 390  # CSS pixels


def quality(settings: Settings) -> Path:
    folder = Folder(settings)
    folder.land("passages", [("0001", answer(passage()))])
    stage(settings)
    return build_data_docs(settings)


def catalogue(settings: Settings) -> Path:
    """Write the catalogue of one export with names as long as they get."""
    name = "+".join(f"network_punctuality_daily_{number}" for number in range(6))
    folder = exports_dir(settings.data_dir) / name
    folder.mkdir(parents=True)
    day = str(date(2026, 3, 2))
    manifest = Manifest(
        dataset=name, title=name, format="csv", media_type="text/csv", first_date=day, last_date=day,
        timezone="Europe/Rome", is_complete=False, incomplete=["nothing was seen"], coverage={}, versions={},
        published_at="2026-03-03T02:00:00Z", publisher="City of Tests", licence="CC-BY-4.0", tables=[],
        files=[File(f"{name}.csv", name, "", 1, 1, "")], signature="",
    )  # fmt: skip
    write_manifest(folder, manifest)
    write_catalogue(export_settings(settings), "City of Tests")
    return exports_dir(settings.data_dir) / PAGE


def dataset(settings: Settings) -> Path:
    """Write the page of an export with a table as wide as its names of columns and files get."""
    path = settings.data_dir / "index.html"
    name = "estimated_mean_delay_seconds_high_of_all_passages" * 2
    text = f"# {name}\n\n| file | column | meaning |\n|---|---|---|\n| `{name}.csv` | `{name}` | {name} |\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(dataset_page(name, text, publisher="City of Tests", is_listed=True))
    return path


@pytest.mark.parametrize("write", [quality, catalogue, dataset])
def test_a_page_is_no_wider_than_a_telephone(
    page: Page, tmp_path: Path, write: Callable[[Settings], Path]
) -> None:
    path = write(Settings(data_dir=tmp_path, operator="x"))
    page.set_viewport_size({"width": WIDTH, "height": 800})
    page.goto(path.absolute().as_uri())
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")

    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert 1 == page.locator("meta[name=viewport]").count()


def test_the_index_of_datasets_is_searched_by_words(page: Page, tmp_path: Path) -> None:
    path = catalogue(Settings(data_dir=tmp_path, operator="x"))
    page.goto(path.absolute().as_uri())

    page.get_by_role("searchbox").fill("NETWORK daily_4")
    assert page.get_by_role("article").first.is_visible()
    assert not page.get_by_text("No dataset matches.").is_visible()
    page.get_by_role("searchbox").fill("daily trams")
    assert not page.get_by_role("article").first.is_visible()
    assert page.get_by_text("No dataset matches.").is_visible()
