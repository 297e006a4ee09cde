"""Runs the dbt project in its own process, reports its progress and explains its failures."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import IO, Any

from transit_base.files import copy_bytes, make_folder, replaced_atomically
from transit_etl import paths
from transit_etl.settings import BuildSettings, Engine, FolderSettings
from transit_etl.warehouse.building.lineage import send_lineage
from transit_etl.warehouse.database import REMEDY, WarehouseError, database_path
from transit_etl.warehouse.describing.dbt_manifest import (
    DEMANDED_AT_ONCE,
    PROJECT,
    Manifest,
    is_demanded_at_once,
    without_dbt_settings,
)

FUNCTION_FILES = [
    Path(str(find_spec(name).origin))  # type: ignore[union-attr]
    for name in ("transit_estimates.matching", "transit_etl.sql_functions")
]  # the Python functions that models call
_RULESETS = PROJECT / "seeds" / "rulesets.csv"
_FINISHED = {"LogModelResult", "LogTestResult", "LogSeedResult"}
_BROKEN = {"error", "fail", "runtime error"}
_MEMORY_PERCENT = 60  # of the machine's, for the tables in work: collectors run beside a build, and dbt in it
SPARK_MEMORY = "4g"  # Spark's own default is too small to plan the longest models


class BuildFailedError(WarehouseError):
    """A model or a check failed; the message names it and where its compiled SQL is."""


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """The model or check just finished, and how many of all models and checks are done."""

    name: str
    n_done: int
    n_total: int


@dataclass(frozen=True, slots=True)
class DbtResult:
    """How many models and checks were built and passed."""

    n_models: int
    n_checks: int


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """What is built: the dbt variables to set, and the models to select (all if none).

    Every check of a model selected runs too or, where the selection is exact, those selected by name.
    """

    variables: Mapping[str, str | int]
    models: tuple[str, ...]
    is_exact: bool = False

    @property
    def without_tables(self) -> "BuildTarget":
        """Its seeds and views alone: what is made beside the copies of tables that another engine made."""
        if self.models:
            return replace(self, models=tuple(f"{each},config.materialized:view" for each in self.models))
        return replace(self, models=("resource_type:seed", "config.materialized:view"))


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where dbt works: the folder of its state, the database that it writes, and what it may use there.

    n_threads: models that are built at the same time; memory_percent: of the machine's memory.
    """

    folder: Path
    database: Path
    n_processors: int
    n_threads: int
    memory_percent: int

    @classmethod
    def main(cls, settings: FolderSettings) -> "Workplace":
        """Return the workplace of a build that runs alone: the build database, and all processors."""
        folder = paths.dbt_dir(settings.data_dir).absolute()
        n_processors = len(os.sched_getaffinity(0))
        return cls(folder, database_path(settings), n_processors, max(2, n_processors), _MEMORY_PERCENT)

    def of_worker(self, number: int, n_workers: int) -> "Workplace":
        """Return the workplace of one of several workers that build at the same time."""
        folder = self.folder / "workers" / str(number)
        n_processors = max(1, self.n_processors // n_workers)
        memory_percent = max(1, self.memory_percent // n_workers)
        return Workplace(folder, folder / "build.duckdb", n_processors, n_processors, memory_percent)

    @property
    def parsed_project(self) -> Path:
        """What dbt keeps of the project, so that it need not read all of it again."""
        return self.folder / "target" / "partial_parse.msgpack"


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of dbt: its program, the profile's target, the folder of what it leaves, and what it builds."""

    program: str
    output: str
    folder: Path
    target: BuildTarget


MAIN_TARGET = BuildTarget({}, ())
OnProgress = Callable[[BuildProgress], None]


def fingerprint(settings: BuildSettings, *, without: Collection[Path] = ()) -> str:
    """Return a hash that changes with models, functions, seeds, configuration and engine, but some files."""
    digest = sha256(settings.build_target.encode())
    for path in FUNCTION_FILES:
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    for folder, pattern in (
        ("models", "*.sql"), ("models/parameters", "*.yml"), ("engines", "*.sql"), ("macros", "*.sql"),
        ("seeds", "*.*"), (".", "*.yml"),
    ):  # fmt: skip
        for path in sorted((PROJECT / folder).rglob(pattern) if folder != "." else PROJECT.glob(pattern)):
            if path not in without:
                digest.update(f"{path.relative_to(PROJECT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def models_fingerprint(settings: BuildSettings) -> str:
    """Return the fingerprint without the thresholds: a row says by its ruleset which of these it used."""
    return fingerprint(settings, without=(_RULESETS,))


def run(
    settings: BuildSettings,
    first: date,
    last: date,
    *,
    is_full: bool,
    lock: int,
    on_progress: OnProgress | None = None,
    target: BuildTarget = MAIN_TARGET,
    place: Workplace | None = None,
) -> DbtResult:
    """Build and check the models of a target for some service dates, in the build database or another place.

    Where Spark builds, it makes the tables, and DuckDB the views of the copies. The dbt process inherits the
    lock, so that it keeps the lock even if this process is killed. BuildFailedError names the first model or
    check that failed.
    """
    place = place or Workplace.main(settings)
    folder = place.folder
    make_folder(folder)
    (folder / "target" / "run_results.json").unlink(missing_ok=True)
    environment = _environment(settings, place, (first, last))
    runs = [_Run("dbt.cli.main", "build", folder / "target", target)]
    if settings.build_target is Engine.SPARK:
        spark = _Run("transit_etl.warehouse.building.spark", "spark", folder / "spark", target)
        runs = [spark, replace(runs[0], target=target.without_tables)]
    results: list[dict[str, Any]] = []
    with _known_models(place.parsed_project) if target is MAIN_TARGET else nullcontext():
        for each in runs:
            try:
                results += _run(
                    each, folder, environment, is_full=is_full, lock=lock, on_progress=on_progress
                )
            finally:
                if settings.build_target is Engine.DUCKDB:  # openlineage-dbt knows no local session of Spark
                    send_lineage(each.folder, each.output, database_path(settings), environment)
    made = {result["unique_id"] for result in results}
    n_alone = sum(each.startswith("test.") for each in made)
    n_hooks = sum(each.startswith("operation.") for each in made)
    return DbtResult(len(made) - n_alone - n_hooks, n_alone + _n_demanded(runs[-1].folder, made))


def _n_demanded(target: Path, made: Collection[str]) -> int:
    """Count the checks that were demanded of models when they were made (sql/macros/checks.sql)."""
    if not made:
        return 0
    nodes = json.loads((target / "manifest.json").read_bytes())["nodes"].values()
    return sum(is_demanded_at_once(node) and node["attached_node"] in made for node in nodes)


@contextmanager
def _known_models(parsed: Path) -> Iterator[None]:
    """Give dbt in a new data folder what it knew last of the models, and keep what it knows at the end.

    dbt takes seconds to read all models. It compares what it is given with them, and reads what changed.
    """
    kept = None if parsed.exists() else paths.parsed_models()
    if kept:
        _copy_if_there(kept, parsed)
    yield
    if kept:
        _copy_if_there(parsed, kept)


def _copy_if_there(source: Path, target: Path) -> None:
    """Copy what dbt knows of the models; where that fails, it reads them again."""
    with suppress(OSError):
        if source.is_file():
            with replaced_atomically(target) as copy:
                copy_bytes(source, copy)


def parse(settings: BuildSettings, first: date, last: date, *, lock: int) -> Manifest:
    """Let dbt read the project, so that no run on this data folder has to; return what it knows of it.

    BuildFailedError if it cannot be read.
    """
    place = Workplace.main(settings)
    make_folder(place.folder)
    target = place.folder / "target"
    command = _command(_Run("dbt.cli.main", "build", target, MAIN_TARGET), place.folder, "parse")
    environment = _environment(settings, place, (first, last))
    with _known_models(place.parsed_project):
        _follow_to_end(command, place.folder, target, environment, lock, None)
    manifest: Manifest = json.loads((target / "manifest.json").read_bytes())
    return manifest


def set_rulesets(settings: BuildSettings) -> dict[str, int]:
    """Return the versions of the rulesets that are set for operators, by operator.

    WarehouseError if there is none of a version.
    """
    with _RULESETS.open(encoding="utf-8", newline="") as file:
        existing = [int(row["ruleset_version"]) for row in csv.DictReader(file)]
    found = {name: settings.of(name).ruleset for name in settings.operators}
    for name, version in found.items():
        if version and version not in existing:
            raise WarehouseError(
                f"{name}: TRANSIT_RULESET is {version}, but sql/seeds/rulesets.csv has only {existing}"
            )
    return {name: version for name, version in found.items() if version}


def require_engine(settings: BuildSettings) -> None:
    """Raise WarehouseError if what the engine needs is not installed."""
    if settings.build_target is Engine.DUCKDB:
        if not find_spec("dbt"):
            raise WarehouseError("a build needs more packages: pip install 'transit-etl[build]'")
        return
    if settings.build_workers > 1:
        raise WarehouseError(
            "Spark divides a build among its executors: leave TRANSIT_BUILD_WORKERS and --workers to DuckDB"
        )
    if not (find_spec("pyspark") and find_spec("dbt.adapters.spark")):
        raise WarehouseError("a build by Spark needs more packages: pip install 'transit-etl[spark]'")
    if not (os.environ.get("JAVA_HOME") or which("java")):
        raise WarehouseError("a build by Spark needs Java 17 or later: install it, or set JAVA_HOME")


def _run(
    run: _Run,
    folder: Path,
    environment: Mapping[str, str],
    *,
    is_full: bool,
    lock: int,
    on_progress: OnProgress | None,
) -> list[dict[str, Any]]:
    """Build models with dbt; return what it says of each model and check."""
    command = [
        *_command(run, folder, "build"),
        "--exclude-resource-type", "unit_test",
        "--exclude", *(f"test_name:{each}" for each in DEMANDED_AT_ONCE),
        *(["--full-refresh"] if is_full else []),
        *(["--select", *run.target.models] if run.target.models else []),
        *(["--indirect-selection", "empty"] if run.target.is_exact else []),
    ]  # fmt: skip
    _follow_to_end(command, folder, run.folder, environment, lock, on_progress)
    return _results(run.folder)


def _follow_to_end(  # noqa: PLR0917 - a process, and what is to be said of it
    command: list[str],
    folder: Path,
    target: Path,
    environment: Mapping[str, str],
    lock: int,
    on_progress: OnProgress | None,
) -> None:
    """Run dbt in a folder, and report what it does; BuildFailedError says why it failed."""
    process = subprocess.Popen(  # noqa: S603 - our own program and arguments
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        pass_fds=(lock,),
    )
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    try:
        last_error = _follow(process.stdout, on_progress)
    except BaseException:
        process.kill()
        raise
    finally:
        process.stdout.close()
        code = process.wait()
    if code != 0:
        raise BuildFailedError(_explain(target, last_error))


def _command(run: _Run, folder: Path, verb: str) -> list[str]:
    # dbt's parsed project holds absolute paths of seeds: a project that was moved must be parsed again
    variables = {"project": str(PROJECT), **run.target.variables}
    return [
        sys.executable, "-m", run.program, "--log-format", "json", "--log-level-file", "none", verb,
        "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), "--target", run.output,
        "--target-path", str(run.folder), "--log-path", str(folder / "logs"),
        "--vars", json.dumps(variables),
    ]  # fmt: skip


def _environment(settings: BuildSettings, place: Workplace, dates: tuple[date, date]) -> dict[str, str]:
    """Return the environment that says where and what to build."""
    build = {
        "BUILD_DATA": str(settings.data_dir.absolute()),
        "BUILD_FROM": dates[0].isoformat(),
        "BUILD_TO": dates[1].isoformat(),
        # relative to where dbt runs: the parsed project stays valid when the data folder is moved
        "BUILD_DATABASE": os.path.relpath(place.database.resolve(), place.folder.resolve()),
        "BUILD_SCRATCH": "scratch",
        "BUILD_RULESETS": json.dumps(set_rulesets(settings), sort_keys=True),
        "BUILD_SPARK": str(paths.spark_dir(settings.data_dir).absolute()),
        "BUILD_SPARK_MASTER": settings.spark_master,
        "BUILD_THREADS": str(place.n_threads),
        "BUILD_PROCESSORS": str(place.n_processors),
        "BUILD_MEMORY": f"{place.memory_percent}%",
    }
    return {"SPARK_DRIVER_MEMORY": SPARK_MEMORY, **without_dbt_settings(), **build}


def _follow(lines: IO[str], on_progress: OnProgress | None) -> str:
    """Report each finished model and check; return the last error or, without one, the last message."""
    last_error = last_message = ""
    n_done = n_total = 0
    for event in _events(lines):
        info, data = event["info"], event.get("data", {})
        last_message = info.get("msg", "") or last_message
        if info.get("level") == "error" and info.get("msg", "").strip():
            last_error = info["msg"].strip()
        if info.get("name") in _FINISHED:
            n_done += 1
            n_total = max(n_total, int(data.get("total", 0)))  # not every event says it
            if on_progress is not None:
                name = data.get("node_info", {}).get("node_name", "")
                on_progress(BuildProgress(name, n_done, n_total))
    return last_error or last_message


def _events(lines: IO[str]) -> Iterator[dict[str, Any]]:
    """Read dbt's JSON log; a line that is no JSON, such as one of a traceback, counts as an error message."""
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            event = {"info": {"level": "error", "msg": line.strip()}}
        if isinstance(event, dict) and "info" in event:
            yield event


def _explain(target: Path, last_error: str) -> str:
    broken = [result for result in _results(target) if result["status"] in _BROKEN]
    if not broken:
        return f"the build did not start: {_in_one_line(last_error)}"
    first = broken[0]
    kind, name = first["unique_id"].split(".")[0], first["unique_id"].split(".")[2]
    message = _in_one_line(str(first["message"]))
    if "check of " in message:  # as sql/macros/checks.sql words it
        kind, name = "check", message.partition("check of ")[2].partition(" failed: ")[0]
        message = message.partition(" failed: ")[2]
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    what = "check" if kind == "test" else kind
    hint = f"; {REMEDY}." if "Corrupt" in message else ""  # as DuckDB says of blocks and segments
    return f"{what} {name} failed{more}: {message}{hint} Its SQL: {_compiled(target, first['unique_id'])}"


def _in_one_line(message: str) -> str:
    """Return a message in one line; of a traceback only the error at its end."""
    lines = message.strip().splitlines()
    is_traceback = bool(lines) and lines[0].startswith("Traceback")
    return " ".join(" ".join(lines[-1:] if is_traceback else lines).split())


def _results(target: Path) -> list[dict[str, Any]]:
    path = target / "run_results.json"
    if not path.exists():
        return []
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert isinstance(results, list)  # noqa: S101 - dbt's documented form
    return results


def _compiled(target: Path, unique_id: str) -> Path:
    """Return where dbt left the compiled SQL of a node."""
    nodes = json.loads((target / "manifest.json").read_text(encoding="utf-8"))["nodes"]
    path: str = nodes[unique_id].get("compiled_path") or nodes[unique_id]["original_file_path"]
    return target / Path(path)
