"""The planner's parameters: every number chosen rather than computed. `docs/planning.md` explains them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PollParameters:
    """The timing of single polls and of the two polls that together evidence a passage."""

    evidence_seconds: float = 60.0
    """Two good polls of a stop at most this far apart evidence what passed in between."""
    pair_seconds: float = 55.0
    """Planned time between the polls of a pair; so long after it was expected a visit needs no first poll."""
    look_ahead_seconds: float = 150.0
    """A visit has a value, and a poll tells where its trip is, at most this long before it is expected."""
    pending_seconds: float = 30.0
    """A stop is not asked again while its answer is awaited, at most this long."""
    first_retry_seconds: float = 2.0
    """Wait after a failed answer; each further one in a row doubles it, up to `pending_seconds`."""
    first_rest_seconds: float = 300.0
    """A stop rests after `telling_answers` empty answers in a row; each further one doubles this time."""
    longest_rest_seconds: float = 3_600.0
    """The longest rest period."""
    most_saved_choices: float = 20.0
    """So many choices for the audit sample, or mainly for scheduled times, can be saved up."""


@dataclass(frozen=True, slots=True)
class EstimateParameters:
    """How sure a time can be, and from when on two of them contradict each other."""

    least_spread_seconds: float = 4.0
    """No passage, and no running time of a segment, is known better."""
    unlikely_spreads: float = 2.0
    """A time this far from an estimate is unlikely: one of the two is wrong, or a trip has vanished."""
    outlier_spreads: float = 3.0
    """A larger error, or deviation, counts as one of this size where they are learned."""
    replaced_factor: float = 1.1
    """An estimate replaces another one unless it is this many times less sure."""


@dataclass(frozen=True, slots=True)
class ListingParameters:
    """What a stop lists, and what it means that it does not."""

    per_line: int = 2
    """A stop lists about so many trips of a line; a third may be due and not listed."""
    live_seconds: float = 300.0
    """A trip is expected to be live from this long before it leaves its first stop."""
    same_departure_seconds: float = 600.0
    """A scheduled time is of the nearest departure if that leaves at most this long before or after."""
    vanished_seconds: float = 20.0
    """A trip no longer listed this long, and `unlikely_spreads`, before its time has vanished, not passed."""
    telling_answers: int = 4
    """So many answers that list nothing, or not a trip that was due, tell that a stop is not served."""


@dataclass(frozen=True, slots=True)
class PollValueParameters:
    """The terms of the value of a poll."""

    first_poll_weight: float = 0.5
    """Value of a passage that the first poll of a pair prepares, because the second has its price too."""
    second_poll_weight: float = 3.0
    """Value of a passage that a second poll completes: an open pair is lost within seconds."""
    early_poll_weight: float = 2.0
    """Value lost by a first poll per unit of probability that a later one would gain."""
    locating_weight: float = 0.3
    """Value of a first poll that tells where a trip is, per unit of probability that pairs lack."""
    located_probability: float = 0.65
    """A visit needs no locating once the best pair would evidence it with this probability."""
    visits_wanted: int = 3
    """Trips with fewer evidenced visits get a bonus."""
    few_visits_bonus: float = 20.0
    """That bonus, divided by `few_visits_stops` and the stops to come, for each of these that it lacks."""
    few_visits_stops: float = 10.0
    """The larger, the less the number of stops to come matters."""
    third_bonus_at_60_per_minute: float = 10.0
    """Bonus for a third of the trip without evidence, divided by 1 + its stops to come and by the rate."""
    late_live_probability: float = 0.05
    """That a trip that should be live already, and is listed by timetable only, will be listed live."""
    missing_factor: float = 0.5
    """Factor of the weight of a visit for each answer in a row that should list its trip and did not."""
    enough_closed_share: float = 0.97
    """An open pair is closed early once this share of what it can complete is complete."""
    least_value: float = 0.05
    """A smaller value of a poll counts as nothing; an open pair must promise twice as much."""
    revalue_seconds: float = 3.0
    """Time until a value is worked out again while a visit is near."""


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """How often values are worked out again."""

    far_behind_share: float = 0.4
    """A stop worth less than this share of the best is valued less often."""
    far_behind_factor: float = 4.0
    """It waits this many times `revalue_seconds`."""


@dataclass(frozen=True, slots=True)
class FloorParameters:
    """The choices that go to what has not been looked at, whatever it is worth."""

    floor_every_choices: int = 3
    """At most one of so many choices serves the floor."""
    longest_stop_unseen_seconds: float = 86_400.0
    """Every stop is asked at least this often."""
    longest_pattern_unseen_seconds: float = 1_800.0
    """Of every stop pattern a stop is asked at least this often."""
    pattern_retry_seconds: float = 180.0
    """A stop pattern whose turn has come is looked at again after this time if it is still unseen."""
    explore_every_choices: int = 48
    """One of so many choices explores: it goes to the stop patterns that have gone longest unseen."""


@dataclass(frozen=True, slots=True)
class ScheduleParameters:
    """What a poll is worth for the scheduled times that it teaches, and which of these a stop lists."""

    new_time_bonus: float = 0.6
    """Value of a poll for each new scheduled time that it teaches."""
    most_share: float = 0.05
    """At most this share of the choices is made mainly for scheduled times."""
    told_factor: float = 0.25
    """Factor of a new scheduled time for each departure near it whose time was read at the stop."""
    near_seconds: float = 900.0
    """Departures at most this far apart tell the scheduled times of each other."""
    memory_days: int = 21
    """A scheduled time is read again at the latest so many days after it was read first."""
    listed_seconds: float = 3_600.0
    """A departure is expected in the list of a stop this long before it is due there."""
    revalue_seconds: float = 240.0
    """Time until what a poll teaches about the schedule is worked out again."""


@dataclass(frozen=True, slots=True)
class RunningTimeParameters:
    """What is assumed of the time between stops before it is learned, and how fast it is learned."""

    usual_segment_seconds: float = 75.0
    """Running time of a segment of which nothing is known."""
    usual_segment_spread_seconds: float = 40.0
    """How far such a running time may be off."""
    shortest_segment_seconds: float = 8.0
    """No learned running time is shorter."""
    longest_segment_seconds: float = 3_600.0
    """No learned running time is longer."""
    trip_segment_spread_seconds: float = 20.0
    """How much single trips differ on one segment."""
    trip_pace_share: float = 0.08
    """How much the pace of single trips differs over the whole way."""
    schedule_pace_share: float = 0.05
    """How far scheduled times are off the running times that they teach, per second of the way."""


@dataclass(frozen=True, slots=True)
class CallParameters:
    """Which stops of a pattern its trips call at, and how the calls are divided."""

    prior_listed_answers: float = 2.0
    """So many answers that listed the trip are assumed before the first."""
    third_margin_share: float = 0.12
    """A call nearer than this share of a third to where two thirds meet is in none for certain."""


@dataclass(frozen=True, slots=True)
class MatchingParameters:
    """Which tracked trip a listing is about, by when it would leave its first stop."""

    same_trip_seconds: float = 1_200.0
    """Departures at most this far apart, with the same id, are one trip."""
    same_trip_share: float = 0.6
    """With one id, departures at most this share of the whole running time apart are one trip."""
    least_same_trip_seconds: float = 300.0
    """Departures with one id are one trip at least within this time, whatever the share says."""
    same_schedule_seconds: float = 30.0
    """A stop lists one trip without an id at scheduled times at most this far apart."""
    forget_trip_seconds: float = 5_400.0
    """A trip not listed for this long is forgotten."""


@dataclass(frozen=True, slots=True)
class PredictionErrorParameters:
    """The upstream's prediction errors: their starting values, from a real feed, and how they are learned."""

    horizons_seconds: tuple[float, ...] = (0.0, 60.0, 120.0, 240.0, 480.0, 900.0, 1_500.0)
    """How far ahead predictions look; between two of these their errors are interpolated."""
    spreads_seconds: tuple[float, ...] = (3.0, 13.0, 26.0, 78.0, 100.0, 125.0, 170.0)
    """Standard deviation of the error of a prediction at each horizon, at the start."""
    biases_seconds: tuple[float, ...] = (0.0, 0.0, 2.0, 10.0, 25.0, 60.0, 90.0)
    """How much too early predictions are on average at each horizon, at the start."""
    prior_passages: float = 300.0
    """The starting values count like this many observed passages."""
    measured_seconds: float = 120.0
    """Errors are learned of predictions that look at least this far ahead, by passages known to within it."""
    horizon_tolerance_share: float = 0.35
    """A prediction counts for a horizon if it looks at most this share of its own length further."""
    trip_errors_averaged: int = 3
    """The error of a trip is averaged over about so many passages."""
    prior_trip_errors: float = 100.0
    """So many comparisons are assumed that showed no likeness between the errors of one trip."""
    least_corrected_seconds: float = 60.0
    """Predictions further ahead than this are corrected by the trip's own error."""


@dataclass(frozen=True, slots=True)
class LatenessParameters:
    """How late trips turn out that were listed by timetable only: starting values and learning."""

    lateness_seconds: float = 219.0
    """Average lateness at the start of trips that were listed by timetable only."""
    spread_seconds: float = 350.0
    """Standard deviation of the lateness at the start."""
    prior_trips: float = 20.0
    """The starting values count like this many trips."""
    most_trips: float = 300.0
    """Older trips count for less once so many have been seen."""


@dataclass(frozen=True, slots=True)
class TrackingParameters:
    """How a trip's anchor is chosen and projected to the stops ahead, and when a visit is over."""

    sure_spread_seconds: float = 16.0
    """Times at least this sure teach running times."""
    passage_spread_share: float = 0.25
    """The spread of a passage as a share of the interval between the polls."""
    horizon_seconds: float = 900.0
    """A trip is expected at the stops it reaches within this time."""
    look_back_seconds: float = 30.0
    """It is also expected at the stops it passed this recently."""
    reproject_seconds: float = 90.0
    """A trip is projected again at least this often, for the stops that came within the horizon."""
    recently_polled_seconds: float = 180.0
    """A trip is not projected to a stop polled this recently that did not list it."""
    changed_seconds: float = 3.0
    """A smaller change of an estimate, or of where a trip is, counts as none."""
    unlisted_margin_seconds: float = 30.0
    """A full list may lack a trip that is expected at most this long before the last one listed."""
    overdue_seconds: float = 90.0
    """A trip that a stop lists as due for so long may stay listed after it passed."""
    overdue_share: float = 0.05
    """If a larger share of the listings as due last so long, trips do stay listed: no poll is for those."""
    overdue_weight: float = 0.005
    """A listing as due changes that share by so much of the difference."""
    forget_visit_seconds: float = 300.0
    """A visit is forgotten this long after its expected time."""


@dataclass(frozen=True, slots=True)
class AuditParameters:
    """When the visits of the audit sample are polled."""

    polls_per_visit: float = 4.5
    """A visit is expected to need so many polls; how many are drawn follows from it."""
    lead_seconds: float = 300.0
    """A visit is watched from this long before it is due; a bus expected earlier is another one."""
    give_up_seconds: float = 3_600.0
    """It is given up this long after it was due."""
    next_early_seconds: float = 180.0
    """Once a bus has passed, one expected this long before the next departure is due may be that one."""
    before_seconds: float = 30.0
    """A bus is polled for this long before and after it is expected."""
    before_share: float = 0.3
    """A bus is polled for this share of the time ahead before it is expected; the larger decides."""
    longest_before_seconds: float = 45.0
    """After a poll at most this long before a bus is expected, the next one comes after it."""
    unlisted_seconds: float = 150.0
    """The interval while no vehicle is listed; without a timetable row it doubles after the visit was due."""
    longest_unlisted_seconds: float = 900.0
    """The longest of these intervals."""


@dataclass(frozen=True, slots=True)
class PlannerParameters:
    """All parameters of the planner. The defaults are the values measured in `docs/planning.md`."""

    poll: PollParameters = field(default_factory=PollParameters)
    estimate: EstimateParameters = field(default_factory=EstimateParameters)
    listing: ListingParameters = field(default_factory=ListingParameters)
    poll_value: PollValueParameters = field(default_factory=PollValueParameters)
    ranking: RankingParameters = field(default_factory=RankingParameters)
    floor: FloorParameters = field(default_factory=FloorParameters)
    schedule: ScheduleParameters = field(default_factory=ScheduleParameters)
    running_time: RunningTimeParameters = field(default_factory=RunningTimeParameters)
    calls: CallParameters = field(default_factory=CallParameters)
    matching: MatchingParameters = field(default_factory=MatchingParameters)
    prediction_error: PredictionErrorParameters = field(default_factory=PredictionErrorParameters)
    lateness: LatenessParameters = field(default_factory=LatenessParameters)
    tracking: TrackingParameters = field(default_factory=TrackingParameters)
    audit: AuditParameters = field(default_factory=AuditParameters)


DEFAULTS = PlannerParameters()
