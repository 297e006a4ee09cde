"""Settings and data folder come from one place, wherever a command is started."""

from pathlib import Path

import pytest

from transit_etl.project import project_folder
from transit_etl.settings import BadSettingError, load_settings, load_with_sources

TOML = 'base_url = "https://t.test/api/v1/"\ndata_dir = "kept"\nrate_per_minute = 30\n'


@pytest.fixture(autouse=True)
def _as_a_user_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSIT_PROJECT_DIR")  # which keeps settings files out of the other tests


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a settings file, whose subfolder is the working directory."""
    folder = tmp_path / "project"
    (folder / "below" / "it").mkdir(parents=True)
    (folder / "transit-etl.toml").write_text(TOML)
    monkeypatch.chdir(folder / "below" / "it")
    return folder


def test_the_nearest_settings_file_above_makes_the_project(project: Path) -> None:
    assert project == project_folder()
    assert "https://t.test/api/v1/" == load_settings().base_url


def test_a_relative_data_folder_is_the_projects(project: Path) -> None:
    assert project / "kept" == load_settings().data_dir


def test_so_is_one_that_a_variable_names(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_DATA_DIR", "other")

    assert project / "other" == load_settings().data_dir


def test_outside_of_any_project_it_is_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert Path(__file__).parents[1] == project_folder()
    assert Path(__file__).parents[1] / "data" == load_settings().data_dir


def test_a_variable_names_the_project(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSIT_PROJECT_DIR", str(project))

    assert project / "kept" == load_settings().data_dir


def test_a_variable_comes_before_env_and_that_before_toml(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".env").write_text("TRANSIT_RATE_PER_MINUTE=40\nTRANSIT_OPERATOR=dotenv\nOTHER=1\n")
    monkeypatch.setenv("TRANSIT_OPERATOR", "variable")
    loaded = load_with_sources()

    assert (40, "variable") == (loaded.settings.rate_per_minute, loaded.settings.operator)
    assert loaded.sources == {
        "operator": "TRANSIT_OPERATOR",
        "rate_per_minute": str(project / ".env"),
        "base_url": str(project / "transit-etl.toml"),
        "data_dir": str(project / "transit-etl.toml"),
    }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("transit-etl.toml", "tokn = 'x'", "unknown setting in {}: tokn"),
        ("transit-etl.toml", "project_dir = '/'", "unknown setting in {}: project_dir"),
        ("transit-etl.toml", "rate_per_minute = 'many'", "(in {})"),
        ("transit-etl.toml", "rate_per_minute =", "{}: "),
        (".env", "\n# a comment\n\nTRANSIT_RATE_PER_MINUTE 30\nTRANSIT_AUDIT_SEED=2", "{}: line 4: "),
        (".env", "OTHER=1\nTRANSIT_RATE_PER_MINUTE\nTRANSIT_AUDIT_SEED: 2", "{}: line 2, 3: "),
        (".env", 'TRANSIT_TOKEN="unfinished', "{}: line 1: "),
        (".env", "TRANSIT_PUBLISHER=\udce0", "{}: it is not UTF-8: "),
        (".env", "TRANSIT_TOKN=x", "unknown setting in {}: tokn"),
        (".env", "TRANSIT_TIMEZONE=Nowhere", "TRANSIT_TIMEZONE: no such time zone: 'Nowhere' (in {})"),
    ],
)
def test_a_bad_line_of_a_file_names_the_file(project: Path, name: str, text: str, message: str) -> None:
    (project / name).write_text(text, encoding="utf-8", errors="surrogateescape")

    with pytest.raises(BadSettingError) as error:
        load_settings()
    assert message.format(project / name) in str(error.value)
    assert "\n" not in str(error.value)
