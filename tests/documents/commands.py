"""How the commands in documents are run: what is replaced first, what is shortened, what runs elsewhere."""

DAY = "2026-03-02"  # the service date of the tour

# Texts of commands that a test cannot run as they are, and what stands in their place.
INSTEAD = {
    "--for 10m": "--for 10s",
    "--hours 24": "--hours 0.05",
    "/mnt/backup": "build/backup",
    # The environment that the tests run in is up to date, or `make test` would have made it so.
    "make ": "make -o .venv/.set-up ",
    "python -m scripts.size": "git init --quiet && git add --all && python -m scripts.size",
}

# Inline commands that are run where the tour has left its data. D is a date.
ON_THE_TOUR = [
    "make",
    "python -m scripts.tests_of",
    "transit-etl config",
    "transit-etl describe core.stop_visits",
    "transit-etl describe marts.headways",
    "transit-etl metrics",
    "transit-etl prune",
    "transit-etl tables",
    "transit-etl tables headway",
    "transit-etl verify",
]

# The same, but of half a minute each or more, which only `make test-long` runs.
LONG_ON_THE_TOUR = [
    "make docs",
    "make sbom",
    "python -m scripts.size",
    "transit-etl build --as-of 2026-03-02T06:30Z",
    "transit-etl build --ruleset 2",
    "transit-etl export --all",
]

# Commands that take minutes; `make test-long` runs them shortened like this.
SHORTENED = {
    "python benchmarks/allowance.py": "python benchmarks/allowance.py --seconds 62 --processes 2",
    "python benchmarks/any_network.py --gtfs feed.zip": (
        "python benchmarks/any_network.py --size small --ids vehicle --hours 0.5"
    ),
    "python benchmarks/audit.py": "python benchmarks/audit.py --size small --hours 0.5",
    "python benchmarks/build_history.py": (
        "python benchmarks/build_history.py --short 1 --long 2 --hours 0.2 --repeat 1"
    ),
    "python benchmarks/collector.py --gtfs feed.zip --seed 1": (
        "python benchmarks/collector.py --size small --seed 1 --rate 60 --hours 7 7.5 --faults off"
    ),
    "python benchmarks/crash.py": "python benchmarks/crash.py --kills 2",
    "python benchmarks/disruptions.py": "python benchmarks/disruptions.py --size small --days 2",
    "python benchmarks/emulator_calibration.py": "python benchmarks/emulator_calibration.py",
    "python benchmarks/emulator_throughput.py": (
        "python benchmarks/emulator_throughput.py --seconds 1 --size small"
    ),
    "python benchmarks/exports.py --days 31": "python benchmarks/exports.py --hours 0.2 --days 2 --copies 1",
    "python benchmarks/handover.py --handovers 3 --window 80": (
        "python benchmarks/handover.py --handovers 1 --window 80"
    ),
    "python benchmarks/impact.py": "python benchmarks/impact.py --days 2",
    "python benchmarks/misleading.py --actuals actuals.parquet --timezone America/New_York": (
        "python benchmarks/misleading.py --kind no_passages --date 2026-03-02 --skip 3 --hours 0.5"
    ),
    "python benchmarks/promises.py": "python benchmarks/promises.py --size small --days 2",
    "python benchmarks/punctuality.py": "python benchmarks/punctuality.py --hours 0.5",
    "python benchmarks/publication.py --data data/demo --days 150": (
        "python benchmarks/publication.py --hours 0.2 --days 2 --repeat 1"
    ),
    "python benchmarks/queries.py --copies 1": (
        "python benchmarks/queries.py --hours 0.2 --days 2 --copies 1 --repeat 1"
    ),
    "python benchmarks/schedule_reading.py --days 4 --hours 6 12": (
        "python benchmarks/schedule_reading.py --size small --days 2 --hours 7 7.5"
    ),
    "python benchmarks/recorded_days.py --actuals actuals.parquet --timezone America/New_York": (
        "python benchmarks/recorded_days.py --date 2026-03-02 --skip 3 --hours 0.5"
    ),
    "python benchmarks/reports.py --days 31": "python benchmarks/reports.py --hours 0.2 --days 2 --copies 1",
    "python benchmarks/rehearsal.py --hours 24 --start 2026-03-02T03:00": (
        "python benchmarks/rehearsal.py --hours 0.1 --start 2026-03-02T06:00 --size small"
    ),
    "python benchmarks/live_page.py --hours 2": (
        "python benchmarks/live_page.py --size small --hours 0.2 --seconds 20"
    ),
    "python benchmarks/workers.py": "python benchmarks/workers.py --hours 0.2 --days 2",
    "python benchmarks/outage.py": "python benchmarks/outage.py --down 160",
    "python -m tests.fuzz --minutes 5 answers": "python -m tests.fuzz --minutes 0.2 headers",
    "python benchmarks/validated_exports.py --data FOLDER": "python benchmarks/validated_exports.py",
    "python benchmarks/soak.py": "python benchmarks/soak.py --days 7 --rate 6",
    "python benchmarks/staging.py --rows 1000000": (
        "python benchmarks/staging.py --rows 20000 --runs 1 --dlt-rows 2000 --dlt-runs 1"
    ),
}

# Commands that no document's session can run: the file that runs them, and how it calls them.
ELSEWHERE = {
    "transit-etl trip 18 2026-03-02 08:15": ("tests/cli/test_trip.py", 'cli("trip"'),
    "transit-etl reprocess": ("tests/end_to_end/test_journey.py", '"reprocess", "--from"'),
    "transit-etl sync": ("tests/store/test_steps.py", '"sync", "--json"'),
    "GTFS=feed.zip make demo": ("tests/documents/test_demonstration.py", "GTFS=feed.zip make demo"),
    "python -m scripts.known_faults": ("tests/test_known_faults.py", "known_faults.main("),
    "make audit": ("tests/test_lock.py", "audit.audit("),
    "make check": ("tests/test_check_changed.py", "check_changed.main("),
    "make demo": ("tests/documents/test_demonstration.py", "make demo"),
    "make down": ("tests/documents/test_local_stack.py", "make down"),
    "make fuzz": ("Makefile", "python -m tests.fuzz"),
    "make lint": ("Makefile", "test: setup lint unit"),
    "make lock": ("tests/test_lock.py", "LOCK"),
    "make messages": ("tests/reports/test_language.py", "messages()"),
    "make test": (".ci/run", "make test"),
    "make test-long": ("Makefile", "test-long: setup"),
    "make test-long LONG=exhaustive": ("Makefile", 'SELECT="$(LONG)"'),
    "make up": ("tests/documents/test_local_stack.py", "make up"),
    "marimo run docs/notebooks/punctuality.py": ("tests/browser/test_notebook.py", '_served("run"'),
    "pre-commit install": ("tests/documents/test_pre_commit.py", "pre-commit install"),
    "pytest -q tests/test_settings.py": ("tests/test_settings.py", "def test_"),
    "pytest -m exhaustive tests/test_disk_faults.py": ("tests/test_disk_faults.py", "pytest.mark.exhaustive"),
    "pytest -m long tests/browser/test_rehearsed_week.py": (
        "tests/browser/test_rehearsed_week.py",
        "pytest.mark.long",
    ),
    "pytest tests/test_fault_matrix.py": ("tests/test_fault_matrix.py", "def test_"),
    "python benchmarks/engines.py": ("tests/warehouse/test_spark.py", "compare_builds("),
    "python -m tests.documents.refresh docs/tour.md": ("tests/documents/test_refreshing.py", "refresh("),
    "transit-etl prune --raw-before 2026-03-01 --backup /mnt/backup": (
        "tests/cli/test_backup.py",
        'cli("prune", "--raw-before"',
    ),
    "transit-etl folder --accept": ("tests/cli/test_folder.py", 'cli("folder", "--accept"'),
    "transit-etl build --workers 4": ("tests/cli/test_errors.py", 'cli("build", "--workers", "4"'),
    "transit-etl check --alert": ("tests/cli/test_check.py", 'cli("check", "--alert"'),
    "transit-etl check": ("tests/cli/test_check.py", 'cli("check"'),
    "transit-etl collect lines": ("tests/cli/test_errors.py", 'cli("collect", "lines"'),
    "transit-etl collect stops": ("tests/cli/test_errors.py", 'cli("collect", "stops"'),
    "transit-etl contract": ("tests/cli/test_contract.py", 'cli("contract"'),
    "transit-etl diff": ("tests/cli/test_diff.py", 'cli("diff"'),
    "transit-etl emulator --port 8400": ("transit_emulator/process.py", '"emulator", "--port"'),
}
