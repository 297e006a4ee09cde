"""Settings of Sphinx for `make docs`: static pages that open from disk and need no network."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from transit_etl.warehouse.describing.contract_summary import promised_columns
from transit_etl.warehouse.describing.dbt_manifest import parsed_manifest
from transit_etl.warehouse.describing.dictionary import Dictionary, read_dictionary
from transit_etl.warehouse.describing.dictionary_files import as_pages, replace_pages

# The one script that furo writes into its pages; a script of any other text does not run.
_INLINE = "sha256-ySvT2PEZeueHGC1y2crNuNTfphBynFPP7i+U21fEgX0="
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
    f"form-action 'self' file:; script-src 'self' file: '{_INLINE}'; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: data:; font-src 'self' file: data:\">"
)

project = "transit-etl"
html_title = "transit-etl"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # a browser cannot fetch the pages' text from disk
html_last_updated_fmt = None  # the same sources give the same pages


class SearchNames(SearchEnglish):
    """Finds a name by each of its words too: `n_bunched` by "bunched"."""

    def split(self, input: str) -> list[str]:  # noqa: A002 - Sphinx calls it so
        """Return the words of a text, and the parts of those that are names."""
        words = super().split(input)
        return [*words, *(part for word in words if "_" in word for part in word.split("_"))]


def setup(app: Sphinx) -> None:
    """Add the data dictionary and a search by the words of names, and a content security policy to pages."""
    app.add_search_language(SearchNames)
    app.connect("builder-inited", _write_dictionary)
    app.connect("html-page-context", _add_policy)


def _add_policy(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:  # noqa: ARG001
    context["metatags"] = _POLICY + context.get("metatags", "")


def _write_dictionary(app: Sphinx) -> None:
    """Write a page for each table that `contract.yaml` promises, as the models describe it.

    What a table is made of is left out: that takes a build, and stands in the pages of a publication.
    """
    folder = Path(app.srcdir)
    found = read_dictionary(promised_columns(folder / "contract.yaml"), parsed_manifest())
    tables = [replace(table, reads="") for table in found.tables]
    replace_pages(folder / "dictionary", as_pages(Dictionary(tables, found.columns)))
