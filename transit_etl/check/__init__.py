"""What `transit-etl check` says: everything that is wrong with an installation, one line each."""

from transit_etl.check.problem import Problem
from transit_etl.check.run import Examination, check, examine

__all__ = ["Examination", "Problem", "check", "examine"]
