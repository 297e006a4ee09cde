"""The lake's tables: their grain, columns and types. Instants (`_at`) are UTC, without a zone mark."""

import pyarrow as pa

INSTANT = pa.timestamp("us")
TEXT = pa.string()
WHOLE = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()
DAY = pa.date32()


def _table(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema(columns)


_ANSWER: list[tuple[str, pa.DataType]] = [
    ("operator", TEXT),
    ("request_id", TEXT),
    ("window", TEXT),
    ("received_at", INSTANT),
]
_SERVICE_DAY: list[tuple[str, pa.DataType]] = [
    ("service_date", DAY),
    ("service_seconds", WHOLE),
    ("service_hour", WHOLE),
]

# One row per planned request, sent or not: what was asked, when, and what became of it.
# service_* say the service day and hour of planned_at.
REQUESTS = _table(
    ("operator", TEXT), ("request_id", TEXT), ("window", TEXT), ("endpoint", TEXT), ("key", TEXT),
    ("api_version", WHOLE), ("planned_at", INSTANT), ("sent_at", INSTANT), ("received_at", INSTANT),
    ("outcome", TEXT), ("is_good", FLAG), ("http_status", WHOLE), ("elapsed_ms", REAL), ("attempts", WHOLE),
    ("error", TEXT), ("n_rows", WHOLE), ("body_bytes", WHOLE), *_SERVICE_DAY,
)  # fmt: skip

# One row per line listed in an answer to /linee.
LINES = _table(
    *_ANSWER, ("row_number", WHOLE), ("line_code", TEXT), ("line_number", TEXT), ("terminus_outbound", TEXT),
    ("terminus_inbound", TEXT), ("is_active", FLAG), ("note", TEXT), ("extra", TEXT),
)  # fmt: skip

# One row per stop listed under a direction in an answer to /fermate/:codicelinea.
# stop_sequence is `ordine` as given (with gaps); position counts 1, 2, 3 … along the direction.
LINE_STOPS = _table(
    *_ANSWER, ("line_code", TEXT), ("direction", TEXT), ("direction_key", TEXT),
    ("direction_indicator", TEXT), ("position", WHOLE), ("stop_sequence", WHOLE), ("stop_code", TEXT),
    ("extra", TEXT),
)  # fmt: skip

# One row per departure listed in an answer to /orari/:codice_linea/:data.
# service_date is the date asked for; service_seconds count from its noon minus twelve hours.
TIMETABLES = _table(
    *_ANSWER, ("line_code", TEXT), *_SERVICE_DAY, ("service_code", TEXT), ("is_slash_variant", FLAG),
    ("headsign", TEXT), ("service_description", TEXT), ("direction", TEXT), ("direction_key", TEXT),
    ("leg_description", TEXT), ("departure_number", WHOLE), ("departure_text", TEXT),
    ("departure_at", INSTANT), ("extra", TEXT),
)  # fmt: skip

# One row per passage listed in an answer to /passaggi/:codice_fermata.
# observed_at: the instant the answer speaks of. service_*: of predicted_at. wait_gap_seconds: predicted_at
# minus (observed_at + wait), null where the wait is no number of minutes.
PASSAGES = _table(
    *_ANSWER, ("stop_code", TEXT), ("answered_at", INSTANT), ("observed_at", INSTANT), ("row_number", WHOLE),
    ("line_label", TEXT), ("line_label_raw", TEXT), ("is_slash_variant", FLAG), ("destination", TEXT),
    ("predicted_at", INSTANT), ("clock_text", TEXT), ("wait_text", TEXT), ("wait_minutes", REAL),
    ("wait_gap_seconds", REAL), ("is_theoretical", FLAG), ("is_full", FLAG), ("is_wrapped", FLAG),
    ("trip_id", TEXT), *_SERVICE_DAY, ("extra", TEXT),
)  # fmt: skip

# One row per entry of `stato` in an answer to /stato_servizio (category_asked null) or to its category form.
# lines_kind: array, text or absent; lines is a one-element list for text. service_*: of received_at.
STATUS = _table(
    *_ANSWER, ("category_asked", TEXT), ("row_number", WHOLE), ("event", TEXT), ("category", TEXT),
    ("lines", pa.list_(TEXT)), ("lines_kind", TEXT), ("cause", TEXT), ("message", TEXT),
    ("started_at", INSTANT), ("started_text", TEXT), *_SERVICE_DAY, ("extra", TEXT),
)  # fmt: skip

# One row per item listed in an answer to /news.
NEWS = _table(
    *_ANSWER, ("row_number", WHOLE), ("news_id", TEXT), ("title", TEXT), ("published_at", INSTANT),
    ("published_text", TEXT), ("extra", TEXT),
)  # fmt: skip

# One row per answer to /news/:id.
NEWS_DETAILS = _table(
    *_ANSWER, ("news_id", TEXT), ("title", TEXT), ("content", TEXT), ("published_date", DAY), ("extra", TEXT),
)  # fmt: skip

# One row per expectation and batch: whether it held and how many rows broke it.
# The suite has its dataset's name; a column `dataset` would clash with the folder's. last_received_at is the
# batch's own, so that validating again gives the same row.
VALIDATION_RESULTS = _table(
    ("operator", TEXT), ("window", TEXT), ("suite", TEXT), ("last_received_at", INSTANT),
    ("expectation", TEXT), ("column", TEXT), ("rule", TEXT), ("scope", TEXT), ("reason", TEXT),
    ("is_success", FLAG), ("n_rows", WHOLE), ("n_unexpected", WHOLE), ("observed", TEXT),
)  # fmt: skip

# One row per quarantined row and rule: the row as JSON, and why it left.
QUARANTINE = _table(
    ("operator", TEXT), ("window", TEXT), ("dataset", TEXT), ("request_id", TEXT), ("rule", TEXT),
    ("reason", TEXT), ("row", TEXT),
)  # fmt: skip

DATASETS: dict[str, pa.Schema] = {
    "requests": REQUESTS,
    "lines": LINES,
    "line_stops": LINE_STOPS,
    "timetables": TIMETABLES,
    "passages": PASSAGES,
    "status": STATUS,
    "news": NEWS,
    "news_details": NEWS_DETAILS,
    "validation_results": VALIDATION_RESULTS,
}
