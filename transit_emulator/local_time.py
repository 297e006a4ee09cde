"""Converts service days and clock times of the operator's zone to instants (Unix seconds) and back."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

HALF_DAY = 43_200
DAY_SECONDS = 86_400
ONE_DAY = timedelta(days=1)
CUTOFF_HOUR = 4  # local; a service day lasts until this hour of the next date


def day_start(day: date, zone: ZoneInfo) -> int:
    """Return noon minus twelve hours, the zero of a service day's seconds as GTFS counts them."""
    return int(datetime.combine(day, time(12), zone).timestamp()) - HALF_DAY


def service_day(instant: float, zone: ZoneInfo) -> date:
    """Return the service day of a departure: the local date, or the one before until 04:00."""
    moment = local(instant, zone)
    return moment.date() - ONE_DAY if moment.hour < CUTOFF_HOUR else moment.date()


def local(instant: float, zone: ZoneInfo) -> datetime:
    """Return what local clocks show at an instant."""
    return datetime.fromtimestamp(instant, zone)


def clock_text(instant: float, zone: ZoneInfo) -> str:
    """Return `HH:MM:SS` as local clocks show it."""
    moment = local(instant, zone)
    return f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}"


def utc_text(instant: float) -> str:
    """Return `YYYY-MM-DDTHH:MM:SS.sssZ`."""
    moment = datetime.fromtimestamp(instant, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def at_local(day: date, seconds: int, zone: ZoneInfo) -> int:
    """Return the instant at which local clocks show `seconds` after midnight; the first of two."""
    naive = datetime.combine(day, time()) + timedelta(seconds=seconds)
    return int(naive.replace(tzinfo=zone).timestamp())
