"""Collects answers within the allowance: plan, request, land."""

from transit_etl.collect.report import CollectReport, Progress
from transit_etl.collect.running import collect

__all__ = ["CollectReport", "Progress", "collect"]
