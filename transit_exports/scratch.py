"""Where exports are built, out of sight of whoever is served them; what a killed one left is cleared away."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from transit_base.files import clear_away, locked, make_folder
from transit_exports.settings import ExportSettings
from transit_exports.source import Source, opened


@contextmanager
def opened_with_scratch(settings: ExportSettings, name: str) -> Iterator[Source]:
    """Open the published file, with a folder of this name for what does not fit into memory.

    Waits while another process does so under the same name.
    """
    name = f"{name}.source"
    with locked(settings.lock(name)):
        _clear_leftovers(settings)
        with (
            emptied(settings.scratch(name)) as folder,
            opened(settings, folder) as source,
        ):
            yield source


@contextmanager
def emptied(folder: Path) -> Iterator[Path]:
    """Have an empty folder, which is removed afterwards."""
    clear_away(folder)
    make_folder(folder)
    try:
        yield folder
    finally:
        clear_away(folder)


def _clear_leftovers(settings: ExportSettings) -> None:
    """Remove what killed exports left; what another process works in is locked under its name."""
    prefix = ".replacement-"
    folders = [(folder.name.removeprefix(prefix), folder) for folder in settings.folder.glob(f"{prefix}*")]
    folders += [(folder.name, folder) for folder in settings.scratch_folder.glob("*")]
    for name, folder in folders:
        with suppress(BlockingIOError), locked(settings.lock(name), waits=False):
            clear_away(folder)
