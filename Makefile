# The commands for working on this project; `make` alone lists them. Settings of transit-etl itself are TRANSIT_* variables.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup lock demo test check lint lint-sql lint-types lint-style lint-python unit test-long fuzz docs messages sbom audit up down clean

BIN := .venv/bin
STAMP := .venv/.set-up
OLDER_DUCKDB := $(wildcard scripts/older-duckdb/*.lock)
TOOLS := $(wildcard scripts/*.lock)
SELECT := not long
LONG := long
# A process that may not write bytecode compiles every module it imports, which takes seconds; tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
# Tests and the demonstration must not see the settings of the shell that starts them.
CLEAN_ENV := env $$(env | sed -n 's/^\(\(TRANSIT\|AIRFLOW\|DBT\|PYTEST\)_[A-Za-z0-9_]*\)=.*/-u \1/p')

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make .venv (again only when requirements.lock, pyproject.toml or scripts/setup.sh changed)

$(STAMP): requirements.lock pyproject.toml scripts/setup.sh $(OLDER_DUCKDB) $(TOOLS)
	@sh scripts/setup.sh
	@touch $@

# `--universal`: one lock for every version of Python from 3.11 on.
COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --annotation-style line --custom-compile-command "make lock" --output-file

lock: ## write the locks anew from pyproject.toml, with the newest versions and their checksums
	$(COMPILE) requirements.lock --all-extras --group dev pyproject.toml
	@for lock in $(OLDER_DUCKDB); do \
	  printf '%s\n' "duckdb==$$(basename $$lock .lock).*" duckdb-sqlalchemy | $(COMPILE) $$lock --no-deps - || exit 1; done
	echo "datacontract-cli[duckdb]" | $(COMPILE) scripts/datacontract-cli.lock -
	echo cyclonedx-bom | $(COMPILE) scripts/cyclonedx-bom.lock -

demo: setup ## rehearse days, poll live for two minutes, build, publish, compare with the truth (GTFS=feed.zip: another network)
	@$(CLEAN_ENV) $(BIN)/python -m scripts.demo $(if $(GTFS),--gtfs "$(GTFS)")

test: setup lint unit ## lint, types, imports, and every test but the long ones: a quarter of an hour on two cores

check: setup ## style, types, and the quick tests of the files that changed since the last commit: a minute
	@$(MAKE) --no-print-directory --jobs=2 --output-sync --keep-going lint-types lint-style
	$(CLEAN_ENV) $(BIN)/python -m scripts.check_changed

# Two at a time, each with its output in one piece: types and SQL take a minute each, on one core.
lint: setup ## style of Python and SQL, types, import contracts, dependencies
	@$(MAKE) --no-print-directory --jobs=2 --output-sync --keep-going lint-sql lint-types lint-python

lint-sql:
	$(CLEAN_ENV) $(BIN)/sqlfluff lint sql --processes 2

lint-types:
	$(BIN)/mypy

lint-style:
	$(BIN)/ruff check
	$(BIN)/ruff format --check

lint-python: lint-style
	$(BIN)/lint-imports
	$(BIN)/deptry transit_base transit_estimates transit_etl transit_exports transit_reports transit_airflow transit_emulator dags
	$(BIN)/deptry scripts benchmarks tests docs/notebooks --exclude '^$$' --ignore DEP002,DEP004

unit: setup ## every test but the long ones
	$(CLEAN_ENV) $(BIN)/pytest -n 3 --dist loadgroup -m "$(SELECT)"

test-long: setup ## the long tests alone: about half an hour
	@$(MAKE) --no-print-directory unit SELECT="$(LONG)"

fuzz: setup ## change what is read from others for 30 minutes and look for tracebacks: build/fuzz (MINUTES=…)
	$(CLEAN_ENV) $(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),30)

docs: setup ## write the documentation as pages that open from disk: build/docs/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs build/docs
	@echo build/docs/index.html

messages: setup ## put the texts of reports into the files of their translations (transit_reports/locale)
	@$(BIN)/python -m scripts.messages

sbom: setup ## write the list of locked packages as CycloneDX: build/sbom.json
	@mkdir -p build
	@PYTHONPATH=.venv/cyclonedx-bom $(BIN)/python -W ignore -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.json requirements.lock
	@echo build/sbom.json

audit: setup ## ask advisory services about known vulnerabilities of the locked packages; fails if none can be asked
	@$(BIN)/python -m scripts.audit

up: setup ## run everything on this machine: Airflow on http://localhost:8080 and an emulated upstream on port 8400
	@$(BIN)/python -m scripts.up

down: setup ## stop what `make up` started
	@$(BIN)/python -m scripts.down

clean: ## remove caches; data/ and .venv/ stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis sql/target sql/logs build *.egg-info
	rm -rf docs/notebooks/__marimo__ docs/dictionary
	find dags docs scripts sql tests transit_base transit_emulator transit_estimates transit_etl transit_exports transit_reports transit_airflow -name __pycache__ -type d -prune -exec rm -rf {} +
