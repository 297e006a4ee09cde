"""A page of a report, before it is written as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transit_reports.figures import Figure


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its address within the report, its template and what that shows.

    `figures` are shown by the template under their names, and each has a CSV file beside the page.
    """

    address: str
    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Figure] = ()

    @property
    def root(self) -> str:
        """The address of the report's folder from the page."""
        return "../" * self.address.count("/")
