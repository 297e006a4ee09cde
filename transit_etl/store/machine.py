"""Names a data folder among those that share an object store: host names and process numbers repeat."""

import secrets
from pathlib import Path

from pydantic import TypeAdapter

from transit_base.files import locked
from transit_etl.kept_facts import keep, recall
from transit_etl.paths import machine_file

_NAME = TypeAdapter(str)


def machine_id(data_dir: Path) -> str:
    """Return eight letters and digits that were drawn by chance when they were first asked for."""
    path = machine_file(data_dir)
    with locked(path.with_suffix(".lock")):
        name = recall(path, _NAME)
        if not name:
            name = secrets.token_hex(4)
            keep(path, _NAME, name)
    return name
