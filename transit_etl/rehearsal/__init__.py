"""Rehearses days in minutes: the real collectors, budget, landing and staging on a virtual clock."""

from transit_etl.rehearsal.journal import RehearsalError
from transit_etl.rehearsal.rehearsal import rehearse
from transit_etl.rehearsal.rehearsal_report import RehearsalProgress, RehearsalReport

__all__ = ["RehearsalError", "RehearsalProgress", "RehearsalReport", "rehearse"]
