"""What `transit-etl check` says: everything that is wrong with an installation, one line each."""

from transit_etl.operations.check.alerts import send_alerts
from transit_etl.operations.check.examination import Examination, check, examine
from transit_etl.operations.check.failed_runs import forget_failures, remember_failure
from transit_etl.operations.check.problem import Problem

__all__ = ["Examination", "Problem", "check", "examine", "forget_failures", "remember_failure", "send_alerts"]
