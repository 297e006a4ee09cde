"""Where exports are built, out of sight of whoever is served them; what a killed one left is cleared away."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from transit_etl import paths
from transit_etl.exports.source import Source, opened
from transit_etl.files import clear_away, locked, make_folder
from transit_etl.settings import Settings


@contextmanager
def opened_with_scratch(settings: Settings, name: str) -> Iterator[Source]:
    """Open the published file, with a folder of this name for what does not fit into memory.

    Waits while another process does so under the same name.
    """
    name = f"{name}.source"
    with locked(paths.export_lock(settings.data_dir, name)):
        _clear_leftovers(settings.data_dir)
        with (
            emptied(paths.export_scratch(settings.data_dir, name)) as folder,
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


def _clear_leftovers(data_dir: Path) -> None:
    """Remove what killed exports left; what another process works in is locked under its name."""
    served = paths.exports_dir(data_dir)
    prefix = ".replacement-"
    folders = [(folder.name.removeprefix(prefix), folder) for folder in served.glob(f"{prefix}*")]
    folders += [(folder.name, folder) for folder in paths.export_scratch(data_dir, "").glob("*")]
    for name, folder in folders:
        with suppress(BlockingIOError), locked(paths.export_lock(data_dir, name), waits=False):
            clear_away(folder)
