"""Of each setting, bad values are named in one line, and whatever is accepted works where it is used."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest import mock
from zoneinfo import ZoneInfo, available_timezones

import duckdb
import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import make_url

from transit_etl.paths import raw_file, raw_parts
from transit_etl.service_day import FIRST_DATE, LAST_DATE, service_date
from transit_etl.settings import BadSettingError, Settings, load_settings

SECRET = "s3cr3t"
BASE = "https://t.test/api/v1/"
NO_NUMBERS = ["", " ", "x", "nan", "-nan", "inf", "-inf", "1e400", "-1e400", "0x10", "1,5", "one", "1 2"]
BAD_URLS = [
    "t.test/api/v1/", "//t.test/api/v1/", "file:///etc/passwd", "ftp://t.test/api/v1/", "https:///api/v1/",
    "https://:443/api/v1/", "https://t.test:99999/api/v1/", "https://t.test:0/api/v1/",
    "https://t.test:-1/api/v1/", "https://t.test:x/api/v1/", "https://[::1/api/v1/", "https://[x]/api/v1/",
    "https://1.2.3.4.5/api/v1/", "https://999.1.1.1/api/v1/", "https://t test/api/v1/", "https://-t.test/api/v1/",
    "https://t..test/api/v1/", "https://città.test/api/v1/", "https://t.test/città/api/v1/",
    "https://t.test/a b/api/v1/", "https://t.test/\x7f/api/v1/", "https://t.test\\@evil.test/api/v1/",
    f"http://:{SECRET}@t.test/api/v1/", f"http://{SECRET}@t.test/api/v1/", f"http://u:{SECRET}@t.test/api/v1/",
    f"https://t.test/?token={SECRET}/api/v1/", f"https://t.test/api/v1/?{SECRET}", "https://t.test/api/v1/?",
    f"https://t.test/api/v1/#{SECRET}", "https://@t.test/api/v1/", "https://t.test/%zz/api/v1/",
    "https://" + "a" * 64 + ".test/api/v1/", "https://t.test/" + "a" * 3000 + "/api/v1/",
]  # fmt: skip
BAD = {
    "base_url": [*BAD_URLS, "https://t.test/", "https://t.test/api/v2/", "https://t.test/api/v1/x/"],
    "legacy_base_url": BAD_URLS,
    "operator": ["none", "X", "a b", "../x", "-x", "_x", "x=y", "x/y", "città", "x" * 64, "*", "x\n"],
    "operator_segment": ["a/b", "..", "a b", "città", "x" * 65, "x\n", "%41"],
    "token": [f"{SECRET} {SECRET}", f"{SECRET}\n{SECRET}", f"{SECRET}ù", "x" * 5000, "\x7f", "\u200b"],
    "legacy_token": [f"{SECRET} {SECRET}", f"{SECRET}\u2028{SECRET}", "x" * 5000],
    "token_header": ["X Key", "X:Key", "Host", "content-length", "User-Agent", "città", "x" * 65, "X-Key\n"],
    "user_agent": ["città", " x", "x ", "x\ny", "x\x00y".replace("\x00", "\x01"), "x" * 300, "\t"],
    "rate_per_minute": [*NO_NUMBERS, "0", "-1", "6001", "1.5", "1e3", "9" * 5000],
    "limiter_url": [
        "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:////", "sqlite:///folder/", "sqlite://host/x",
        "sqlite:///x?mode=ro", "redis://x", "mysql://x/y", "/x", "sqlite+aiosqlite:///x", "postgresql:x",
        "postgresql://h:99999/x", f"postgresql://u:{SECRET}@h:x/d", f"postgresql://u:{SECRET} @h/d",
        f"postgresql://h/d?{SECRET}", f"postgresql://h/d?passwd={SECRET}", f"postgresql://u:{SECRET}@h/d/e",
        f"postgresql://u:{SECRET}@h/d#e", f"postgresql+asyncpg://u:{SECRET}@h/d",
        f"postgresql://u:{SECRET}@h h/d",
    ],
    "max_body_bytes": [*NO_NUMBERS, "0", "1023", "1e12", "1000000000000", "-1"],
    "stage_max_rows": [*NO_NUMBERS, "0", "999", "1e12", "1000000000000", "-1"],
    "build_workers": [*NO_NUMBERS, "0", "65", "0.5"],
    "published_max_gb": [*NO_NUMBERS, "0", "0.0001", "-1", "100001"],
    "backup_dir": ["~/backup", "a\tb", "x" * 5000],
    "ruleset": [*NO_NUMBERS, "-1", "1001", "0.5"],
    "raw_keep_days": [*NO_NUMBERS, "-1", "3651", "0.5"],
    "warehouse_queue": ["a b", "a,b", "è", "x" * 65, "x\n"],
    "build_target": ["Spark", "spark ", "hive"],
    "spark_master": ["local[]", "local[0]", "local[x]", "local\n", "yarn-client", "spark://", "http://x:7077"],
    "policy": ["random", "ADAPTIVE", "adaptive "],
    "timetable_days_ahead": [*NO_NUMBERS, "-1", "15", "0.5"],
    "timezone": ["Rome", "europe/rome", "Europe/Rome ", "/etc/localtime", "../UTC", "localtime", "posix/UTC",
                 "right/UTC", "posixrules", "Europe", "zone.tab", "UTC\n", "x" * 500],
    "service_day_cutoff": ["25:00", "04:00Z", "04:00+02:00", "4 am", "24:00", "-1:00", "nan", "soon"],
    "data_dir": ["~/data", "~", "a\nb", "x" * 3000, "/etc/hostname", "/dev/null", "/etc/hostname/x\x1b",
                 "a[b]", "a*", "a?b", "a{b,c}", "a\\b", "operator=x/data", "x/date=2026-03-02"],
    "lake_url": [
        "bucket", "s3://", "s3:///x", "s3://b", "s3://Bucket", "s3://bucket_", "s3://-bucket", "s3://bucket//x",
        "s3://bucket/x//", "s3://bucket/a b", "s3://bucket/../x", "s3://bu..cket", "s3://bucket/x?y", "s3://bucket/#",
        "s3://bucket/città", f"s3://u:{SECRET}@bucket/x", "http://bucket/x", "gs://bucket", "s3://bucket\n",
        "s3://" + "a" * 64, "s3://bucket/" + "x" * 201,
    ],
    "judged_stops_file": ["stops", "stops.zip", "/etc/hostname", ".csv"],
    "plant_file": ["lifts", "lifts.zip", "/etc/hostname", ".csv"],
    "stops_file": ["stops", "stops.parquet", "/etc/hostname", ".csv"],
    "publisher": [" x", "x ", "x\ny", "x" * 201, "\u202e"],
    "publisher_url": BAD_URLS,
    "language": ["", "i", "Italian", "it_IT", "it IT", "it\n", "it-" + "x" * 9],
    "export_licence": [" x", "x\t", "x" * 201],
    "export_url": BAD_URLS,
    "report_url": BAD_URLS,
    "publisher_contact": ["nobody", "a b@example.org", "ftp://example.org", "<a@example.org>"],
    "report_languages": ["en it", "EN", "en,", "en,en", "fr", "it,en,it", "en,fr", " en", "en\n"],
    "export_keep_days": [*NO_NUMBERS, "-1", "3651", "0.5"],
    "alert_urls": [f"{SECRET}", f"mailto:{SECRET}", f"json://x {SECRET}", "json://città"],
    "project_dir": ["/etc/hostname", "/nowhere/at/all"],
    "check_polled_minutes": [*NO_NUMBERS, "0", "1441"],
    "audit_seed": [*NO_NUMBERS, "0.5"],
    "audit_share": [*NO_NUMBERS, "-0.1", "0.6"],
    "check_late_hours": [*NO_NUMBERS, "-1", "169"],
    "check_disk_days": [*NO_NUMBERS, "-1", "3651"],
    "check_published_hours": [*NO_NUMBERS, "0", "721"],
    "check_backup_hours": [*NO_NUMBERS, "0", "8761"],
    "metrics_file": ["metrics", "metrics.txt", ".prom"],
    "quarantine_keep_days": [*NO_NUMBERS, "0", "3651", "0.5"],
    "logs_keep_days": [*NO_NUMBERS, "0", "3651", "0.5"],
    "check_quarantine_share": [*NO_NUMBERS, "-0.1", "1.1"],
    "clock_shift_seconds": [*NO_NUMBERS, "1e9", "-1e9", "1e300"],
}  # fmt: skip
for seconds in (
    "connect_timeout",
    "read_timeout",
    "total_timeout",
    "window",
    "status_interval",
    "down_after",
    "check_clock",
):
    BAD[f"{seconds}_seconds"] = [*NO_NUMBERS, "0", "-1", "1e9"]


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set these settings in the environment and no others."""
    others = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRANSIT_")}
    ours = {f"TRANSIT_{name.upper()}": value for name, value in values.items()}
    with mock.patch.dict(os.environ, others | ours, clear=True):
        yield


def accepted(**values: str) -> Settings | None:
    """Load settings; nothing if they are refused, in one line that names the setting."""
    with environment(**values):
        try:
            return load_settings()
        except BadSettingError as error:
            lines = str(error).splitlines()
            assert [f"TRANSIT_{name.upper()}" for name in values] == [line.split(":")[0] for line in lines]
            return None


def test_every_setting_has_bad_values() -> None:
    assert set(Settings.model_fields) == set(BAD)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_named_in_one_line_without_its_secret(name: str) -> None:
    for value in filter(None, BAD[name]):
        with environment(**{name: value}), pytest.raises(BadSettingError) as error:
            load_settings()

        assert (value, f"TRANSIT_{name.upper()}") == (value, str(error.value).split(":")[0])
        assert 1 == len(str(error.value).splitlines())
        assert SECRET not in str(error.value)
        assert len(str(error.value)) < 800


@given(st.sampled_from(sorted(BAD)), st.sampled_from(sorted(BAD)))
def test_of_two_bad_values_both_are_named(first: str, second: str) -> None:
    values = {name: next(value for value in BAD[name] if value.strip()) for name in (first, second)}
    with environment(**values), pytest.raises(BadSettingError) as error:
        load_settings()

    assert len(values) == len(str(error.value).splitlines())


text = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=80)
hosts = st.one_of(st.from_regex(r"[a-zA-Z0-9._:\[\]-]{1,30}", fullmatch=True), text)


@given(st.one_of(hosts.map("http://{}/api/v1/".format), text.map("https://t.test/{}/api/v1/".format), text))
@example("https://[::1]:8443/api/v1")
def test_an_accepted_address_can_be_asked(url: str) -> None:
    if settings := accepted(base_url=url):
        request = httpx2.Request("GET", f"{settings.base_url}lines")

        assert str(request.url).endswith("/api/v1/lines")
        assert request.url.host
        assert not request.url.userinfo
        assert httpx2.URL(settings.legacy_root).host == request.url.host


@given(user_agent=text, token=text, token_header=text)
@example(user_agent="a b", token="x" * 4096, token_header="X-Key")
def test_accepted_headers_can_be_sent(user_agent: str, token: str, token_header: str) -> None:
    for name, value in (("user_agent", user_agent), ("token", token), ("token_header", token_header)):
        if settings := accepted(**{name: value}):
            secret = settings.token.get_secret_value() if settings.token else "x"
            headers = [("User-Agent", settings.user_agent), (settings.token_header, f"Bearer {secret}")]
            request = httpx2.Request("GET", BASE, headers=headers)

            assert b"\n" not in b"".join(part for pair in request.headers.raw for part in pair)


@given(text)
def test_an_accepted_operator_is_one_folder(operator: str) -> None:
    if settings := accepted(operator=operator):
        path = raw_file(settings.data_dir, settings.operator, "passages", FIRST_DATE, "window")

        assert operator == raw_parts(path)["operator"]


@given(
    st.one_of(
        text,
        st.from_regex(r"sqlite://[/a-z.:?]{0,20}", fullmatch=True),
        st.from_regex(
            r"postgresql://([a-z]{0,3}(:[a-z%]{0,3})?@)?[a-z\[\]:.0-9]{0,9}/?[a-z?=&]{0,20}", fullmatch=True
        ),
    )
)
@example("postgresql://user:password@host:5432/database?sslmode=require")
@example("postgresql:///transit?host=/run/postgresql")
def test_an_accepted_limiter_names_one_database(url: str) -> None:
    if accepted(limiter_url=url):
        parsed = make_url(url)

        assert parsed.get_backend_name() in {"sqlite", "postgresql"}
        assert parsed.database or parsed.get_backend_name() == "postgresql"
        assert ":memory:" != parsed.database


def test_an_accepted_time_zone_is_known_to_the_database_too() -> None:
    for zone in filter(lambda name: accepted(timezone=name), available_timezones()):
        assert duckdb.execute("select timezone(?, timestamp '2026-03-02 08:00')", [zone]).fetchall()


@given(cutoff=st.one_of(st.times().map(str), text), shift=st.floats().map(str))
def test_accepted_times_give_service_days_that_are_built(cutoff: str, shift: str) -> None:
    settings = accepted(service_day_cutoff=cutoff)
    moved = accepted(clock_shift_seconds=shift)
    if settings:
        at = datetime(2026, 3, 2, 8, tzinfo=UTC)
        assert service_date(at, ZoneInfo("Europe/Rome"), settings.service_day_cutoff)
    if moved:
        now = datetime.now(UTC) + timedelta(seconds=moved.clock_shift_seconds)
        assert FIRST_DATE < now.date() < LAST_DATE


NUMBERS = sorted(name for name in BAD if Settings.model_fields[name].annotation in {int, float})


@given(st.sampled_from(NUMBERS), st.one_of(st.floats().map(str), st.integers().map(str), text))
def test_an_accepted_number_is_finite(name: str, value: str) -> None:
    if settings := accepted(**{name: value}):
        assert abs(float(getattr(settings, name))) < 1e9


@pytest.mark.parametrize("name", sorted(BAD))
def test_an_empty_value_is_the_default(name: str) -> None:
    assert accepted() == accepted(**{name: ""})
