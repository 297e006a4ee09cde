"""Writes datasets that people take away: tables and feeds of a published warehouse, with manifests."""

from transit_exports.everything import AllReport, all_requests, export_all
from transit_exports.exporter import due, export
from transit_exports.formats import FORMATS
from transit_exports.manifest import damage_of_export
from transit_exports.plan import dataset_name
from transit_exports.request import ExportError, ExportReport, Request
from transit_exports.settings import ExportSettings

__all__ = [
    "FORMATS",
    "AllReport",
    "ExportError",
    "ExportReport",
    "ExportSettings",
    "Request",
    "all_requests",
    "damage_of_export",
    "dataset_name",
    "due",
    "export",
    "export_all",
]
