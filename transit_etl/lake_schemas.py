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

# fmt: off
DATASETS: dict[str, pa.Schema] = {
    # One row per planned request, sent or not: what was asked, when, and with what outcome.
    # service_*: of planned_at. purpose: `audit` for a request made for the audit sample, otherwise null.
    # draws: the visits of the sample that the answer is about, as a JSON list; null where there are none.
    "requests": _table(
        ("operator", TEXT), ("request_id", TEXT), ("window", TEXT), ("endpoint", TEXT), ("key", TEXT),
        ("api_version", WHOLE), ("planned_at", INSTANT), ("sent_at", INSTANT), ("received_at", INSTANT),
        ("outcome", TEXT), ("is_good", FLAG), ("http_status", WHOLE), ("elapsed_ms", REAL),
        ("attempts", WHOLE), ("error", TEXT), ("purpose", TEXT), ("draws", TEXT),
        ("n_rows", WHOLE), ("body_bytes", WHOLE), *_SERVICE_DAY,
    ),
    # One row per line listed in an answer to /linee.
    "lines": _table(
        *_ANSWER, ("row_number", WHOLE), ("line_code", TEXT), ("line_number", TEXT),
        ("terminus_outbound", TEXT), ("terminus_inbound", TEXT), ("is_active", FLAG), ("note", TEXT),
        ("extra", TEXT),
    ),
    # One row per stop listed under a direction in an answer to /fermate/:codicelinea.
    # stop_sequence is `ordine` as given (with gaps); position counts 1, 2, 3 … along the direction.
    "line_stops": _table(
        *_ANSWER, ("line_code", TEXT), ("direction", TEXT), ("direction_key", TEXT),
        ("direction_indicator", TEXT), ("position", WHOLE), ("stop_sequence", WHOLE),
        ("stop_code", TEXT), ("extra", TEXT),
    ),
    # One row per departure listed in an answer to /orari/:codice_linea/:data.
    # service_date is the date asked for; service_seconds count from its noon minus twelve hours.
    "timetables": _table(
        *_ANSWER, ("line_code", TEXT), *_SERVICE_DAY, ("service_code", TEXT),
        ("is_slash_variant", FLAG), ("headsign", TEXT), ("service_description", TEXT),
        ("direction", TEXT), ("direction_key", TEXT), ("leg_description", TEXT),
        ("departure_number", WHOLE), ("departure_text", TEXT), ("departure_at", INSTANT),
        ("extra", TEXT),
    ),
    # One row per passage listed in an answer to /passaggi/:codice_fermata.
    # observed_at: the instant that the answer is about. service_*: of predicted_at. wait_gap_seconds:
    # predicted_at minus (observed_at + wait), null where the wait is not a number of minutes.
    "passages": _table(
        *_ANSWER, ("stop_code", TEXT), ("answered_at", INSTANT), ("observed_at", INSTANT),
        ("row_number", WHOLE), ("line_label", TEXT), ("line_label_raw", TEXT),
        ("is_slash_variant", FLAG), ("destination", TEXT), ("predicted_at", INSTANT),
        ("clock_text", TEXT), ("wait_text", TEXT), ("wait_minutes", REAL), ("wait_gap_seconds", REAL),
        ("is_theoretical", FLAG), ("is_full", FLAG), ("is_wrapped", FLAG), ("trip_id", TEXT),
        *_SERVICE_DAY, ("extra", TEXT),
    ),
    # One row per entry of `stato` in an answer to /stato_servizio (category_asked null) or its category form.
    # lines_kind: array, text or absent; lines is a one-element list for text. service_*: of received_at.
    "status": _table(
        *_ANSWER, ("category_asked", TEXT), ("row_number", WHOLE), ("event", TEXT), ("category", TEXT),
        ("lines", pa.list_(TEXT)), ("lines_kind", TEXT), ("cause", TEXT), ("message", TEXT),
        ("started_at", INSTANT), ("started_text", TEXT), *_SERVICE_DAY, ("extra", TEXT),
    ),
    # One row per item listed in an answer to /news.
    "news": _table(
        *_ANSWER, ("row_number", WHOLE), ("news_id", TEXT), ("title", TEXT), ("published_at", INSTANT),
        ("published_text", TEXT), ("extra", TEXT),
    ),
    # One row per answer to /news/:id.
    "news_details": _table(
        *_ANSWER, ("news_id", TEXT), ("title", TEXT), ("content", TEXT), ("published_date", DAY),
        ("extra", TEXT),
    ),
    # One row per expectation and batch: whether it held and how many rows broke it.
    # suite: the name of the dataset; a column `dataset` would clash with the folder's. last_received_at: of
    # the batch, so that validating it again gives the same row.
    "validation_results": _table(
        ("operator", TEXT), ("window", TEXT), ("suite", TEXT), ("last_received_at", INSTANT),
        ("expectation", TEXT), ("column", TEXT), ("rule", TEXT), ("scope", TEXT), ("reason", TEXT),
        ("is_success", FLAG), ("n_rows", WHOLE), ("n_unexpected", WHOLE), ("observed", TEXT),
    ),
}
# fmt: on

# Columns that files written by older versions lack; their rows have null there.
_ADDED = {"requests": frozenset({"purpose", "draws"})}


def older_schema(dataset: str) -> pa.Schema:
    """Return the columns that a dataset had before any was added."""
    added = _ADDED.get(dataset, frozenset())
    return pa.schema([field for field in DATASETS[dataset] if field.name not in added])


# One row per quarantined row and rule: the row as JSON, the rule and its reason.
QUARANTINE = _table(
    ("operator", TEXT), ("window", TEXT), ("dataset", TEXT), ("request_id", TEXT), ("rule", TEXT),
    ("reason", TEXT), ("row", TEXT),
)  # fmt: skip

VALIDATION_RESULTS = DATASETS["validation_results"]
# The requests of a window are written last: their file marks the window as staged.
IN_ORDER_OF_WRITING = [*(name for name in DATASETS if name != "requests"), "requests"]
