"""The command that says what the data folder is."""

import json
from pathlib import Path

from tests.cli.conftest import RunCli
from transit_etl.identity import claim
from transit_etl.settings import Settings


def test_a_folder_of_another_operator_is_refused_until_it_accepts_it(cli: RunCli, tmp_path: Path) -> None:
    claim(Settings(data_dir=tmp_path / "data"), begins=True)
    other = {"TRANSIT_DATA_DIR": str(tmp_path / "data"), "TRANSIT_OPERATOR": "other"}
    refused = cli("folder", **other)
    accepted = json.loads(cli("folder", "--accept", "--json", **other).stdout)

    assert 1 == refused.returncode
    assert "emulated in the time zone Europe/Rome, with service days from 04:00:00" in refused.stdout
    assert "holds answers of emulated, not of other (TRANSIT_OPERATOR)" in refused.stderr
    assert ["emulated", "other"] == list(accepted["folder"]["operators"])
    assert 1 == len(accepted["follows"])
