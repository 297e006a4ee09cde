from tests.collect.planning.observations import LINE, STOPS
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.stop_patterns import LineStops, StopPatterns


def test_a_line_and_destination_follow_the_pattern_that_has_most_of_their_stops() -> None:
    out, back = LineStops("15", ("A", "B", "C")), LineStops("15", ("C", "D", "A"))
    patterns = StopPatterns([out, back], DEFAULTS)
    patterns.pattern_of(("15", "CENTRO"), "D")
    found = patterns.pattern_of(("15", "CENTRO"), "C")

    assert found is not None
    assert back.stop_codes == found.stop_codes
    assert patterns.pattern_of(("16", "CENTRO"), "C") is None


def test_a_short_variant_is_looked_up_without_its_slash() -> None:
    assert StopPatterns([LINE], DEFAULTS).pattern_of(("15/", "CENTRO"), STOPS[0]) is not None


def test_lines_learn_the_running_times_of_a_street_from_each_other() -> None:
    patterns = StopPatterns([LINE, LineStops("16", ("X", STOPS[3], STOPS[4], "Y"))], DEFAULTS)
    one, other = patterns.pattern_of(("15", "CENTRO"), STOPS[0]), patterns.pattern_of(("16", "MARE"), "X")
    assert one is not None
    assert other is not None
    for _ in range(20):
        one.running_times.learn(3, 4, 200.0, spread=10.0)
    other.running_times.refresh()

    assert abs(200.0 - (other.running_times.offsets[2] - other.running_times.offsets[1])) < 5.0


def test_variants_of_a_line_learn_their_calls_apart() -> None:
    patterns = StopPatterns([LINE], DEFAULTS)
    whole, short = (
        patterns.pattern_of(("15", "CENTRO"), "0000"),
        patterns.pattern_of(("15/", "BORGO"), "0000"),
    )
    assert whole is not None
    assert short is not None
    short.calls.record_answer(8, is_listed=False)

    assert whole.calls.probability(8) > short.calls.probability(8)
