"""Stages finished windows from raw to the lake, and whole days anew."""

import logging
import os
import shutil
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from itertools import islice
from pathlib import Path

from transit_base.errors import TransitError
from transit_base.files import (
    clear_away,
    in_words,
    make_folder,
    misplaced_text,
    passed_over_texts,
    remove_folder,
    replace_folder,
)
from transit_base.listing import passing_over
from transit_etl.identity import claim, mark_reprocessed
from transit_etl.lake_schemas import IN_ORDER_OF_WRITING
from transit_etl.paths import DAY_STEM, lake_file, misplaced_raw, quarantine_file, restaging_dir
from transit_etl.settings import CollectSettings
from transit_etl.stage.compaction import compact_operator
from transit_etl.stage.data_docs import keep_results
from transit_etl.stage.lake import (
    day_lock,
    ensure_schemas,
    waiting_windows,
    windows_with_requests,
)
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.normalise import one_line
from transit_etl.stage.raw import RawWindow, finished_windows
from transit_etl.stage.stage_report import OnProgress, StageProgress, StageReport
from transit_etl.stage.stager import Stager

_log = logging.getLogger(__name__)

# A raw file is one compressed stream that one thread reads: two windows at once keep the cores of a small
# machine busy, faster than one window on all threads of DuckDB.
_READERS = 2


def stage(
    settings: CollectSettings,
    *,
    endpoints: Sequence[str] | None = None,
    operator: str | None = None,
    builds_pages: bool = True,
    on_progress: OnProgress | None = None,
) -> StageReport:
    """Stage every finished raw window that is not in the lake yet, lines before the answers that name them.

    Those of some endpoints or of one operator alone, if given. An answer or a line that cannot be staged
    is set aside, and so is a whole window that cannot be, such as of a damaged raw file; the rest is
    staged. They and rejected batches are kept in quarantine and not tried again until their day is
    restaged. Without `builds_pages` the pages about quality stay as they are until the next
    `build_data_docs`, which shows these results as well.
    """
    started = time.monotonic()
    report = StageReport()
    claim(settings)
    ensure_schemas(settings.data_dir)
    with passing_over() as unlisted:
        waiting = [
            window
            for window in waiting_windows(settings.data_dir, endpoints)
            if operator in (None, window.operator)
            and unlisted.keys().isdisjoint(_requests_file(settings.data_dir, window).parents)
        ]
    if waiting:
        with closing(Stager(settings, _threads(len(waiting)))) as stager:
            listed_lines = ListedLines([settings.data_dir])
            staged = _stage_all(stager, waiting, settings.data_dir, listed_lines, report)
            for n_done, (window, _) in enumerate(staged, start=1):
                if on_progress is not None:
                    on_progress(StageProgress(n_done, len(waiting), window.name))
            results = stager.validator.last
        operators = {window.operator for window in waiting} if builds_pages else ()
        keep_results(settings, results, operators)
    report.errors += map(misplaced_text, misplaced_raw(settings.data_dir))
    report.errors += passed_over_texts(unlisted)
    report.seconds = time.monotonic() - started
    return report


def restage(
    settings: CollectSettings, first_day: date, last_day: date, *, on_progress: OnProgress | None = None
) -> StageReport:
    """Rebuild the lake's UTC days from `first_day` to `last_day` (inclusive) from raw, of every operator.

    Each day is built in a folder of its own and then replaces the old one dataset by dataset, compacted if
    that was. A day with a raw file that is missing or can no longer be read, and has rows in the lake, is
    reported and stays as it is.
    """
    started = time.monotonic()
    report = StageReport()
    claim(settings)
    ensure_schemas(settings.data_dir)
    with passing_over() as unlisted:
        days = _by_day(settings.data_dir, first_day, last_day)
    report.errors += passed_over_texts(unlisted)
    total = sum(map(len, days.values()))
    if days:
        with closing(Stager(settings, _threads(total))) as stager:
            for (operator, day), windows in days.items():
                try:
                    with day_lock(settings.data_dir, operator, day):
                        _restage_day(stager, settings.data_dir, windows, report)
                except PermissionError as error:
                    report.errors.append(f"{day} of {operator} stays as it is: {in_words(error)}")
                if on_progress is not None:
                    on_progress(StageProgress(report.windows, total, windows[-1].name))
            results = stager.validator.last
        keep_results(settings, results, {operator for operator, _ in days})
    mark_reprocessed(settings, first_day, last_day)
    report.seconds = time.monotonic() - started
    return report


def _requests_file(data_dir: Path, window: RawWindow) -> Path:
    """Return the file that marks a window as staged."""
    return lake_file(data_dir, window.operator, "requests", window.day, window.name)


def _threads(n_windows: int) -> int:
    """Return the number of threads for one window: all of them only if no other is read at the same time."""
    n_cores = os.cpu_count() or 1
    return n_cores if n_windows == 1 else max(1, n_cores // _READERS)


def _stage_all(
    stager: Stager,
    windows: Sequence[RawWindow],
    root: Path,
    listed_lines: ListedLines,
    report: StageReport,
) -> Iterator[tuple[RawWindow, bool]]:
    """Stage windows in order and yield each when done, and whether it could be staged.

    While one is validated, the next ones are read. A window that fails is set aside, unless the disk is at
    fault: then it is tried again by the next run.
    """
    with ThreadPoolExecutor(max_workers=_READERS, thread_name_prefix="normalise") as readers:
        unread = iter(windows)
        being_read = deque(readers.submit(stager.prepare, window) for window in islice(unread, _READERS + 1))
        for window in windows:
            is_staged = False
            try:
                stager.finish(being_read.popleft().result(), root, listed_lines, report)
                is_staged = True
            except OSError as error:
                report.errors.append(f"{window.path}: {in_words(error)}")
            except TransitError as error:
                stager.set_aside(window, root, str(error), report)
            except Exception as error:  # noqa: BLE001 - whatever it is, the rest is staged
                _log.exception("setting %s aside", window.name)
                stager.set_aside(window, root, f"{window.path}: {one_line(error)}", report)
            being_read.extend(readers.submit(stager.prepare, later) for later in islice(unread, 1))
            yield window, is_staged


def _by_day(data_dir: Path, first_day: date, last_day: date) -> dict[tuple[str, date], list[RawWindow]]:
    days: dict[tuple[str, date], list[RawWindow]] = defaultdict(list)
    for window in finished_windows(data_dir):
        if first_day <= window.day <= last_day:
            days[window.operator, window.day].append(window)
    return days


def _restage_day(stager: Stager, data_dir: Path, windows: Sequence[RawWindow], report: StageReport) -> None:
    """Stage a day into a data folder of its own, below the real one so that folders can be exchanged."""
    operator, day = windows[0].operator, windows[0].day
    if lacking := windows_with_requests(data_dir, operator, day) - {window.name for window in windows}:
        report.errors.append(
            f"{day} of {operator} stays as it is: {len(lacking)} of its windows have no raw file, such as "
            f"{min(lacking)}; `transit-etl restore` or the object store may have them"
        )
        return
    root = restaging_dir(data_dir, operator, day)
    clear_away(root)
    make_folder(root)
    staged = _stage_all(stager, windows, root, ListedLines([data_dir, root]), report)
    failed = {window.name for window, is_staged in staged if not is_staged}
    if failed.isdisjoint(windows_with_requests(data_dir, operator, day)):
        if lake_file(data_dir, operator, "requests", day, DAY_STEM).exists():
            compact_operator(root, operator, day)
        _replace_day(root, data_dir, operator, day)
    shutil.rmtree(root)


def _replace_day(rebuilt_root: Path, data_dir: Path, operator: str, day: date) -> None:
    """Replace the folders of a day; `requests` last, so that a killed run can be repeated."""
    for dataset in IN_ORDER_OF_WRITING:
        for path_of in (quarantine_file, lake_file):
            rebuilt = path_of(rebuilt_root, operator, dataset, day, DAY_STEM).parent
            folder = path_of(data_dir, operator, dataset, day, DAY_STEM).parent
            if rebuilt.exists():
                replace_folder(rebuilt, folder)
            else:
                remove_folder(folder)
