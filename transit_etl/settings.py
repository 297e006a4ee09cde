"""Reads the settings from TRANSIT_* environment variables, and names those that are bad."""

import os
import re
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from transit_etl.clock import SystemClock
from transit_etl.errors import TransitError
from transit_etl.paths import budget_database

PREFIX = "TRANSIT_"
RATE_WITHOUT_TOKEN, RATE_WITH_TOKEN = 60, 300


class PolicyName(StrEnum):
    """Which stop is polled next; `transit_etl.collect.planning.policies` constructs each policy."""

    ADAPTIVE = "adaptive"  # the one where a poll is expected to tell the most about passages
    COVER = "cover"  # in turn, a small set of stops such that every line passes one of them
    ROTATION = "rotation"  # all stops in turn


class BadSettingError(TransitError):
    """A setting is wrong, missing or unknown; the message names each and says why."""


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http or https address")
    if parts.username or parts.query or parts.fragment:
        raise ValueError("must hold no user, query or fragment")
    return url if url.endswith("/") else url + "/"


def _zone_name(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"no such time zone: {name}") from error
    return name


def _partition_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        raise ValueError("must be lower-case letters, digits, '_' or '-': it names folders")
    return name


def _sendable_token(token: SecretStr) -> SecretStr:
    text = token.get_secret_value().strip()
    if not re.fullmatch(r"[!-~]*", text):
        raise ValueError("must be printable ASCII without spaces: it is sent in a header")
    return SecretStr(text)


Token = Annotated[SecretStr, AfterValidator(_sendable_token)]


class Settings(BaseSettings):
    """Everything that an installation can set; durations are in seconds."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, hide_input_in_errors=True
    )

    base_url: Annotated[str, AfterValidator(_http_url)] = "http://127.0.0.1:8400/api/v1/"
    legacy_base_url: Annotated[str, AfterValidator(_http_url)] | None = None
    operator: Annotated[str, AfterValidator(_partition_name)] = "emulated"
    operator_segment: str = Field("amt", pattern=r"^[A-Za-z0-9_-]+$")
    token: Token | None = None
    token_header: str = Field("Authorization", pattern=r"^[A-Za-z0-9-]+$")
    legacy_token: Token | None = None
    user_agent: str = Field("transit-etl/0.1", min_length=1)

    rate_per_minute: int = Field(RATE_WITHOUT_TOKEN, ge=1, le=6000)
    limiter_url: str | None = Field(None, pattern=r"^(sqlite|postgresql(\+psycopg)?)://", repr=False)
    connect_timeout_seconds: float = Field(5, gt=0, le=60)
    read_timeout_seconds: float = Field(15, gt=0, le=120)
    total_timeout_seconds: float = Field(30, gt=0, le=55)  # an answer must come within its own minute
    max_body_bytes: int = Field(8 * 1024 * 1024, ge=1024)

    window_seconds: float = Field(600, ge=5, le=3600)
    status_interval_seconds: float = Field(60, ge=5, le=3600)
    policy: PolicyName = PolicyName.ADAPTIVE
    timetable_days_ahead: int = Field(2, ge=0, le=14)

    timezone: Annotated[str, AfterValidator(_zone_name)] = "Europe/Rome"
    service_day_cutoff: time = time(4)
    data_dir: Path = Path("data")
    clock_shift_seconds: float = 0  # moves `clock`, for an emulated upstream at another time

    @model_validator(mode="before")
    @classmethod
    def _allowance_follows_token(cls, values: dict[str, object]) -> dict[str, object]:
        if values.get("token") and "rate_per_minute" not in values:
            return {**values, "rate_per_minute": RATE_WITH_TOKEN}
        return values

    @model_validator(mode="after")
    def _base_is_version_1(self) -> Self:
        if not self.base_url.endswith("/api/v1/"):
            raise ValueError("base_url: must end in /api/v1/, as the interface specification gives it")
        return self

    @property
    def zone(self) -> ZoneInfo:
        """The operator's time zone."""
        return ZoneInfo(self.timezone)

    @property
    def clock(self) -> SystemClock:
        """The clock of this installation: the machine's, moved by the shift."""
        return SystemClock(self.clock_shift_seconds)

    @property
    def legacy_root(self) -> str:
        """The address version 0 paths are appended to, ending in `/api/{operator_segment}/`."""
        if self.legacy_base_url:
            return self.legacy_base_url
        parts = urlsplit(self.base_url)
        path = parts.path.removesuffix("v1/") + f"{self.operator_segment}/"
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    @property
    def budget_url(self) -> str:
        """The database in which all processes share the request budget."""
        return self.limiter_url or f"sqlite:///{budget_database(self.data_dir.absolute())}"


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - each is checked like its variable
    """Read the settings, or raise BadSettingError with one line for every bad TRANSIT_* variable.

    A value `given` by name takes the place of its variable.
    """
    unknown = [
        name
        for name in sorted(os.environ)
        if name.startswith(PREFIX) and name.removeprefix(PREFIX).lower() not in Settings.model_fields
    ]
    if unknown:
        raise BadSettingError(f"unknown setting: {', '.join(unknown)}")
    try:
        return Settings(**given)
    except ValidationError as error:
        raise BadSettingError("\n".join(_explain(problem) for problem in error.errors())) from None


def _explain(problem: ErrorDetails) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    message = problem["msg"].removeprefix("Value error, ")
    if not name:
        name, _, message = message.partition(": ")
    return f"{PREFIX}{name.upper()}: {message}"
