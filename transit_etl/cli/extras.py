"""Names the extra of the installation that a missing package belongs to."""

_PACKAGES = {
    "collect": {
        "apprise", "great_expectations", "httpx2", "pandas", "prometheus_client", "sqlalchemy",
        "zstandard",
    },
    "build": {"dbt", "scipy"},
    "export": {"frictionless", "gtfs_guru"},
    "report": {"altair", "babel", "lxml", "vl_convert"},
    "emulator": {"fastapi", "numpy", "starlette", "uvicorn"},
}  # fmt: skip


def what_to_install(error: ModuleNotFoundError) -> str | None:
    """Say in a sentence what to install, or nothing if no extra has what is missing."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in _PACKAGES.items():
        if package in packages:
            return f"this needs the package {package}: run pip install 'transit-etl[{extra}]'"
    return None
