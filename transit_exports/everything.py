"""Exports every dataset, and writes only what changed since the last time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from transit_exports.catalogue import write_catalogue
from transit_exports.exporter import export_from
from transit_exports.formats import FORMATS
from transit_exports.plan import dataset_name
from transit_exports.request import ExportError, ExportReport, Request
from transit_exports.scratch import opened_with_scratch
from transit_exports.settings import ExportSettings

PROMISED = ("core", "marts", "headline")
OnDataset = Callable[[int, int, str], None]


@dataclass(slots=True)
class AllReport:
    """What became of all datasets; `refused` says of which too little is known, and why."""

    n_datasets: int = 0
    n_new_versions: int = 0
    n_files: int = 0
    n_kept_files: int = 0
    n_rows: int = 0
    refused: list[str] = field(default_factory=list)

    def count(self, report: ExportReport) -> None:
        """Count a dataset that was exported."""
        self.n_datasets += 1
        self.n_new_versions += report.is_new_version
        self.n_files += report.n_files
        self.n_kept_files += report.n_kept_files
        self.n_rows += report.n_rows


def all_requests(
    settings: ExportSettings, formats: Sequence[str] = (), *, allows_incomplete: bool = False
) -> list[Request]:
    """Return a request for each table of core and marts in each format, and for each feed."""
    with opened_with_scratch(settings, "requests") as source:
        tables = [table.place for table in source.tables.values() if table.schema in PROMISED]
    chosen = [FORMATS[name] for name in formats] or [form for form in FORMATS.values() if form.is_in_all]
    return [
        Request(tuple(names), form.name, allows_incomplete=allows_incomplete)
        for form in chosen
        for names in ([[]] if form.is_feed else [[table] for table in tables])
    ]


def export_all(
    settings: ExportSettings, requests: Sequence[Request], *, on_dataset: OnDataset | None = None
) -> AllReport:
    """Carry out requests one after the other; one that is refused does not stop the others."""
    report = AllReport()
    with opened_with_scratch(settings, "all") as source:
        try:
            for number, request in enumerate(requests):
                name = dataset_name(request)
                if on_dataset:
                    on_dataset(number, len(requests), name)
                try:
                    report.count(export_from(source, request, keeps_unchanged=True))
                except ExportError as error:
                    report.refused.append(f"{name}: {error}")
        finally:
            write_catalogue(settings, source.publisher)
    return report
