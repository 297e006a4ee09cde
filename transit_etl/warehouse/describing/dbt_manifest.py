"""Reads what dbt knows of the project: of the models built last, or of those to build."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transit_base.installed import part_of_project
from transit_etl import paths
from transit_etl.warehouse.database import WarehouseError

PROJECT = part_of_project("sql")
DEMANDED_AT_ONCE = ("grain", "holds")  # the checks that sql/macros/checks.sql demands once a model is made
Manifest = Mapping[str, Any]  # as dbt documents it: https://schemas.getdbt.com/dbt/manifest/v12.json


class ProjectError(WarehouseError):
    """dbt cannot read its project; the message says why."""


def last_manifest(data_dir: Path) -> Manifest | None:
    """Return what the last run of dbt knew; None if it is lost, as all state may be."""
    try:
        manifest: Manifest = json.loads(paths.dbt_manifest(data_dir).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return manifest


def is_demanded_at_once(node: Mapping[str, Any]) -> bool:
    """Tell whether a node is a check that is part of making its model, and not run by itself."""
    return (node.get("test_metadata") or {}).get("name") in DEMANDED_AT_ONCE


def parsed_manifest() -> Manifest:
    """Let dbt read the project as it is, which takes seconds; nothing is built or kept."""
    with TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "dbt.cli.main", "--quiet", "--log-level-file", "none", "parse",
            "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), "--target", "check",
            "--target-path", folder, "--log-path", folder,
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603 - our own program and arguments
            command, cwd=folder, env=without_dbt_settings(), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ProjectError(f"dbt cannot read {PROJECT}: {' '.join((done.stdout + done.stderr).split())}")
        manifest: Manifest = json.loads((Path(folder) / "manifest.json").read_bytes())
    return manifest


def without_dbt_settings() -> dict[str, str]:
    """Return the environment of a dbt process, without the user's own dbt settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DBT_")}
