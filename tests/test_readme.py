"""What the README tells a reader to type and to open is there."""

import re
import shlex
from pathlib import Path

import pytest

from transit_etl.cli import app
from transit_etl.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = {info.name or getattr(info.callback, "__name__", "") for info in app.registered_commands}
GROUPS = {info.name for info in app.registered_groups}


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake ([a-z-]+)", README))))
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"(?:^|`|&& )transit-etl ([a-z]+)", README, re.MULTILINE)))
)
def test_every_command_exists(command: str) -> None:
    assert command in COMMANDS | GROUPS


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`(python benchmarks/[^`]+)`", README))))
def test_every_benchmark_exists(command: str) -> None:
    assert (ROOT / shlex.split(command)[1]).is_file()


@pytest.mark.parametrize("name", sorted(set(re.findall(rf"`?{PREFIX}([A-Z_]*[A-Z])", README))))
def test_every_setting_exists(name: str) -> None:
    assert name.lower() in Settings.model_fields


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:sql|transit_etl|expectations)/[\w/.]+)`", README)))
)
def test_every_path_exists(path: str) -> None:
    assert (ROOT / path).exists()
