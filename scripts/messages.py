"""Writes the texts of reports into the translations: `make messages` after a text changed.

A text that has no translation yet stands there without one, and a test fails until it has.
"""

import csv
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "transit_reports"
_METHODS = [("**.py", "python"), ("templates/**.html", "jinja2.ext:babel_extract")]
_OPTIONS = {"templates/**.html": {"silent": "false"}}
_SEEDS = {"null_reasons.csv": "words", "event_meanings.csv": "meaning", "lift_definitions.csv": "meaning"}
_KEYWORDS = {"_": None, "_n": (1, 2), "N_": None, "gettext": None, "ngettext": (1, 2)}


def messages() -> Catalog:
    """Return every text that reports translate: code, templates, and words of seeds."""
    catalog = Catalog(charset="utf-8")
    found = extract_from_dir(PACKAGE, _METHODS, _OPTIONS, keywords=_KEYWORDS)
    for path, _line, message, _comments, context in sorted(found, key=lambda each: (each[0], each[1])):
        catalog.add(message, locations=[(path, 0)], context=context)
    for name, column in _SEEDS.items():
        with (ROOT / "sql" / "seeds" / name).open(encoding="utf-8", newline="") as seed:
            for row in csv.DictReader(seed):
                catalog.add(row[column], locations=[(name, 0)])
    return catalog


def untranslated(catalog: Catalog) -> list[str]:
    """Return the texts without a translation, or with a form of a number that has none."""
    found = []
    for message in catalog:
        forms = [message.string] if isinstance(message.string, str) else message.string or [""]
        if message.id and not all(forms):
            found.append(message.id if isinstance(message.id, str) else message.id[0])
    return found


def main() -> None:
    """Update the file of each language."""
    found = messages()
    for path in sorted((PACKAGE / "locale").glob("*.po")):
        with path.open("rb") as source:
            catalog = read_po(source, locale=path.stem)
        found.creation_date = catalog.creation_date  # the file changes only with its texts
        catalog.update(found, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        with path.open("wb") as target:
            write_po(target, catalog, width=118, include_lineno=False, omit_header=True)
        n_missing = len(untranslated(catalog))
        print(f"{path.relative_to(ROOT)}: {len(catalog)} texts, {n_missing} not translated")  # noqa: T201


if __name__ == "__main__":
    main()
