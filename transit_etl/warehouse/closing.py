"""Records which service dates are over: only these count in headlines, recipes and exports."""

from datetime import UTC, timedelta

import duckdb

from transit_etl.clock import naive_utc
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import Settings

_LAST_ANSWER = "select max(received_at) from core.requests"
_HAS_REQUESTS = "select count(*) from duckdb_tables() where (schema_name, table_name) = ('core', 'requests')"


def record_closed_date(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Write the last service date that is over, and when service days begin, into `quality.closing`.

    A date is over once the clock, or an answer received, is past its end: rehearsed answers can be of days to
    come.
    """
    now = naive_utc(settings.clock.now())
    has_requests = connection.execute(_HAS_REQUESTS).fetchone() != (0,)
    answers = connection.execute(_LAST_ANSWER).fetchall() if has_requests else []
    latest = max([now, *(received_at for (received_at,) in answers if received_at is not None)])
    today = service_date(latest.replace(tzinfo=UTC), settings.zone, settings.service_day_cutoff)
    cutoff = settings.service_day_cutoff
    starts = timedelta(hours=cutoff.hour, minutes=cutoff.minute, seconds=cutoff.second)
    connection.execute("delete from quality.closing")
    connection.execute("insert into quality.closing values (?, ?)", [today - DAY, starts.seconds])
