"""Stages windows of one process with suites and connections that are made once: making them takes seconds."""

import atexit
from functools import cache

from transit_etl.settings import Settings
from transit_etl.stage.lake import ensure_schemas, waiting_windows
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.normalise import Normaliser
from transit_etl.stage.stage_report import StageReport
from transit_etl.stage.stager import Stager


@cache
def _stager(operator: str) -> Stager:
    stager = Stager(Settings(operator=operator), threads=1)
    atexit.register(stager.close)
    return stager


@cache
def _normaliser(operator: str) -> Normaliser:
    normaliser = Normaliser(Settings(operator=operator), threads=1)
    atexit.register(normaliser.close)
    return normaliser


def normalise(settings: Settings) -> None:
    """Normalise what waits, without validating and writing it."""
    for window in waiting_windows(settings.data_dir):
        _normaliser(settings.operator).normalise(window)


def stage_quickly(settings: Settings) -> StageReport:
    """Stage what waits without building pages; an error that would set a window aside is raised."""
    report, root = StageReport(), settings.data_dir
    ensure_schemas(root)
    for window in waiting_windows(root):
        stager = _stager(settings.operator)
        stager.finish(stager.prepare(window), root, ListedLines([root]), report)
    assert [] == [line for line in report.rejected if "cannot be validated" in line]
    return report
