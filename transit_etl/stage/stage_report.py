"""The report of a stage run: its windows and rows, and what was quarantined, rejected or unreadable."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StageProgress:
    """How many of a run's windows are done, and the name of the one just finished."""

    n_done: int
    n_windows: int
    window: str


OnProgress = Callable[[StageProgress], None]


@dataclass(slots=True)
class StageReport:
    """What a run staged. `rejected` and `errors` are sentences; either makes the run not clean.

    `rows` counts good rows by dataset, `quarantined` rows by `dataset.rule`. `set_aside` says which answers
    and lines could not be staged: as quarantined rows, they do not make a run fail.
    """

    windows: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    quarantined: Counter[str] = field(default_factory=Counter)
    set_aside: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def problems(self) -> list[str]:
        """What makes the run not clean."""
        return [*self.rejected, *self.errors]

    @property
    def is_clean(self) -> bool:
        """Whether every batch was accepted and every raw file could be read."""
        return not self.problems
