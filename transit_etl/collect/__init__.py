"""Collects answers within the allowance: plan, request, land."""

from transit_etl.collect.collection import collect
from transit_etl.collect.tally import CollectReport, Progress
from transit_etl.collect.whole_round import collect_round

__all__ = ["CollectReport", "Progress", "collect", "collect_round"]
