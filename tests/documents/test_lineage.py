"""`docs/lineage.md` shows the models as they are."""

import re

import pytest

from scripts.lineage import DRAWINGS, PAGE, SECTION, depth, drawing, with_tables
from transit_etl.warehouse.dbt_manifest import Manifest
from transit_etl.warehouse.models import models, stages

TEXT = PAGE.read_text(encoding="utf-8")
ONE_SCREEN = (1000, 700)  # width and height of a drawing
RUN = "run python -m scripts.lineage"


def test_the_tables_are_written_from_the_models(manifest: Manifest) -> None:
    assert TEXT == with_tables(TEXT, manifest), RUN


def test_the_page_has_the_stages_in_their_order() -> None:
    assert stages() == SECTION.findall(TEXT)


@pytest.mark.parametrize("stage", stages())
def test_the_drawing_of_a_stage_is_written_from_its_models_and_fits_one_screen(
    stage: str, manifest: Manifest
) -> None:
    drawn = drawing(stage, models(manifest))
    [(width, height)] = re.findall(r'viewBox="-2 -2 (\d+) (\d+)"', drawn)

    assert (DRAWINGS / f"{stage}.svg").read_text(encoding="utf-8") == drawn, RUN
    assert int(width) <= ONE_SCREEN[0]
    assert int(height) <= ONE_SCREEN[1]


def test_the_page_says_how_many_models_the_longest_way_to_the_trajectories_has(manifest: Manifest) -> None:
    [said] = re.findall(r"longest way to `core.trip_trajectories` has (\d+) models", TEXT.replace("\n", " "))

    assert depth("trip_trajectories", models(manifest)) == int(said)
