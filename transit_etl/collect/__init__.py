"""Collects answers within the allowance: plan, request, land."""

from transit_etl.collect.collection import collect, collect_together
from transit_etl.collect.tally import CollectReport, Progress

__all__ = ["CollectReport", "Progress", "collect", "collect_together"]
