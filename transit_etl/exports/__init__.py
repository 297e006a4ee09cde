"""Writes datasets that people take away: tables and feeds of the published warehouse, with manifests."""

from transit_etl.exports.everything import AllReport, all_requests, export_all
from transit_etl.exports.exporter import due, export
from transit_etl.exports.formats import FORMATS
from transit_etl.exports.manifest import damage_of_export
from transit_etl.exports.plan import dataset_name
from transit_etl.exports.request import ExportError, ExportReport, Request

__all__ = [
    "FORMATS",
    "AllReport",
    "ExportError",
    "ExportReport",
    "Request",
    "all_requests",
    "damage_of_export",
    "dataset_name",
    "due",
    "export",
    "export_all",
]
