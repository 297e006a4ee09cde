"""Writes the documentation of the models as one page: dbt's own, with all that it shows inside it.

`dbt docs generate` would start dbt once more, which takes seconds, and its page differs after each build and
holds paths of this machine. Here dbt's page is filled with what the build has left.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

from transit_base.files import write_changed
from transit_base.promised import SCHEMAS, WORKING, original_schema
from transit_etl.paths import models_dir
from transit_etl.settings import FolderSettings
from transit_etl.warehouse.database import WarehouseError, open_build_database
from transit_etl.warehouse.describing.dbt_manifest import Manifest, last_manifest
from transit_etl.warehouse.describing.dictionary import FoundColumn, found_columns

_PARTS = re.compile(r'<script defer="defer">(?P<script>.*?)</script>.*?<body>(?P<body>.*)</body>', re.DOTALL)
_INLINE = '"{}.JSON INLINE DATA"'  # in dbt's script: where `dbt docs generate --static` puts the data
_COMPILED = "-- It differs from build to build: state/dbt/target/compiled has that of the last one."
_NOTHING_SENT = "base-uri 'none'; form-action 'none'"
# What differs from run to run, or names a folder of this machine.
_LEFT_OUT = ("build_path", "compiled", "compiled_path", "created_at", "root_path")
_RUN = ("generated_at", "invocation_id", "invocation_started_at", "run_started_at", "user_id", "env")
# dbt's page has one scheme of colours. It cuts descriptions off, and has places for groups, owners and
# constraints, of which this project has none.
_STYLE = """
:root { color-scheme: light; }
.switches .switch:nth-child(3), dl.detail:has(> dd:empty) { display: none !important; }
.detail-body { white-space: normal !important; }
td[style*="text-overflow"] { white-space: normal !important; max-width: none !important; width: 100%; }
pre.line-numbers, pre.line-numbers * { line-height: 1.6 !important; }
.column-row > td { vertical-align: top !important; }
.table:has(.column-row) :is(th, td) { padding-left: 8px !important; padding-right: 8px !important; }
.table:has(.column-row) > thead th:nth-child(4), .column-row > td:nth-child(4) { display: none; }
@media (max-width: 760px) { .app-menu { display: none !important; } .app-body { min-width: 0 !important; } }
"""


class _Parts(NamedTuple):
    """What dbt's page consists of."""

    script: str
    body: str


def write_model_page(settings: FolderSettings) -> bool:
    """Write the page of the models that were built last, if it changed; tell whether it was written.

    It is left alone where the last build was of a variant, or what dbt knew of it is lost. Who calls it holds
    the lock of the warehouse. WarehouseError if dbt's page has another form than the one that is known.
    """
    manifest = last_manifest(settings.data_dir)
    if manifest is None or _is_of_a_variant(manifest):
        return False
    with open_build_database(settings) as connection:
        columns = found_columns(connection, ("staging", WORKING, *SCHEMAS))
    return write_changed(models_dir(settings.data_dir) / "index.html", model_page(manifest, columns))


def model_page(manifest: Manifest, columns: Iterable[FoundColumn]) -> str:
    """Return the page as HTML that loads nothing and runs dbt's script alone.

    manifest: what dbt knew of a build.
    columns: those of the tables that were built, with their types.
    """
    shown = _shown(manifest)
    data = {"manifest": shown, "catalog": _catalog(shown, columns)}
    blocks = "\n".join(
        f'<script type="application/json" id="{name}">{_json(value)}</script>' for name, value in data.items()
    )
    return (
        '<!doctype html>\n<html lang="en" ng-app="dbt" ng-csp="no-unsafe-eval"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{model_page_policy()}; {_NOTHING_SENT}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Models</title>\n<style>{_STYLE}</style>\n{blocks}\n<script>{_parts().script}</script></head>\n"
        f"<body>{_parts().body}</body></html>\n"
    )


@cache
def model_page_policy() -> str:
    """Return the content policy of the page: dbt's script by its checksum, and what is within the page."""
    checksum = b64encode(sha256(_parts().script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{checksum}'; style-src 'unsafe-inline'; img-src data:; "
        "font-src data:"
    )


@cache
def _parts() -> _Parts:
    """Read dbt's page; its script then takes the data from elements of the page."""
    found = _PARTS.search(files("dbt.task.docs").joinpath("index.html").read_text("utf-8"))
    if found is None:
        raise WarehouseError("dbt's page of models has another form than the one that is known")
    script = found["script"]
    for name in ("manifest", "catalog"):
        place = _INLINE.format(name.upper())
        if script.count(place) != 1:
            raise WarehouseError(f"dbt's page of models has no place for the {name}")
        script = script.replace(place, f'JSON.parse(document.getElementById("{name}").textContent)')
    script = script.replace('xlink:href="{{', 'ng-attr-href="{{')  # or each template asks for a picture {{…}}
    return _Parts(script, found["body"])


def _is_of_a_variant(manifest: Manifest) -> bool:
    schemas = {node["schema"] for node in manifest["nodes"].values()}
    return any(original_schema(schema) != schema for schema in schemas)


def _shown(manifest: Manifest) -> dict[str, Any]:
    """Return what the page shows of a manifest: this project, the same for each build of the same models."""
    project = manifest["metadata"]["project_name"]
    own = {name: each for name, each in manifest["macros"].items() if each["package_name"] == project}
    kinds = {
        kind: {name: _stable(each, own) for name, each in manifest.get(kind, {}).items()}
        for kind in ("nodes", "sources", "unit_tests")
    }
    return {
        **manifest,
        **kinds,
        "macros": {name: _stable(each, own) for name, each in own.items()},
        "docs": {name: each for name, each in manifest["docs"].items() if each["package_name"] == project},
        "metadata": {name: each for name, each in manifest["metadata"].items() if name not in _RUN},
    }


def _stable(node: Mapping[str, Any], macros: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node without what differs from build to build, or belongs to other projects."""
    kept = {name: value for name, value in node.items() if name not in _LEFT_OUT}
    if "compiled_code" in kept:
        kept["compiled_code"] = _COMPILED
    if "depends_on" in kept:
        depends = kept["depends_on"]
        kept["depends_on"] = {**depends, "macros": [name for name in depends["macros"] if name in macros]}
    return kept


def _catalog(shown: Mapping[str, Any], columns: Iterable[FoundColumn]) -> dict[str, Any]:
    """Return the columns and their types as a catalogue of dbt, by node; nodes without a table have none."""
    tables: dict[tuple[str, str], dict[str, Any]] = {}
    for column in sorted(columns, key=lambda each: (each.schema, each.table, each.number)):
        entry = {"name": column.name, "type": column.type.lower(), "index": column.number, "comment": None}
        tables.setdefault((column.schema, column.table), {})[column.name] = entry
    catalog: dict[str, Any] = {"metadata": {}, "errors": None}
    for kind in ("nodes", "sources"):
        catalog[kind] = {
            name: {
                "unique_id": name,
                "metadata": {
                    "schema": node["schema"],
                    "name": table,
                    "type": "view" if node["config"].get("materialized") == "view" else "table",
                    "database": None,
                    "owner": None,
                },
                "columns": tables[node["schema"], table],
                "stats": {},
            }
            for name, node in shown[kind].items()
            if (table := node.get("alias") or node["name"]) and (node["schema"], table) in tables
        }
    return catalog


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return JSON that ends no element of HTML and begins none."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
