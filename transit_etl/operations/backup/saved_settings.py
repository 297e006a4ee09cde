"""Writes the settings of an installation into its backup, without secrets, and back into a project."""

import json
from pathlib import Path

from pydantic import SecretStr

from transit_base.files import write_text
from transit_etl.operations.backup.place import SETTINGS, SETTINGS_FILE, copy
from transit_etl.project import TOML, read_toml
from transit_etl.settings import PREFIX, FolderSettings

_OF_THE_MACHINE = {"data_dir", "project_dir"}
_FILES = ("stops_file", "judged_stops_file", "plant_file")  # each is kept in a folder of its name
_MISSING = "# not kept here, set it again: "


def save_settings(settings: FolderSettings, backup: Path) -> list[str]:
    """Write the settings that are not defaults, and the reference files; return the paths in the backup."""
    chosen = {name: getattr(settings, name) for name in sorted(_set(settings))}
    secrets = [name for name, value in chosen.items() if isinstance(value, SecretStr)]
    plain = settings.model_dump(mode="json", include=chosen.keys() - secrets)
    names = [SETTINGS_FILE]
    for setting in _FILES:
        path: Path | None = getattr(settings, setting)
        if path is not None and path.exists():
            kept = copy(path.parent, backup / SETTINGS / setting, path.name)
            plain[setting] = f"{setting}/{kept.path}"
            names.append(f"{SETTINGS}/{plain[setting]}")
    lines = [
        *(f"{name} = {json.dumps(plain[name], ensure_ascii=False)}" for name in sorted(plain)),
        *(f"{_MISSING}{name}" for name in secrets),
    ]
    write_text(backup / SETTINGS_FILE, "".join(f"{line}\n" for line in lines))
    return names


def restore_settings(settings: FolderSettings, backup: Path, project: Path) -> tuple[list[str], list[str]]:
    """Write the settings of a backup into a project that has none; return what was written, and what to do.

    Where this installation has settings of its own, nothing is written; the differences are to be looked at.
    """
    saved = backup / SETTINGS_FILE
    if not saved.exists():
        return [], [f"{backup} holds no settings"]
    values = read_toml(saved)
    lines = saved.read_text(encoding="utf-8").splitlines()
    secrets = [line.removeprefix(_MISSING) for line in lines if line.startswith(_MISSING)]
    to_do = [
        f"set {_variable(name)} again: a backup holds no secret"
        for name in secrets
        if getattr(settings, name) is None
    ]
    if not _set(settings) and not (project / TOML).exists():
        return _write(saved, values, project), to_do
    now = settings.model_dump(mode="json")
    differing = [
        f"{_variable(name)} was {value!r} and is {now.get(name)!r}"
        for name, value in values.items()
        if name not in _FILES and now.get(name) != value
    ]
    return [], [*differing, *to_do]


def _write(saved: Path, values: dict[str, object], project: Path) -> list[str]:
    written = [project / TOML]
    write_text(project / TOML, saved.read_text(encoding="utf-8"))
    for setting in _FILES:
        name = f"{setting}/{Path(str(values.get(setting, ''))).name}"  # a forged one could lead elsewhere
        if name == values.get(setting) and (saved.parent / name).is_file() and not (project / name).exists():
            copy(saved.parent, project, name)
            written.append(project / name)
    return [str(path) for path in written]


def _set(settings: FolderSettings) -> set[str]:
    """Return the settings that are given somewhere, without those of folders of this machine."""
    given = settings.model_fields_set - _OF_THE_MACHINE
    return {name for name in given if getattr(settings, name) is not None}


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"
