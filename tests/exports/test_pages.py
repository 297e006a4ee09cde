"""The index of datasets: groups, what reporters ask first, and one script that its policy admits."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from transit_exports import ExportSettings
from transit_exports.manifest import Dataset, File, Manifest
from transit_exports.pages import index

FIVE = ("on_time_months", "on_time_lines", "excess_waiting", "trips_delivered", "service_disruptions")
NOWHERE = Path("nowhere")
SETTINGS = ExportSettings(
    operator="emulated",
    database=NOWHERE, folder=NOWHERE, older_folder=NOWHERE, scratch_folder=NOWHERE, locks_folder=NOWHERE,
    keep_days=1,
)  # fmt: skip


def dataset(subject: str, group: str = "headline", meaning: str = "One row.") -> Dataset:
    """Return a dataset of one table."""
    manifest = Manifest(
        dataset=f"{subject}-csv", subject=subject, title=f"{subject}, City", format="csv", group=group,
        media_type="text/csv", first_date="2026-03-02", last_date="2026-03-02", timezone="Europe/Rome",
        is_complete=True, incomplete=[], coverage={}, versions={}, published_at="2026-03-03T02:00:00Z",
        publisher="City", licence="CC-BY-4.0", signature="", files=[File("x.csv", "x", "", 1, 1, "")],
        tables=[{"name": subject, "meaning": meaning, "key": [], "columns": [{"name": "the_column"}]}],
    )  # fmt: skip
    return Dataset(subject, [manifest])


def page(*datasets: Dataset) -> str:
    return index(SETTINGS, "City", datasets, "catalogue.jsonld")


def first_group(html: str) -> list[str]:
    """Return which datasets the first group leads to."""
    found = re.search('<section class="start".*?</section>', html, re.DOTALL)
    return re.findall('href="#([^"]*)"', found[0]) if found else []


def test_the_first_group_has_five_datasets_each_with_what_it_answers() -> None:
    html = page(*map(dataset, FIVE), dataset("lines", "core"))

    assert list(FIVE) == first_group(html)
    assert "For reporters: these five" in html
    assert 5 == len(re.findall(r"</a> (?:What|How much)[^<]+\.</li>", html))


def test_without_an_answer_its_figures_stand_in_the_first_group() -> None:
    html = page(dataset("punctuality_daily", "marts"), dataset("lines", "core"))

    assert ["punctuality_daily"] == first_group(html)
    assert "these five" not in html


def test_without_any_there_is_no_first_group() -> None:
    html = page(dataset("lines", "core"))

    assert [] == first_group(html)
    assert "For reporters" not in html


@pytest.mark.parametrize("group", ["", "of_a_later_version"])
def test_a_dataset_of_no_group_is_listed_with_the_others(group: str) -> None:
    html = page(dataset("lines", group))

    assert "Other datasets" in html
    assert 1 == html.count("<article")


def test_the_search_finds_words_of_meanings_and_columns() -> None:
    [words] = re.findall('data-text="([^"]*)"', page(dataset("lines", "core", "One row per `Line`.")))

    assert "lines, city lines one row per line. the_column" == words


def test_the_policy_admits_the_script_of_the_page_and_no_other() -> None:
    html = page(dataset("lines", "core"))
    [script] = re.findall("<script>(.*?)</script>", html, re.DOTALL)
    [policy] = re.findall('Content-Security-Policy" content="([^"]*)"', html)
    digest = b64encode(sha256(script.encode()).digest()).decode()

    assert "addEventListener" in script
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
