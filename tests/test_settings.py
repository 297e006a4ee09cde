"""Settings are read once, a bad one names itself, and secrets do not show."""

import os
import re
from datetime import time
from pathlib import Path

import pytest

from transit_etl.settings import BadSettingError, Settings, load_settings, load_with_sources


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("TRANSIT_"):
            monkeypatch.delenv(name)


def test_without_settings_it_is_the_emulator_without_a_token() -> None:
    settings = load_settings()

    assert "http://127.0.0.1:8400/api/v1/" == settings.base_url
    assert settings.token is None
    assert 60 == settings.rate_per_minute


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("BASE_URL", "ftp://t.test/api/v1/", "http or https"),
        ("BASE_URL", "localhost:8400", "http or https"),
        ("BASE_URL", "https://t.test/", "must end in /api/v1/"),
        ("BASE_URL", "http://localhost:8400/api/v2/", "must end in /api/v1/"),
        ("BASE_URL", "https://user:pw@t.test/api/v1/", "no user, password, query or fragment"),
        ("BASE_URL", "https://t.test/api/v1/?a=1", "no user, password, query or fragment"),
        ("RATE_PER_MINUTE", "0", "greater than or equal to 1"),
        ("RATE_PER_MINUTE", "many", "valid integer"),
        ("TIMEZONE", "Europe/Roma", "no such time zone: 'Europe/Roma'"),
        ("TIMEZONE", "../etc/passwd", "no such time zone"),
        ("OPERATOR", "../x", "it names folders"),
        ("OPERATOR_SEGMENT", "a/b", "match pattern"),
        ("TOKEN_HEADER", "X Key", "match pattern"),
        ("TOKEN", "two words", "printable ASCII without spaces"),
        ("LEGACY_TOKEN", "più", "printable ASCII without spaces"),
        ("LIMITER_URL", "redis://x", "must begin with sqlite:/// or postgresql://"),
        ("TOTAL_TIMEOUT_SECONDS", "60", "less than or equal to 55"),
        ("SERVICE_DAY_CUTOFF", "25:00", "time"),
        ("WINDOW_SECONDS", "nan", "less than or equal to 3600"),
        ("WINDOW_SECONDS", "-1", "greater than or equal to 5"),
        ("POLICY", "random", "'adaptive', 'cover' or 'rotation'"),
    ],
)
def test_a_bad_setting_names_itself(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(f"TRANSIT_{name}", value)

    with pytest.raises(BadSettingError) as error:
        load_settings()

    assert str(error.value).startswith(f"TRANSIT_{name}: ")
    assert reason in str(error.value)


def test_every_bad_setting_gets_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TIMEZONE", "Nowhere\n")
    monkeypatch.setenv("TRANSIT_RATE_PER_MINUTE", "-1")
    monkeypatch.setenv("TRANSIT_BASE_URL", "https://t.test/")

    with pytest.raises(BadSettingError) as error:
        load_settings()

    names = [line.partition(":")[0] for line in str(error.value).splitlines()]
    assert ["TRANSIT_BASE_URL", "TRANSIT_RATE_PER_MINUTE", "TRANSIT_TIMEZONE"] == sorted(names)


def test_an_unknown_setting_is_refused_and_the_bad_ones_are_named_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRANSIT_RATE_PER_MINUT", "60")
    monkeypatch.setenv("transit_operator", "x")
    monkeypatch.setenv("TRANSIT_WINDOW_SECONDS", "0")

    with pytest.raises(BadSettingError) as error:
        load_settings()

    assert [
        "unknown setting: TRANSIT_RATE_PER_MINUT",
        "unknown setting: transit_operator: write TRANSIT_OPERATOR",
        "TRANSIT_WINDOW_SECONDS: Input should be greater than or equal to 5",
    ] == str(error.value).splitlines()


@pytest.mark.parametrize("name", ["transit_token", "Transit_Token", "TRANSIT_token", "transit_tokn"])
def test_a_setting_in_lower_case_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "abcdefgh")

    with pytest.raises(BadSettingError, match=f"unknown setting: {name}"):
        load_settings()


def test_a_token_raises_the_allowance_unless_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", "abcdefgh")
    with_token = load_settings().rate_per_minute
    monkeypatch.setenv("TRANSIT_RATE_PER_MINUTE", "120")

    assert 300 == with_token
    assert 120 == load_settings().rate_per_minute


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", "")
    monkeypatch.setenv("TRANSIT_OPERATOR", "")

    assert Settings() == load_settings()


def test_a_token_read_from_a_file_loses_its_line_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", " abcdefgh\n")
    token = load_settings().token

    assert token is not None
    assert "abcdefgh" == token.get_secret_value()


def test_a_token_is_masked_and_a_database_password_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", "s3cr3t-t0ken")
    monkeypatch.setenv("TRANSIT_LIMITER_URL", "postgresql://u:pa55word@db/x")
    settings = load_settings()

    texts = repr(settings) + str(settings) + settings.model_dump_json()
    assert "s3cr3t-t0ken" not in texts
    assert "pa55word" not in texts


@pytest.mark.parametrize("name", ["TRANSIT_TOKEN", "TRANSIT_LEGACY_TOKEN"])
@pytest.mark.parametrize("blank", [" ", "\n", "\t \r\n", "\u00a0"])
def test_a_blank_token_is_none(monkeypatch: pytest.MonkeyPatch, name: str, blank: str) -> None:
    monkeypatch.setenv(name, blank)

    assert Settings.model_construct().token is load_settings().token is None
    assert load_settings().token_of_version_0 is None
    assert 60 == load_settings().rate_per_minute


@pytest.mark.parametrize(
    ("elsewhere", "has_token"),
    [
        ("https://t.test/api/old/", True),
        ("https://t.test/", True),
        ("http://t.test/api/old/", False),
        ("https://old.t.test/api/", False),
        ("https://t.test:8443/api/", False),
        ("https://t.test.evil.test/api/", False),
    ],
)
def test_another_host_is_not_sent_the_token_of_version_1(elsewhere: str, has_token: bool) -> None:  # noqa: FBT001
    settings = Settings(base_url="https://t.test/api/v1/", legacy_base_url=elsewhere, token="abcdefgh")

    assert has_token == (settings.token_of_version_0 is not None)


def test_a_bad_token_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", "s3cr3t t0ken")

    with pytest.raises(BadSettingError) as error:
        load_settings()

    assert "s3cr3t" not in repr(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("values", "root"),
    [
        ({"base_url": "https://t.test/api/v1"}, "https://t.test/api/amt/"),
        ({"base_url": "https://t.test/x/api/v1/", "operator_segment": "op"}, "https://t.test/x/api/op/"),
        ({"legacy_base_url": "https://old.test/api/amt"}, "https://old.test/api/amt/"),
    ],
)
def test_the_root_of_version_0_follows_the_base_unless_set(values: dict[str, str], root: str) -> None:
    assert root == Settings(**values).legacy_root  # type: ignore[arg-type]


def test_the_budget_is_a_file_of_the_user_unless_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url = "postgresql://db/transit"

    assert Settings(data_dir=tmp_path).budget_url.startswith(
        f"sqlite:///{tmp_path}/state/transit-etl/budget-"
    )
    assert url == Settings(data_dir=tmp_path, limiter_url=url).budget_url


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().operator = "other"  # type: ignore[misc]


OPERATORS = """
[genova]
base_url = "https://genova.test/api/v1/"
token_file = "genova.token"

[boston]
base_url = "https://boston.test/api/v1/"
token_variable = "BOSTON_TOKEN"
timezone = "America/New_York"
service_day_cutoff = "03:00"
window_seconds = 300
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with two operators, into which the test changes."""
    (tmp_path / "transit-etl.toml").write_text("window_seconds = 120\n")
    (tmp_path / "operators.toml").write_text(OPERATORS)
    (tmp_path / "genova.token").write_text("of-genova\n")
    monkeypatch.setenv("BOSTON_TOKEN", "of-boston")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_operator_of_a_project_has_settings_of_its_own_and_those_of_all(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genova = load_settings()
    monkeypatch.setenv("TRANSIT_OPERATOR", "boston")
    boston = load_settings()

    assert ("genova", "boston") == genova.operators == boston.operators
    assert ("Europe/Rome", "America/New_York") == (genova.timezone, boston.timezone)
    assert (time(4), time(3)) == (genova.service_day_cutoff, boston.service_day_cutoff)
    assert (120, 300) == (genova.window_seconds, boston.window_seconds)
    assert ["of-genova", "of-boston"] == [
        each.token.get_secret_value() for each in (genova, boston) if each.token
    ]
    assert genova.budget_url != boston.budget_url
    assert genova.data_dir == boston.data_dir == Path("data")
    assert boston.model_dump() == genova.of("boston").model_dump()
    assert str(project / "operators.toml") in load_with_sources().sources["timezone"]


@pytest.mark.usefixtures("project")
def test_an_operator_that_a_project_does_not_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_OPERATOR", "bari")

    with pytest.raises(BadSettingError, match=r"TRANSIT_OPERATOR: bari is none of .*: genova, boston"):
        load_settings()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[genova]", 'timezone = "UTC"\n[genova]', "timezone: write it into the table of an operator"),
        ('token_file = "genova.token"', 'token = "x"', "token: name a file (token_file) or a variable"),
        ("genova.token", "away.token", "away.token"),
        ("BOSTON_TOKEN", "NO_SUCH_TOKEN", "the variable NO_SUCH_TOKEN is not set"),
        (
            "window_seconds = 300",
            "window_seconds = 1",
            "TRANSIT_WINDOW_SECONDS: Input should be greater than",
        ),
        ("window_seconds = 300", "data_dir = 'x'", "[boston]: data_dir"),
        ('base_url = "https://boston.test/api/v1/"', "", "[boston]: base_url: every operator needs its own"),
        ("[boston]", "[boston", "operators.toml: "),
    ],
)
def test_a_fault_in_the_table_of_an_operator_is_named(project: Path, old: str, new: str, words: str) -> None:
    path = project / "operators.toml"
    path.write_text(path.read_text().replace(old, new))

    with pytest.raises(BadSettingError, match=re.escape(words)):
        load_settings()


@pytest.mark.usefixtures("project")
def test_what_belongs_to_one_operator_is_not_set_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_TOKEN", "of-whom")

    with pytest.raises(BadSettingError, match="TRANSIT_TOKEN: token is of one operator: write it into"):
        load_settings()
    assert "given" == load_with_sources(token="known").sources["token"]
