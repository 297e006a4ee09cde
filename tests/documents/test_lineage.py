"""`docs/lineage.md` shows the models as they are."""

import pytest

from scripts.lineage import DRAWING, PAGE, ancestors, drawing, steps, with_tables
from transit_etl.warehouse.dbt_manifest import Manifest
from transit_etl.warehouse.models import models

TEXT = PAGE.read_text(encoding="utf-8")
pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all
RUN = "run python -m scripts.lineage"


def test_the_tables_are_written_from_the_models(manifest: Manifest) -> None:
    assert TEXT == with_tables(TEXT, manifest), RUN


def test_the_drawing_is_written_from_the_steps_of_the_page(manifest: Manifest) -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing(steps(TEXT), models(manifest)), RUN


def test_the_steps_have_every_model_on_the_way_to_stop_visits_once(manifest: Manifest) -> None:
    known = models(manifest)
    on_the_way = {name for name in ancestors("stop_visits", known) if known[name].folder.name != "staging"}

    assert sorted(on_the_way) == sorted(name for step in steps(TEXT) for name in step.models)


def test_a_step_reads_only_itself_and_steps_above(manifest: Manifest) -> None:
    known = models(manifest)
    may_be_read = {name for name, model in known.items() if model.folder.name == "staging"}
    reads_below: dict[str, set[str]] = {}
    for step in steps(TEXT):
        may_be_read |= set(step.models)
        reads_below |= {name: set(known[name].reads) & known.keys() - may_be_read for name in step.models}

    assert {} == {name: reads for name, reads in reads_below.items() if reads}
