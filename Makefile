# What there is to do here; `make` alone lists it. Settings of transit-etl itself are TRANSIT_* variables.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup lock demo test lint unit test-long up down clean

BIN := .venv/bin
STAMP := .venv/.set-up
SELECT := not long
# Each process that may keep no bytecode compiles all it imports, for seconds; tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
# A test must not see the settings of whoever starts it.
CLEAN_ENV := env $$(env | sed -n 's/^\(\(TRANSIT\|AIRFLOW\|DBT\|PYTEST\)_[A-Za-z0-9_]*\)=.*/-u \1/p')

help: ## list what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make .venv with everything in it (again only when requirements.lock or pyproject.toml changed)

$(STAMP): requirements.lock pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh
	@touch $@

lock: ## resolve pyproject.toml anew into requirements.lock
	$(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --all-extras --group dev \
	  --annotation-style line --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

demo: setup ## five minutes of a busy morning, from an upstream to an answer (GTFS=feed.zip for a network of yours)
	@$(CLEAN_ENV) $(BIN)/python -m scripts.demo $(if $(GTFS),--gtfs "$(GTFS)")

test: setup lint unit ## everything that must hold, in under 15 minutes

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry transit_etl transit_emulator dags
	$(BIN)/deptry scripts benchmarks tests --exclude '^$$' --ignore DEP002,DEP004
	$(CLEAN_ENV) $(BIN)/sqlfluff lint sql

unit: setup
	$(CLEAN_ENV) $(BIN)/pytest -n 2 --dist loadgroup -m "$(SELECT)"

test-long: setup ## the checks that take minutes each
	@$(MAKE) --no-print-directory unit SELECT=long

up: setup ## run it all here: Airflow on http://localhost:8080 and an emulated upstream on port 8400
	@$(BIN)/python -m scripts.up

down: setup ## stop what `make up` started
	@$(BIN)/python -m scripts.down

clean: ## remove caches; data/ and .venv/ stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis sql/target sql/logs build *.egg-info
	find dags scripts sql tests transit_emulator transit_etl -name __pycache__ -type d -prune -exec rm -rf {} +
