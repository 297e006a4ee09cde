"""Reads the settings from TRANSIT_* variables and the files of the project, and names those that are bad."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from dotenv.parser import parse_stream
from pydantic import AfterValidator, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, DotEnvSettingsSource, SettingsConfigDict

from transit_base.errors import TransitError
from transit_etl import setting_checks
from transit_etl.clock import SystemClock
from transit_etl.paths import budget_database
from transit_etl.project import DOTENV, OPERATORS, operator_tables, project_folder, read_toml, settings_files

PREFIX = "TRANSIT_"
RATE_WITHOUT_TOKEN, RATE_WITH_TOKEN = 60, 300
MIB = 1024 * 1024
LONGEST_SHIFT = 25 * 365 * 86_400.0  # a clock moved further leaves the dates that are built


class PolicyName(StrEnum):
    """Which stop is polled next; `transit_etl.collect.planning.policies` constructs each policy."""

    ADAPTIVE = "adaptive"  # the one where a poll is expected to tell the most about passages
    COVER = "cover"  # in turn, a small set of stops such that every line passes one of them
    ROTATION = "rotation"  # all stops in turn


class Engine(StrEnum):
    """What builds the models; the file that analysts get is DuckDB's in any case."""

    DUCKDB = "duckdb"  # in the build database, on this machine
    SPARK = "spark"  # in tables of Apache Spark, on this machine or a cluster


class BadSettingError(TransitError):
    """A setting is wrong, missing or unknown; the message names each and says why."""


def _allowance(settings: dict[str, Any]) -> int:
    return RATE_WITH_TOKEN if settings.get("token") else RATE_WITHOUT_TOKEN


Url = Annotated[str, AfterValidator(setting_checks.http_url)]
Token = Annotated[SecretStr | None, AfterValidator(setting_checks.sendable_token)]


class FolderSettings(BaseSettings):
    """Where the data is, whose it is, and how its service dates are read; durations are in seconds.

    What any step needs. The classes below add what a kind of step needs besides.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, hide_input_in_errors=True
    )

    operator: Annotated[str, AfterValidator(setting_checks.partition_name)] = "emulated"
    timezone: Annotated[str, AfterValidator(setting_checks.zone_name)] = "Europe/Rome"
    service_day_cutoff: Annotated[time, AfterValidator(setting_checks.cutoff)] = time(4)
    data_dir: Annotated[Path, AfterValidator(setting_checks.data_folder)] = Path("data")
    lake_url: Annotated[str | None, AfterValidator(setting_checks.lake_url)] = None
    # how long is kept what can be made again; raw answers are kept for ever
    quarantine_keep_days: int = Field(90, ge=1, le=3650)
    logs_keep_days: int = Field(30, ge=1, le=3650)
    raw_keep_days: int = Field(0, ge=0, le=3650)
    # moves `clock`, for an emulated upstream at another time
    clock_shift_seconds: float = Field(0, ge=-LONGEST_SHIFT, le=LONGEST_SHIFT)

    # of every operator of `operators.toml`; these do not know each other
    _operators: Mapping[str, Self] = PrivateAttr(default_factory=dict)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of this installation."""
        return tuple(self._operators) or (self.operator,)

    @property
    def are_operators_named(self) -> bool:
        """Whether the project names its operators in `operators.toml`."""
        return bool(self._operators)

    def knowing(self, operators: Mapping[str, Self]) -> Self:
        """Return the same settings, with those of all operators of this installation for `of`."""
        copy = self.model_copy()
        copy._operators = operators  # noqa: SLF001 - of an object of the same class
        return copy

    @property
    def others(self) -> list[Self]:
        """The settings of the other operators of the installation."""
        return [self.of(operator) for operator in self.operators if operator != self.operator]

    def of(self, operator: str) -> Self:
        """Return the settings of an operator of this installation, for the same data folder.

        They are these settings, under its name, for an operator that `operators.toml` does not have.
        """
        if operator == self.operator:
            return self
        known = self._operators.get(operator, self)
        shared = {"operator": operator, "data_dir": self.data_dir}
        return known.model_copy(update=shared).knowing(self._operators)

    @property
    def zone(self) -> ZoneInfo:
        """The operator's time zone."""
        return ZoneInfo(self.timezone)

    @property
    def clock(self) -> SystemClock:
        """The clock of this installation: the machine's, moved by the shift."""
        return SystemClock(self.clock_shift_seconds)


# What returns settings of the kind that it is given, or a step for them, says so by this.
SomeSettings = TypeVar("SomeSettings", bound=FolderSettings)


class CollectSettings(FolderSettings):
    """How the upstream is asked, how often, and what is stored of its answers."""

    base_url: Annotated[Url, AfterValidator(setting_checks.version_1)] = "http://127.0.0.1:8400/api/v1/"
    legacy_base_url: Url | None = None
    operator_segment: str = Field("amt", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    token: Token = None
    token_header: Annotated[str, AfterValidator(setting_checks.token_header)] = Field(
        "Authorization", pattern=r"^[A-Za-z0-9-]{1,64}$"
    )
    legacy_token: Token = None
    user_agent: str = Field("transit-etl/0.1", pattern=r"^[!-~]([ -~]{0,254}[!-~])?$")

    rate_per_minute: int = Field(default_factory=_allowance, ge=1, le=6000)
    limiter_url: Annotated[SecretStr | None, AfterValidator(setting_checks.limiter_url)] = None
    connect_timeout_seconds: float = Field(5, gt=0, le=60)
    read_timeout_seconds: float = Field(15, gt=0, le=120)
    total_timeout_seconds: float = Field(30, gt=0, le=55)  # an answer must come within its own minute
    max_body_bytes: int = Field(8 * MIB, ge=1024, le=64 * MIB)

    window_seconds: float = Field(600, ge=5, le=3600)
    status_interval_seconds: float = Field(60, ge=5, le=3600)
    down_after_seconds: float = Field(60, ge=5, le=3600)
    policy: PolicyName = PolicyName.ADAPTIVE
    audit_share: float = Field(0.1, ge=0, le=0.5)  # of the passages' requests; 0 switches the audit off
    audit_seed: int = Field(1, ge=0, le=999_999)
    stage_max_rows: int = Field(300_000, ge=1000, le=100_000_000)  # about 1 KB of memory each
    timetable_days_ahead: int = Field(14, ge=0, le=14)

    @property
    def legacy_root(self) -> str:
        """The address version 0 paths are appended to, ending in `/api/{operator_segment}/`."""
        if self.legacy_base_url:
            return self.legacy_base_url
        parts = urlsplit(self.base_url)
        path = parts.path.removesuffix("v1/") + f"{self.operator_segment}/"
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    @property
    def token_of_version_0(self) -> SecretStr | None:
        """The token of version 0; without one of its own that of version 1, which no other host is sent."""
        has_same_host = urlsplit(self.legacy_root)[:2] == urlsplit(self.base_url)[:2]
        return self.legacy_token or (self.token if has_same_host else None)

    @property
    def budget_url(self) -> str:
        """The database in which all processes share the request budget."""
        if self.limiter_url:
            return self.limiter_url.get_secret_value()
        return f"sqlite:///{budget_database(self.credential, self.data_dir)}"

    @property
    def credential(self) -> str:
        """The name of the allowance that is used: the upstream and, with a token, a hash of both."""
        if self.token is None:
            return f"{self.base_url.lower()} without a token"
        secret = f"{self.base_url}\n{self.token.get_secret_value()}"
        digest = hashlib.sha256(secret.encode()).hexdigest()
        return f"{self.base_url.lower()} token {digest[:16]}"


class BuildSettings(FolderSettings):
    """How the models are built and published, and the reference files that they read."""

    ruleset: int = Field(0, ge=0, le=1000)
    build_target: Engine = Engine.DUCKDB
    build_workers: int = Field(1, ge=1, le=64)
    published_max_gb: float = Field(4, ge=0.001, le=100_000)
    warehouse_queue: str | None = Field(None, pattern=r"^[A-Za-z0-9_-]{1,64}$")
    spark_master: Annotated[str, AfterValidator(setting_checks.spark_master)] = "local[*]"
    stops_file: Annotated[Path | None, AfterValidator(setting_checks.stops_file)] = None
    judged_stops_file: Annotated[Path | None, AfterValidator(setting_checks.csv_file)] = None
    plant_file: Annotated[Path | None, AfterValidator(setting_checks.csv_file)] = None
    # promised in the contract of the published file, and met by `check`
    check_published_hours: float = Field(6, ge=1, le=720)
    publisher_contact: Annotated[str | None, AfterValidator(setting_checks.contact)] = None


class Settings(CollectSettings, BuildSettings):
    """Everything that an installation can set."""

    alert_urls: Annotated[SecretStr | None, AfterValidator(setting_checks.alert_urls)] = None
    # `check` writes it, for Prometheus
    metrics_file: Annotated[Path | None, AfterValidator(setting_checks.metrics_file)] = None
    # what `check` finds fault with
    check_polled_minutes: float = Field(15, ge=1, le=1440)
    check_late_hours: float = Field(2, ge=0, le=168)
    check_clock_seconds: float = Field(60, ge=5, le=3600)
    check_disk_days: float = Field(30, ge=0, le=3650)
    check_quarantine_share: float = Field(0.05, ge=0, le=1)
    check_backup_hours: float = Field(48, ge=1, le=8760)
    backup_dir: Annotated[Path | None, AfterValidator(setting_checks.folder_path)] = None

    project_dir: Annotated[Path | None, AfterValidator(setting_checks.project_folder)] = None

    publisher: Annotated[str | None, AfterValidator(setting_checks.short_text)] = None
    language: str = Field("it", pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$")
    publisher_url: Url | None = None
    export_licence: Annotated[str | None, AfterValidator(setting_checks.short_text)] = None
    export_url: Url | None = None
    report_url: Url | None = None
    # of the pages of reports, the first without a folder of its own
    report_languages: str = Field("en,it", pattern="^(en|it|en,it|it,en)$")
    export_keep_days: int = Field(30, ge=0, le=3650)


# What belongs to one operator: where a project names several in `operators.toml`, it stands there alone.
_TOKENS = {"token", "legacy_token"}
_OWN = _TOKENS | {
    "base_url", "legacy_base_url", "operator_segment", "timezone", "service_day_cutoff", "stops_file",
    "judged_stops_file", "plant_file",
}  # fmt: skip
# What an operator may have of its own there, instead of what is set for all.
_MAY_DIFFER = {
    "token_header", "user_agent", "rate_per_minute", "connect_timeout_seconds", "read_timeout_seconds",
    "total_timeout_seconds", "max_body_bytes", "window_seconds", "status_interval_seconds",
    "down_after_seconds", "policy", "audit_share", "audit_seed", "timetable_days_ahead", "publisher",
    "ruleset", "language", "publisher_url", "publisher_contact", "export_licence", "export_url",
    "report_url", "report_languages",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and for each where it comes from: a variable, a file, or `default`.

    `project` is the folder that relative paths start from.
    """

    settings: Settings
    sources: dict[str, str]
    project: Path


class _Value(NamedTuple):
    """The value of a setting, and where it comes from."""

    value: Any
    source: str


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - each is checked like its variable
    """Read the settings, or raise BadSettingError with one line for every bad TRANSIT_* variable.

    What a table of `operators.toml` sets for the operator comes before variables, and variables come before
    the settings files of the project. A value `given` by name comes before all.
    """
    return load_with_sources(**given).settings


def load_with_sources(**given: Any) -> LoadedSettings:  # noqa: ANN401 - each is checked like its variable
    """Read the settings as `load_settings` does, and say where each comes from."""
    problems = [complaint for name in sorted(os.environ) if (complaint := _complaint(name))]
    project = project_folder(os.environ.get(f"{PREFIX}PROJECT_DIR"))
    tables: dict[str, dict[str, Any]] = {}
    try:
        tables = operator_tables(project)
    except ValueError as error:
        problems.append(str(error))
    common = _common_values(project, given, problems)
    named = common["operator"].value if "operator" in common else next(iter(tables), None)
    chosen = str(named or Settings.model_fields["operator"].default)
    path = project / OPERATORS
    if tables and chosen not in tables:
        problems.append(f"{_variable('operator')}: {chosen} is none of {path}: {', '.join(tables)}")
    misplaced = sorted(_OWN & common.keys() - given.keys()) if tables else []
    problems += [
        f"{common.pop(name).source}: {name} is of one operator: write it into {path}" for name in misplaced
    ]
    loaded: dict[str, Settings] = {}
    sources: dict[str, dict[str, str]] = {}
    for operator in tables or [chosen]:
        values = dict(common)
        if tables:
            own = _own_values(path, operator, tables[operator], problems)
            values |= {name: value for name, value in own.items() if name not in given or name == "operator"}
        sources[operator] = {name: value.source for name, value in values.items()}
        if (valid := _validated(values, problems)) is not None:
            loaded[operator] = _in_project(valid, project)
    if problems:
        raise BadSettingError("\n".join(dict.fromkeys(problems)))
    settings = loaded[chosen].knowing(loaded) if tables else loaded[chosen]
    return LoadedSettings(settings, sources[chosen], project)


def _common_values(project: Path, given: Mapping[str, Any], problems: list[str]) -> dict[str, _Value]:
    """Return what is given, else what variables say, else what the settings files of a project say."""
    values = {name: _Value(value, "given") for name, value in given.items()}
    for name in Settings.model_fields:
        if (text := os.environ.get(_variable(name))) and name not in given:
            values[name] = _Value(text, _variable(name))
    for path in settings_files(project):
        try:
            found = _read_file(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        for name, value in found.items():
            if name not in Settings.model_fields or name == "project_dir":
                problems.append(f"unknown setting in {path}: {name}")
            elif name not in values:
                values[name] = _Value(value, str(path))
    return values


def _own_values(
    path: Path, operator: str, table: Mapping[str, Any], problems: list[str]
) -> dict[str, _Value]:
    """Return what the table of an operator sets, with its tokens."""
    where = f"{path} [{operator}]"
    own = {name: value for name, value in table.items() if value not in (None, "")}
    if "base_url" not in own:
        problems.append(f"{where}: base_url: every operator needs its own")
    for name in sorted(_TOKENS):
        if name in own:
            problems.append(f"{where}: {name}: name a file ({name}_file) or a variable ({name}_variable)")
        try:
            token = _token(path.parent, own, name)
        except (OSError, ValueError) as error:
            problems.append(f"{where}: {name}: {error}")
        else:
            own |= {name: token} if token else {}
    problems += [f"unknown setting in {where}: {name}" for name in sorted(own.keys() - _OWN - _MAY_DIFFER)]
    return {name: _Value(value, where) for name, value in {**own, "operator": operator}.items()}


def _token(project: Path, table: dict[str, Any], name: str) -> str | None:
    """Take what a table says about a token out of it; return the token from its file or variable, if any.

    ValueError and OSError say why it cannot be had.
    """
    file, variable = table.pop(f"{name}_file", None), table.pop(f"{name}_variable", None)
    if file:
        return (project / str(file)).read_text(encoding="utf-8").strip()
    if variable and not os.environ.get(str(variable)):
        raise ValueError(f"the variable {variable} is not set")
    return os.environ[str(variable)] if variable else None


def _validated(values: Mapping[str, _Value], problems: list[str]) -> Settings | None:
    """Return the settings; None if any is bad, which is added to the problems."""
    try:
        return Settings(**{name: each.value for name, each in values.items()})
    except ValidationError as error:
        # a default that depends on another setting is not computed when any is bad
        causes = [each for each in error.errors() if each["type"] != "default_factory_not_called"]
        sources = {name: each.source for name, each in values.items()}
        problems += [_explain(each, sources) for each in causes]
        return None


def _read_file(path: Path) -> dict[str, Any]:
    """Return the values of a settings file that are not empty, by the name of the setting."""
    if path.name == DOTENV:
        _check_dotenv(path)
        found: Mapping[str, Any] = DotEnvSettingsSource(Settings, env_file=path).env_vars
        prefix = PREFIX.lower()
        values = {name[len(prefix) :]: value for name, value in found.items() if name.startswith(prefix)}
    else:
        values = read_toml(path)
    return {name: value for name, value in values.items() if value not in (None, "")}


def _check_dotenv(path: Path) -> None:
    """Raise ValueError, which names the file and the lines, if its reader would pass over any of them."""
    try:
        with path.open(encoding="utf-8") as file:
            bindings = list(parse_stream(file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: it is not UTF-8: {error.reason} at byte {error.start}") from error
    bad = [each.original for each in bindings if each.error or (each.key is not None and each.value is None)]
    if bad:
        numbers = ", ".join(f"{each.line + _blank_lines(each.string)}" for each in bad)
        raise ValueError(f"{path}: line {numbers}: write NAME=value, or # before a comment")


def _blank_lines(text: str) -> int:
    """Count the lines before the first that holds anything."""
    return text[: len(text) - len(text.lstrip())].count("\n")


def _in_project(settings: Settings, project: Path) -> Settings:
    """Let relative paths start from the project, wherever the program was started."""
    if project == Path.cwd():
        return settings
    names = ("data_dir", "stops_file", "judged_stops_file", "plant_file", "metrics_file", "backup_dir")
    paths = {name: getattr(settings, name) for name in names}
    return settings.model_copy(update={name: project / path for name, path in paths.items() if path})


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _complaint(variable: str) -> str:
    """Say why a variable of the environment cannot be a setting; nothing if it is one, or none of ours."""
    if not variable.upper().startswith(PREFIX):
        return ""
    if variable.upper().removeprefix(PREFIX).lower() not in Settings.model_fields:
        return f"unknown setting: {variable}"
    return "" if variable.isupper() else f"unknown setting: {variable}: write {variable.upper()}"


def _explain(problem: ErrorDetails, sources: Mapping[str, str]) -> str:
    message = " ".join(problem["msg"].removeprefix("Value error, ").split())
    name = str(problem["loc"][0])
    source = sources.get(name, "")
    where = f" (in {source})" if source.startswith("/") else ""
    return f"{_variable(name)}: {message}{where}"
