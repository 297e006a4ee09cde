"""Measure staging, raw passages to validated Parquet, and compare with dlt and with DuckDB's read_json.

    python benchmarks/staging.py --rows 1000000

Compared in one run on the same raw files (about ten passages an answer, some of them theoretical, with padded
labels, slashes and entities), after a warm-up, in turns, as medians:

- stage: all of `transit_etl.stage.stage`: find the windows, check that each file is complete, parse under an
  explicit schema, resolve instants and service days, keep unknown keys, validate with Great Expectations,
  write typed sorted Parquet and the ledger, build the Data Docs.
- bare: one DuckDB statement with as many threads: `read_json` of the same files with explicit columns, the
  body parsed by `from_json` under an explicit schema and unnested into columns, written as zstd Parquet. No
  instants, no service day, no validation, no unknown keys, no ledger.
- dlt: a pipeline from the same raw files to Parquet through the local filesystem destination. `dlt` includes
  reading and parsing the files (extract), as the other two do; `dlt, normalize and load` does not. It is
  measured on fewer rows (`--dlt-rows`), because it is slow, and compared by rows a second.

Imports and the first use of each library are not measured.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb
import zstandard

from transit_base.stamps import stamp
from transit_etl.paths import lake_glob, raw_file
from transit_etl.settings import Settings
from transit_etl.stage import stage

OPERATOR = "bench"
DAY = date(2026, 11, 19)
START = datetime(2026, 11, 19, 5, tzinfo=UTC)
PASSAGES_PER_ANSWER = 10
NORMALIZE_AND_LOAD = "dlt, normalize and load"
DESTINATIONS = [
    "CARICAMENTO",
    "STAZ. BRIGNOLE",
    "PRA&apos; PALMARO",
    "VIA CAMOZZINI (VOLTRI)",
    "P.ZA  DE FERRARI",
]


class DltSeconds(NamedTuple):
    """The time of a dlt pipeline, and that of its last two steps."""

    total: float
    normalize_and_load: float


def main() -> None:
    """Write raw windows, measure the three in turns, print medians and ratios."""
    options = _options()
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    with tempfile.TemporaryDirectory(prefix="transit-bench-") as folder:
        root = Path(folder)
        files = write_windows(root / "data", options.rows, options.windows)
        small = write_windows(root / "small", options.dlt_rows, 1)
        size = sum(path.stat().st_size for path in files) / 1e6
        print(f"{options.rows:,} passages in {options.windows} raw windows, {size:.1f} MB compressed; "
              f"{os.cpu_count()} cores, {duckdb_threads()} DuckDB threads")  # fmt: skip
        contenders: dict[str, Callable[[], float]] = {
            "stage": lambda: run_stage(root / "data", options.rows),
            "bare": lambda: run_bare(files, root / "bare.parquet", options.rows),
        }
        rates = {name: options.rows / seconds for name, seconds in medians(contenders, options.runs).items()}
        if options.dlt_rows:
            run_dlt(small, root / "dlt", options.dlt_rows)
            runs = [run_dlt(small, root / "dlt", options.dlt_rows) for _ in range(options.dlt_runs)]
            rates["dlt"] = options.dlt_rows / statistics.median(run.total for run in runs)
            rates[NORMALIZE_AND_LOAD] = options.dlt_rows / statistics.median(
                run.normalize_and_load for run in runs
            )
        report(rates)


def report(rates: dict[str, float]) -> None:
    """Print the rate of each, and the ratios."""
    for name, rate in rates.items():
        print(f"{name:24} {rate:12,.0f} rows a second   {1e6 / rate:8.2f} s a million")
    print(f"stage takes {rates['bare'] / rates['stage']:.2f} times as long as bare DuckDB (goal: at most 3)")
    for name in (name for name in rates if name.startswith("dlt")):
        print(f"stage is {rates['stage'] / rates[name]:.1f} times as fast as {name} (goal: at least 10)")


def medians(contenders: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """Run each once to warm up, then measure in turns, so that other load of the machine affects all."""
    for contender in contenders.values():
        contender()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, contender in contenders.items():
            seconds[name].append(contender())
    for name, values in seconds.items():
        print(f"{name:6} {' '.join(f'{value:.2f}' for value in values)} s")
    return {name: statistics.median(values) for name, values in seconds.items()}


def run_stage(data_dir: Path, rows: int) -> float:
    """Stage every window into an empty lake; return seconds."""
    for folder in ("lake", "quarantine", "state", "reports"):
        shutil.rmtree(data_dir / folder, ignore_errors=True)
    settings = Settings(data_dir=data_dir, operator=OPERATOR)
    started = time.perf_counter()
    result = stage(settings)
    seconds = time.perf_counter() - started
    assert result.is_clean, result
    assert result.rows["passages"] == rows == _count(lake_glob(data_dir, "passages"))
    return seconds


def run_bare(files: list[Path], target: Path, rows: int) -> float:
    """Let DuckDB alone turn the same files into Parquet; return seconds."""
    listed = ", ".join(f"'{path}'" for path in files)
    statement = f"""
        copy (
            with answers as (
                select operator, request_id, "window", received_at, "key" as stop_code, from_json(body, '{{
                    "codice_fermata": "VARCHAR", "timestamp": "VARCHAR", "passaggi": [{{
                    "linea": "VARCHAR", "destinazione": "VARCHAR", "orario": "VARCHAR", "attesa": "VARCHAR",
                    "teorico": "BOOLEAN", "id_corsa": "VARCHAR", "pieno": "BOOLEAN"}}]}}') as b
                from read_json([{listed}], format = 'newline_delimited', compression = 'zstd', columns = {{
                    request_id: 'VARCHAR', "window": 'VARCHAR', operator: 'VARCHAR', "key": 'VARCHAR',
                    received_at: 'TIMESTAMP', outcome: 'VARCHAR', body: 'VARCHAR'}})
                where outcome = 'ok'
            )
            select * exclude (b), b."timestamp" as answered_at, unnest(b.passaggi, recursive := true)
            from answers
        ) to '{target}' (format parquet, compression zstd)"""
    started = time.perf_counter()
    with duckdb.connect() as connection:
        connection.execute(statement)
    seconds = time.perf_counter() - started
    assert rows == _count(target)
    return seconds


def run_dlt(files: list[Path], folder: Path, rows: int) -> DltSeconds:
    """Let dlt do the same; return its seconds."""
    import dlt  # noqa: PLC0415 - only where it is measured
    from dlt.destinations import filesystem  # noqa: PLC0415

    shutil.rmtree(folder, ignore_errors=True)

    @dlt.resource(name="answers")
    def answers() -> Iterator[list[dict[str, object]]]:
        yield from parsed_pages(files)

    pipeline = dlt.pipeline(
        "bench",
        pipelines_dir=str(folder / "work"),
        destination=filesystem(bucket_url=f"file://{folder / 'out'}"),
        dataset_name="passages",
    )
    started = time.perf_counter()
    pipeline.extract(answers(), loader_file_format="parquet")
    extracted = time.perf_counter()
    pipeline.normalize()
    pipeline.load()
    ended = time.perf_counter()
    assert rows == _count(folder / "out" / "passages" / "answers__passaggi" / "*.parquet")
    return DltSeconds(ended - started, ended - extracted)


def parsed_pages(files: list[Path]) -> Iterator[list[dict[str, object]]]:
    """Read raw files as pages of answers with their passages, as a source would pass them to dlt."""
    for path in files:
        lines = zstandard.decompress(path.read_bytes(), max_output_size=1 << 31).splitlines()
        records = (json.loads(line) for line in lines)
        page = [
            {
                "request_id": record["request_id"],
                "received_at": record["received_at"],
                **json.loads(record["body"]),
            }
            for record in records
        ]
        yield from (page[first : first + 1000] for first in range(0, len(page), 1000))


def write_windows(data_dir: Path, rows: int, n_windows: int) -> list[Path]:
    """Write raw windows as the collector does: one line an answer, each flushed as a block."""
    dice = random.Random(20261119)  # noqa: S311 - made-up data
    n_answers = max(1, rows // PASSAGES_PER_ANSWER)
    files = []
    for number in range(n_windows):
        share = range(number * n_answers // n_windows, (number + 1) * n_answers // n_windows)
        begun = START + timedelta(seconds=share.start * 0.2)
        name = f"{stamp(begun)}-passages-{number}"
        path = raw_file(data_dir, OPERATOR, "passages", DAY, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        compressor = zstandard.ZstdCompressor(level=3).compressobj()
        with path.open("wb") as file:
            for answer in share:
                line = raw_line(dice, name, answer, START + timedelta(seconds=answer * 0.2))
                file.write(compressor.compress(line) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
            file.write(compressor.flush())
        files.append(path)
    return files


def raw_line(dice: random.Random, window: str, number: int, at: datetime) -> bytes:
    """Make one line of a raw file: a good answer about a stop, half a second after it was asked."""
    stop = f"{dice.randrange(1, 2800):04d}"
    timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = json.dumps(
        {
            "codice_fermata": stop,
            "timestamp": timestamp,
            "passaggi": [passage(dice, at, n) for n in range(PASSAGES_PER_ANSWER)],
        },
        separators=(",", ":"),
    )
    sent, received = (
        (at + timedelta(seconds=by)).isoformat(timespec="microseconds").replace("+00:00", "Z")
        for by in (-0.2, 0.3)
    )
    record = {
        "request_id": f"{window}/{number}", "window": window, "operator": OPERATOR, "endpoint": "passages",
        "key": stop, "api_version": 1, "planned_at": sent, "sent_at": sent, "received_at": received,
        "outcome": "ok", "http_status": 200, "elapsed_ms": 500.0, "attempts": 1, "error": None,
        "n_bytes": len(body), "body": body, "body_base64": None,
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def passage(dice: random.Random, at: datetime, number: int) -> dict[str, object]:
    """Make one passage; the operator's clock is an hour ahead of UTC in November."""
    wait = dice.randrange(0, 40)
    shown = at + timedelta(hours=1, minutes=wait, seconds=dice.randrange(-29, 30))
    line = dice.randrange(1, 700)
    is_theoretical = dice.random() < 0.66
    return {
        "linea": f"{line:03d}" if number % 3 == 0 else f"{line}{'/' if number == 1 else ''}",
        "destinazione": dice.choice(DESTINATIONS),
        "orario": f"{shown:%H:%M:%S}",
        "attesa": f"{wait}'",
        "teorico": is_theoretical,
        "id_corsa": "" if is_theoretical else str(dice.randrange(1_000_000, 9_000_000)),
        "pieno": dice.random() < 0.03,
    }


def duckdb_threads() -> int:
    """Return the number of threads that DuckDB uses, for the bare statement and for staging."""
    return int(duckdb.execute("select current_setting('threads')").fetchall()[0][0])


def _count(files: Path) -> int:
    return int(duckdb.execute(f"select count(*) from read_parquet('{files}')").fetchall()[0][0])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure staging, dlt and bare DuckDB.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="passages to stage")
    parser.add_argument("--windows", type=int, default=4, help="number of raw windows")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of stage and of bare")
    parser.add_argument("--dlt-rows", type=int, default=100_000, help="passages for dlt; 0 omits dlt")
    parser.add_argument("--dlt-runs", type=int, default=3, help="measured runs of dlt")
    return parser.parse_args()


if __name__ == "__main__":
    main()
