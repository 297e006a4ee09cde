"""Answers, and all that is made from them, are for the owner and the group alone."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collect.helpers import STOP, answer, landing_at
from tests.stage.landing import answer as passages
from tests.stage.landing import passage
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, stage

BODY = passages(passage())


@pytest.fixture(params=[0o022, 0], ids=["usual umask", "no umask"])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_no_other_user_can_read_an_answer(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with landing_at(data) as landing:
        landing.land(landing.plan(STOP), answer(body=json.dumps(BODY).encode()))
        assert [] == open_to_others(data)
    settings = Settings(data_dir=data)
    stage(settings)
    build_data_docs(settings)

    files = {path.relative_to(data).parts[0] for path in data.rglob("*") if path.is_file()}
    assert {"raw", "lake", "reports", "state"} <= files
    assert [] == open_to_others(data)


def open_to_others(data: Path) -> list[Path]:
    """List folders that others may enter, and answers that others may read."""
    within = [path for name in ("raw", "lake", "quarantine") for path in (data / name).rglob("*")]
    return [path for path in [data, *data.iterdir(), *within] if path.stat().st_mode & 0o007]
