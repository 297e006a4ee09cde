"""The application that serves the pages: to users of Airflow alone, and files below their folders alone.

Airflow mounts it beside its own and guards nothing of it. Each route depends on the permission to see
Airflow; a path without a route has one too, so that whoever is not logged in learns nothing. There is no
mounted folder, since a mount is not guarded by the dependencies of the application.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import requires_access_view
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from transit_airflow.live import LivePage
from transit_base.errors import TransitError
from transit_etl import paths
from transit_etl.settings import load_settings
from transit_etl.warehouse import model_page_policy
from transit_exports.rendering import from_markdown, render, style_source

_METHODS = ["GET", "HEAD"]
_COMMON = "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
# What the pages of others may do: their styles and pictures are within them, and scripts do not run.
_OF_OTHERS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# The page about the models runs dbt's script, as an origin of its own: it reaches nothing of Airflow.
_ALONE = "sandbox allow-scripts allow-forms"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".atom": "application/atom+xml",
}
_FOLDERS: dict[str, Callable[[Path], Path]] = {
    "reports": paths.performance_dir,
    "quality": paths.quality_pages_dir,
    "dictionary": paths.dictionary_dir,
    "models": paths.models_dir,
}
_EMPTY = {
    "reports": "No report was written yet: the DAG nightly writes them, or transit-etl report.",
    "quality": "No batch was validated yet: they come with transit-etl stage.",
    "dictionary": "Nothing is published yet: the dictionary comes with transit-etl publish.",
    "models": "Nothing was built yet: the page about the models comes with transit-etl build.",
}


def make_app() -> FastAPI:
    """Return the application; it reads settings and files when it is asked."""
    guard = Depends(requires_access_view(AccessView.WEBSITE))
    app = FastAPI(
        title="transit-etl",
        dependencies=[guard],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(TransitError, _say)
    live = LivePage()

    @app.api_route("/live", methods=_METHODS)
    def show_live() -> HTMLResponse:
        return HTMLResponse(live.html(load_settings()), headers=_headers(_own_policy()))

    @app.api_route("/{kind}/{path:path}", methods=_METHODS)
    def show_file(kind: str, path: str, request: Request) -> Response:
        if kind not in _FOLDERS:
            raise HTTPException(404)
        return _file_below(_FOLDERS[kind](load_settings().data_dir), path, kind, request)

    @app.api_route("/{path:path}", methods=_METHODS)
    def refuse(path: str) -> Response:
        raise HTTPException(404, f"there is no page {path}")

    return app


def _say(_request: Request, error: Exception) -> Response:
    """Show why a page cannot be shown, such as a bad setting; only routes raise it, behind their guard."""
    return HTMLResponse(f"<pre>{escape(str(error))}</pre>", 500, headers=_headers("default-src 'none'"))


def _file_below(folder: Path, path: str, kind: str, request: Request) -> Response:
    """Return a file below a folder, the first page of a folder, or 404."""
    root = folder.resolve()
    try:
        found = (root / path).resolve()
        is_folder = found.is_dir()
    except (OSError, ValueError):  # a name too long, or with a null character
        raise HTTPException(404) from None
    if not found.is_relative_to(root):
        raise HTTPException(404)
    if is_folder and path and not path.endswith("/"):
        return RedirectResponse(f"{request.url.path.rsplit('/', 1)[-1]}/")
    if is_folder:
        found /= "index.md" if kind == "dictionary" else "index.html"
    if not found.is_file():
        if not path:
            return HTMLResponse(_EMPTY[kind], 404, headers=_headers("default-src 'none'"))
        raise HTTPException(404)
    if found.suffix == ".md":
        return HTMLResponse(_from_markdown(found), headers=_headers(_own_policy()))
    media_type = _TYPES.get(found.suffix, "application/octet-stream")
    return FileResponse(found, media_type=media_type, headers=_headers(policy_of(kind)))


def policy_of(kind: str) -> str:
    """Return the content policy of the pages of a kind."""
    if kind == "models":
        return f"{model_page_policy()}; {_ALONE}"
    return _own_policy() if kind == "reports" else _OF_OTHERS


def _from_markdown(path: Path) -> str:
    """Return a page of the dictionary: its texts are ours, and HTML in them is text."""
    values = {
        "title": "Data dictionary",
        "publisher": "transit-etl",
        "period": "data dictionary",
        "root": "",
        "pages": [],
        "content": from_markdown(path.read_text("utf-8")),
    }
    return render("dictionary.html", values, "transit_airflow")


def _own_policy() -> str:
    return f"default-src 'none'; style-src {style_source()}"


def _headers(policy: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": f"{policy}; {_COMMON}",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
    }
