from tests.collect.planning.observations import STOPS
from transit_etl.collect.planning.cover import Cover, covering
from transit_etl.collect.planning.stop_patterns import LineStops


def test_cover_asks_few_stops_that_every_line_direction_passes() -> None:
    lines = [LineStops("1", ("A", "B", "C")), LineStops("2", ("D", "B", "E")), LineStops("3", ("F", "G"))]
    policy = Cover("ABCDEFG", lines)

    assert ["B", "F"] == covering("ABCDEFG", lines)
    assert ["B", "F", "B"] == [policy.choose(float(now)) for now in range(3)]


def test_cover_asks_every_stop_where_no_line_is_known() -> None:
    policy = Cover(STOPS, [])

    assert STOPS == [policy.choose(float(now)) for now in range(len(STOPS))]
