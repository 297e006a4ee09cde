"""The file of the image: what it is built from is pinned and exists, and what runs is no root."""

import re
import shlex
from pathlib import Path

from tests.documents.sessions import ROOT

FILE = ROOT / "deploy/container/Containerfile"
LINES = FILE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
IGNORED = (FILE.parent / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()


def instructions(name: str) -> list[str]:
    """Return what follows a word at the beginning of a line."""
    return [line.removeprefix(name).strip() for line in LINES if line.startswith(f"{name} ")]


def test_the_base_has_one_content_for_ever() -> None:
    [base] = instructions("ARG")

    assert re.fullmatch(r"BASE=python:3\.11-[a-z-]+@sha256:[0-9a-f]{64}", base)
    assert {"${BASE}"} == {line.split()[0] for line in instructions("FROM")}


def test_every_package_has_a_checksum() -> None:
    installs = [
        command
        for line in instructions("RUN")
        for command in line.split("&&")
        if re.search(r"pip install", command)
    ]

    assert installs
    assert all(
        "--require-hashes" in each or "--no-deps dist/*.whl" in " ".join(each.split()) for each in installs
    )


def test_what_runs_is_no_root_and_has_no_secret() -> None:
    [user] = instructions("USER")
    variables = {pair.partition("=")[0] for line in instructions("ENV") for pair in shlex.split(line)}

    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert variables
    assert not [name for name in variables if re.search("PASSWORD|SECRET|TOKEN|KEY|CONN|URL", name)]


def test_the_image_is_built_from_what_the_wheel_and_the_dags_need_and_nothing_else() -> None:
    kept = {line.removeprefix("!") for line in IGNORED if line.startswith("!")}
    packed = re.findall(r'^"(?:([a-z]+)/?[^"]*)" = "transit_etl/', _project(), re.MULTILINE)
    [packages] = re.findall(r"^packages = \[(.+)\]", _project(), re.MULTILINE)

    assert "*" in IGNORED
    assert kept >= {"dags", "README.md", "LICENSE", *packed, *re.findall(r'"(\w+)"', packages)}
    assert [] == [name for name in sorted(kept) if not (ROOT / name).exists()]
    assert not {"data", "tests", ".git", "deploy"} & kept


def _project() -> str:
    return Path(ROOT / "pyproject.toml").read_text(encoding="utf-8")
