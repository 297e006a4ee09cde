"""Writes what `status` and `check` found as metrics, in the text format of Prometheus."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, write_to_textfile
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from transit_base.files import make_folder
from transit_etl.endpoints import Kind
from transit_etl.operations.check import Examination, examine
from transit_etl.operations.status import Status
from transit_etl.settings import FolderSettings, Settings

PREFIX = "transit_etl_"


def examine_and_record(settings: Settings, *, sends_alerts: bool) -> Examination:
    """Return what is wrong, and write it as metrics if TRANSIT_METRICS_FILE names a file.

    Where the file cannot be written, that is one of the problems found.
    """
    found = examine(settings, sends_alerts=sends_alerts)
    if settings.metrics_file is not None:
        with suppress(OSError):
            write_metrics(settings, found, settings.metrics_file)
    return found


def metrics_text(settings: FolderSettings, found: Examination) -> str:
    """Return the metrics of an examination."""
    return generate_latest(_registry(settings, found)).decode()


def write_metrics(settings: FolderSettings, found: Examination, path: Path) -> None:
    """Replace a file by the metrics of an examination, for the textfile collector of node_exporter.

    Everybody may read it: node_exporter is another user.
    """
    make_folder(path.parent)
    write_to_textfile(str(path), _registry(settings, found))


class _Found(Collector):
    """Gives a registry what an examination found."""

    def __init__(self, families: Iterable[GaugeMetricFamily]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return the metrics; `_families` says which there are."""
        return self._families


def _registry(settings: FolderSettings, found: Examination) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Found(_families(settings, found)))
    return registry


def _families(settings: FolderSettings, found: Examination) -> Iterator[GaugeMetricFamily]:
    families: dict[str, GaugeMetricFamily] = {}
    for each in (found, *found.others):
        operator = each.status.operator
        for name, text, labels, values in (*_single(each), *_labelled(settings, each)):
            family = families.setdefault(name, _family(name, text, "operator", *labels))
            for key, value in values.items():
                family.add_metric([operator, *key], value)
    yield from families.values()


def _single(found: Examination) -> Iterator["_Labelled"]:
    """Yield the metrics with one value, where there is one yet."""
    for name, text, value in _values(found):
        if value is not None:
            yield name, text, (), {(): value}


def _family(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}{name}", text, labels=labels)


def _values(found: Examination) -> Iterator[tuple[str, str, float | None]]:
    """Yield the metrics with one value, which is None where there is none yet."""
    status, pace, backup = found.status, found.status.pace, found.status.last_backup
    store = status.store
    waiting_since = status.waiting_since or status.now
    yield "examined_timestamp_seconds", "When status and check were read", _seconds(status.real_now)
    yield "clock_shift_seconds", "How far the pipeline's clock is moved", status.clock_shift_seconds
    yield "rehearsals", "Rehearsals in the data folder, of which nothing counts here", len(status.rehearsals)
    yield "problems", "Number of problems that check finds", len(found.problems)
    yield "upstream_down", "1 while the upstream gives no usable answer", float(status.outage is not None)
    yield "allowance_requests_per_minute", "Requests allowed in a minute", status.rate_per_minute
    yield (
        "pace_requests_per_minute",
        "Requests sent in a minute at most: as many as allowed, fewer for a while after a 429",
        pace.rate_per_minute if pace else None,
    )
    yield "clock_error_seconds", "How far the clock is ahead of answers", status.clock_error_seconds
    yield "passages_due_last_hour", "Live passages expected in the last hour", status.evidence.n_due
    yield (
        "passages_evidenced_last_hour",
        "Live passages expected in the last hour that were seen within a minute",
        status.evidence.n_evidenced,
    )
    yield (
        "passages_bounded_last_hour",
        "Live passages expected in the last hour that were seen between polls more than a minute apart",
        status.evidence.n_bounded,
    )
    yield "stops", "Stops of active lines", status.n_stops
    yield "stops_unanswered", "Stops without a good answer for days", status.n_stops_never_seen
    yield "windows_open", "Windows being written", status.n_open
    yield "staging_lag_seconds", "Age of the oldest window not staged", _span(status.now, waiting_since)
    yield "rejected_batches", "Batches rejected in the last days, ten at most", len(status.rejected)
    yield "build_timestamp_seconds", "When the build was last written", _seconds(status.built_at)
    yield "build_duration_seconds", "How long the last build took", status.build_seconds
    yield "published_timestamp_seconds", "When the warehouse was published", _seconds(status.published_at)
    yield "publish_duration_seconds", "How long publishing took last", status.publish_seconds
    yield "published_build", "Number of the published build", status.published_build
    yield "published_lag_seconds", "Age of the newest published answer", _published_lag(status)
    yield (
        "backup_timestamp_seconds",
        "When the last whole backup was made",
        _seconds(backup.made_at if backup else None),
    )
    yield (
        "store_timestamp_seconds",
        "When the object store was compared with last without an error",
        _seconds(store.last.at if store else None),
    )
    yield "store_raw_files_waiting", "Raw files not sent yet", store.n_raw_files if store else None
    yield "store_days_waiting", "Days of the lake not published yet", store.n_days if store else None
    yield "disk_free_bytes", "Room on the disk of the data folder", status.free_bytes


_Values = Mapping[tuple[str, ...], float]
_Labelled = tuple[str, str, tuple[str, ...], _Values]


def _labelled(settings: FolderSettings, found: Examination) -> Iterator[_Labelled]:
    """Yield the metrics with several values: name, text, further labels, and the value by these."""
    status, usage, hour = found.status, found.status.usage, "in the last hour, by kind"
    waiting = status.pace.waiting if status.pace else {}
    real = settings.clock.to_real
    outcomes: _Values = {
        (endpoint, outcome): n for endpoint, each in status.outcomes.items() for outcome, n in each.items()
    }
    last_good = {name: real(at).timestamp() for name, at in status.last_good_at.items() if at}
    kind = ("kind",)
    installed: _Values = {(version("transit-etl"), status.base_url): 1}
    yield "info", "1; its labels say what is installed", ("version", "base_url"), installed
    yield (
        "problem",
        "1 for each problem that check finds",
        ("problem",),
        _by_one({p.name: 1 for p in found.problems}),
    )
    yield (
        "requests_last_minute",
        "Requests sent in the last minute, by kind",
        kind,
        _by_one({k.kind: k.n_last_minute for k in usage}),
    )
    yield "requests_last_hour", f"Requests sent {hour}", kind, _by_one({k.kind: k.n_sent for k in usage})
    yield (
        "requests_without_permit_last_hour",
        f"Requests not sent for want of a permit {hour}",
        kind,
        _by_one({k.kind: k.n_not_sent for k in usage}),
    )
    yield (
        "allowance_share_last_hour",
        f"Share of the allowance {hour}",
        kind,
        _by_one({k.kind: k.share for k in usage}),
    )
    yield (
        "requests_waiting",
        "Requests that wait for a permit, by kind",
        kind,
        _by_one({k: waiting.get(k, 0) for k in Kind}),
    )
    yield "outcomes_last_hour", "Requests of the last hour, by outcome", ("endpoint", "outcome"), outcomes
    yield (
        "last_good_answer_timestamp_seconds",
        "When the last good answer of an endpoint came",
        ("endpoint",),
        _by_one(last_good),
    )
    yield "windows_waiting", "Finished windows not staged", ("endpoint",), _by_one(status.waiting)
    yield "rows_last_day", "Rows received in the last day", ("dataset",), _by_one(found.day.n_rows)
    yield (
        "rows_set_aside_last_day",
        "Rows received in the last day that are in quarantine",
        ("dataset",),
        _by_one(found.day.n_set_aside),
    )


def _by_one(values: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    return {(name,): value for name, value in values.items()}


def _seconds(instant: datetime | None) -> float | None:
    return None if instant is None else instant.timestamp()


def _span(end: datetime, begin: datetime) -> float:
    return max(0.0, (end - begin).total_seconds())


def _published_lag(status: Status) -> float | None:
    return None if status.published_until is None else _span(status.now, status.published_until)
