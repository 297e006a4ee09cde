"""Readings of single times in Python, with which the SQL of staging must agree."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from transit_etl.service_day import DAY, ClockFace


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """Return noon minus twelve hours of a service day, in UTC: its seconds count from there."""
    return datetime.combine(day, time(12), zone).astimezone(UTC) - DAY / 2


def service_seconds(instant: datetime, day: date, zone: ZoneInfo) -> float:
    """Return the seconds of a service day at an aware instant; more than 86,400 after midnight."""
    return (instant - day_start(day, zone)).total_seconds()


def nearest_reading(clock_seconds: int, near: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant nearest to `near` (within 12 h) at which local clocks show a time."""
    return near.astimezone(UTC) + timedelta(seconds=ClockFace(near, zone).seconds_ahead(clock_seconds))


def departure_instant(day: date, clock_seconds: int, zone: ZoneInfo, cutoff: time) -> datetime:
    """Return the instant of a departure that a timetable of service day `day` lists.

    `24:10` counts from noon minus twelve hours; `00:10`, before the cutoff, is in the night at the end of the
    service day. Of two readings at a clock change the one nearest to that count is taken.
    """
    cutoff_seconds = cutoff.hour * 3600 + cutoff.minute * 60 + cutoff.second
    if clock_seconds < cutoff_seconds:
        clock_seconds += 86_400
        return nearest_reading(clock_seconds % 86_400, _counted(day, clock_seconds, zone), zone)
    if clock_seconds >= 86_400:
        return _counted(day, clock_seconds, zone)
    return nearest_reading(clock_seconds, _counted(day, clock_seconds, zone), zone)


def local_instant(local: datetime, near: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant of a naive local time; if clocks show it twice, the one nearest to `near`."""
    readings = [local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return min(readings, key=lambda instant: abs(instant - near))


def _counted(day: date, clock_seconds: int, zone: ZoneInfo) -> datetime:
    return day_start(day, zone) + timedelta(seconds=clock_seconds)
