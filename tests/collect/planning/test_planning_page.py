"""`docs/planning.md` says what the code does: its examples are computed again."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

from tests.meanings import refer_to_neighbours
from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.poll_value import PollValuer, passed_probability
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern

PAGE = Path(__file__).parents[3] / "docs" / "planning.md"
DESCRIPTION = re.compile(r'^    (\w+): .* = .*\n    """(.*)"""$', re.MULTILINE)
DUE = 1_000.0


def visit_of_the_example(spread: float) -> ExpectedVisit:
    """Return the visit at the tenth of twenty stops of a live trip without evidence, due at DUE."""
    pattern = StopPattern(LineStops("15", tuple(f"{n:04}" for n in range(20))), DEFAULTS)
    trip = TrackedTrip("15", "T1", pattern, 0.0, is_live=True)
    visit = ExpectedVisit(trip, StopState("0009"), 9)
    visit.expect(Estimate(DUE, spread), DEFAULTS)
    visit.stop.visits[trip] = visit
    return visit


def first_poll_row(ahead: int) -> str:
    """Return the page's row about a first poll so many seconds before the trip is due."""
    valuer, now, cells = PollValuer(60.0, DEFAULTS), DUE - ahead, [f"{ahead} s"]
    for spread in (13.0, 60.0):
        visit = visit_of_the_example(spread)
        enclosed = passed_probability(visit, now + DEFAULTS.poll.pair_seconds) - passed_probability(
            visit, now
        )
        cells += [f"{enclosed:.2f}", f"{valuer.value(visit.stop, now)[0]:.2f}"]
    return f"| {' | '.join(cells)} |"


def descriptions() -> dict[str, str]:
    """Return what the code says of each parameter, by its group and name."""
    return {
        f"{field.name}.{name}": text
        for field in fields(DEFAULTS)
        for name, text in DESCRIPTION.findall(inspect.getsource(type(getattr(DEFAULTS, field.name))))
    }


def rows_of_the_page(heading: str) -> list[str]:
    """Return the rows, without the head, of the table under a heading."""
    _, _, section = PAGE.read_text().partition(f"\n## {heading}\n")
    assert section, f"no section {heading!r}"
    lines = section.partition("\n## ")[0].splitlines()
    return [line for line in lines if line.startswith("| ")][1:]


def test_the_values_of_the_example_are_those_of_the_code() -> None:
    assert [first_poll_row(ahead) for ahead in (90, 60, 45, 28, 10, 0, -20)] == rows_of_the_page(
        "Worked example"
    )


def test_the_weight_of_the_example_is_that_of_the_code() -> None:
    weight = PollValuer(60.0, DEFAULTS).weight(visit_of_the_example(13.0))

    assert f"1 + 20 * 3 / (10 + 10) + 10 / (1 + 3) = {weight:.3f}" in PAGE.read_text()


def test_every_parameter_has_a_description_that_says_enough_alone() -> None:
    names = {
        f"{group.name}.{field.name}"
        for group in fields(DEFAULTS)
        for field in fields(getattr(DEFAULTS, group.name))
    }

    assert names == descriptions().keys()
    assert {} == refer_to_neighbours(descriptions())


def test_every_parameter_has_a_unit_in_its_name() -> None:
    units = (
        "seconds", "spreads", "share", "factor", "probability", "weight", "bonus", "value", "choices",
        "answers", "passages", "trips", "errors", "averaged", "stops",
        "visits", "wanted", "days", "per_line", "per_minute", "per_visit", "polls", "revalued",
    )  # fmt: skip
    names = [field.name for group in fields(DEFAULTS) for field in fields(getattr(DEFAULTS, group.name))]

    assert [] == [name for name in names if not name.endswith(units)]


def test_the_formulas_on_the_page_have_the_numbers_of_the_code() -> None:
    poll, p, floor, page = DEFAULTS.poll, DEFAULTS.poll_value, DEFAULTS.floor, PAGE.read_text()
    pair = f"{poll.pair_seconds:g} s"
    quoted = [
        f"{p.second_poll_weight:g}   * P(passed by now)",
        f"{p.first_poll_weight:g} * ( P(now, now + {pair}) - {p.early_poll_weight:g} * what waiting adds )",
        f"{p.locating_weight:g} * ({p.located_probability:g} - best P)",
        f"P(now + {pair}, now + {poll.look_ahead_seconds:g} s)",
        f"{p.few_visits_bonus:g} * ({p.visits_wanted} - evidenced visits)",
        f"evidenced visits) / ({p.few_visits_stops:g} + stops to come)",
        f"while the trip has fewer than {p.visits_wanted}",
        f"{p.third_bonus_at_60_per_minute:g} / (1 + stops to come in this third) * 60 / rate",
        f"once {p.enough_closed_share:.0%} of what".replace("%", " %"),
        f"or {poll.pair_seconds:g} s after the first poll",
        f"times {p.missing_factor:g} for each answer",
        f"it is {p.late_live_probability:g} for a trip",
        f"at least every {floor.longest_pattern_unseen_seconds / 60:g} minutes",
        f"1 choice in {floor.explore_every_choices}",
    ]

    assert [] == [each for each in quoted if each not in page]
