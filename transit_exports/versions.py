"""Keeps the versions of an export that were replaced, for a set time."""

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from transit_base.files import clear_away, make_folder, replace_folder, sync_tree
from transit_base.stamps import stamp, stamped_at
from transit_exports.manifest import Manifest, read_manifest
from transit_exports.settings import ExportSettings


def keep_version(settings: ExportSettings, folder: Path, before: Manifest, built: Path) -> bool:
    """Keep an export that is about to be replaced by another one; return whether their files differ.

    Its folder is named by the instant of the publication that ended it. Files that both have take no room.
    """
    after = read_manifest(built)
    if after is None or after.digest == before.digest:
        return False
    ended_at = _stamp(after)
    older = settings.older_folder / folder.name
    if settings.keep_days:
        _link(folder, older / ended_at, built.with_name(f"{built.name}.older"))
    _remove_expired(older, ended_at, settings.keep_days)
    return True


def _stamp(manifest: Manifest) -> str:
    return stamp(datetime.fromisoformat(manifest.published_at))


def _link(folder: Path, target: Path, built: Path) -> None:
    """Make a second folder with the same files; it has its name only when it is whole."""
    clear_away(built)
    make_folder(built)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            copy = built / path.relative_to(folder)
            make_folder(copy.parent)
            os.link(path, copy)
    sync_tree(built)
    replace_folder(built, target)


def _remove_expired(older: Path, now: str, keep_days: int) -> None:
    for folder in older.iterdir() if older.is_dir() else ():
        ended_at = stamped_at(folder.name)
        if ended_at and ended_at < _naive(now) - timedelta(days=keep_days):
            shutil.rmtree(folder)


def _naive(ended_at: str) -> datetime:
    return stamped_at(ended_at) or datetime.min  # noqa: DTZ901 - UTC, as the other
