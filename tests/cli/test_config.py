"""The command that shows the settings and where each comes from."""

import json
from pathlib import Path

from tests.cli.conftest import RunCli


def test_each_setting_is_shown_with_its_source_and_no_secret(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "transit-etl.toml").write_text('token = "s3cr3t-t0ken"\noperator = "example"\n')
    settings = {"TRANSIT_PROJECT_DIR": str(tmp_path), "TRANSIT_RATE_PER_MINUTE": "120"}
    shown = cli("config", **settings)
    found = json.loads(cli("config", "--json", **settings).stdout)

    assert "s3cr3t" not in shown.stdout + json.dumps(found)
    by_name = {each["setting"]: (each["value"], each["source"]) for each in found["settings"]}
    assert ("120", "TRANSIT_RATE_PER_MINUTE") == by_name["TRANSIT_RATE_PER_MINUTE"]
    assert ("example", str(tmp_path / "transit-etl.toml")) == by_name["TRANSIT_OPERATOR"]
    assert ("(hidden)", str(tmp_path / "transit-etl.toml")) == by_name["TRANSIT_TOKEN"]
    assert ("600.0", "default") == by_name["TRANSIT_WINDOW_SECONDS"]
    assert str(tmp_path) == found["project"]
    assert str(tmp_path / "transit-etl.toml") in shown.stdout


def test_the_operators_that_a_project_names_are_listed(cli: RunCli, tmp_path: Path) -> None:
    tables = (f'[{name}]\nbase_url = "https://{name}.test/api/v1/"' for name in ("genova", "bari"))
    (tmp_path / "operators.toml").write_text("\n".join(tables))
    found = json.loads(cli("config", "--json", TRANSIT_PROJECT_DIR=str(tmp_path)).stdout)
    by_name = {each["setting"]: (each["value"], each["source"]) for each in found["settings"]}

    assert "genova, bari" == found["operators"]
    assert ("genova", f"{tmp_path / 'operators.toml'} [genova]") == by_name["TRANSIT_OPERATOR"]


def test_a_line_names_the_source_unless_the_value_is_the_default(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TRANSIT_TIMEZONE=Europe/Paris\n")
    shown = cli("config", TRANSIT_PROJECT_DIR=str(tmp_path), TRANSIT_OPERATOR="example").stdout
    by_name = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}

    assert ["example", "(environment)"] == by_name["TRANSIT_OPERATOR"]
    assert ["Europe/Paris", f"({tmp_path / '.env'})"] == by_name["TRANSIT_TIMEZONE"]
    assert ["adaptive"] == by_name["TRANSIT_POLICY"]
