"""A data folder to take the first inputs from, made in a moment."""

from pathlib import Path

import httpx2
import pytest

from tests.collect.upstream import Upstream, collect_from, settings_at
from tests.fuzz.staging import stage_quickly
from tests.fuzz.target import START
from tests.stage.landing import answer, passage


def _listing(request: httpx2.Request) -> httpx2.Response:
    found = answer(passage(orario="08:05:00"), passage(linea="15"), codice_fermata=request.url.path[-4:])
    return httpx2.Response(200, json=found | {"timestamp": "2026-11-18T07:00:00.000Z"})


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collect and stage a small network for some seconds, without the pages about quality."""
    folder = tmp_path_factory.mktemp("collected") / "data"
    settings = settings_at(folder, timetable_days_ahead=0)
    for dataset in ("lines", "stops", "news", "status", "passages"):
        collect_from(Upstream({"v1/passaggi": _listing}), settings, dataset, seconds=4, start=START)
        stage_quickly(settings)
    return folder
