"""The command that shows the settings."""

from pathlib import Path

from pydantic import SecretStr

from transit_etl.cli.options import Json
from transit_etl.cli.output import print_json, print_text
from transit_etl.settings import PREFIX, LoadedSettings, Settings, load_with_sources

DEFAULT = "default"


def config(as_json: Json = False) -> None:
    """Show every setting, its value and where it comes from, unless it is the default; secrets are hidden.

    A setting is a TRANSIT_ variable, or a line of `.env` or `transit-etl.toml` in the project: the nearest
    folder above the working directory with a `transit-etl.toml`, or the checkout. Relative paths start there.

    Example: transit-etl config
    """
    loaded = load_with_sources()
    rows = [_row(loaded, name) for name in Settings.model_fields]
    if as_json:
        print_json({**_places(loaded), "settings": rows})
        return
    width = max(len(row["setting"]) for row in rows)
    for label, place in _places(loaded).items():
        print_text(f"{label.replace('_', ' '):<{width}}  {place}")
    for row in rows:
        print_text(f"{row['setting']:<{width}}  {row['value']}{_origin(row)}".rstrip())


def _origin(row: dict[str, str]) -> str:
    """Return where a value comes from, as it is shown next to the value; nothing for a default."""
    if row["source"] == DEFAULT:
        return ""
    return "  (environment)" if row["source"] == row["setting"] else f"  ({row['source']})"


def _places(loaded: LoadedSettings) -> dict[str, str]:
    settings = loaded.settings
    budget = "TRANSIT_LIMITER_URL" if settings.limiter_url else settings.budget_url.removeprefix("sqlite:///")
    several = {"operators": ", ".join(settings.operators)} if settings.are_operators_named else {}
    return {
        "project": str(loaded.project),
        **several,
        "data_folder": str(settings.data_dir.absolute()),
        "request_budget": budget,
    }


def _row(loaded: LoadedSettings, name: str) -> dict[str, str]:
    value = getattr(loaded.settings, name)
    shown = "(hidden)" if isinstance(value, SecretStr) else "" if value is None else str(value)
    if isinstance(value, Path):
        shown = str(value.absolute())
    return {
        "setting": f"{PREFIX}{name.upper()}",
        "value": shown,
        "source": loaded.sources.get(name, DEFAULT),
    }
