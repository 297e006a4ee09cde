"""The script of the second upstream, and what the published tables have to say of each case of it.

A day and a half around the clock change of 25 October 2026: summer time (two hours ahead of UTC) ends at
01:00 UTC. Instants are UTC, those that upstream writes are local. Each case has lines, lifts or news of its
own; a whole answer goes wrong while an event is listed that is there for this case alone.
"""

from dataclasses import dataclass
from typing import Any

from tests.acceptance.upstream import Entry, Json, News, Script, Timetable, line_code

START, HOURS = "24 16:00", 32.0
OUTAGE = ("25 12:00", "25 18:00")  # nothing is answered
Value = Any


@dataclass(frozen=True)
class Case:
    """A case: what is asked of the published file, and the rows that have to come."""

    sql: str
    expected: list[tuple[Value, ...]]


def episodes(number: str, figures: str) -> str:
    """Return the query of figures of the episodes that name a line or a lift."""
    return (
        f"select {figures} from marts.disruptions join core.status_episodes as e using (episode_id) "
        f"semi join (select episode_id from core.status_episode_lines where named = '{number}') "
        "using (episode_id)"
    )


def minutes(number: str, figures: str, condition: str = "true") -> str:
    """Return the query of figures of the disrupted time of a line."""
    table = "marts.disruption_minutes"
    return f"select {figures} from {table} where line_code = '{line_code(number)}' and {condition}"


def _near(column: str, instant: str, seconds: int = 61) -> str:
    return f"bool_and(abs(epoch({column}) - epoch(timestamp '2026-10-{instant}:00')) <= {seconds})"


def _listed(begin: str, end: str) -> str:
    """Return the figures that say that there is one episode, listed from one instant to another."""
    return f"count(*), {_near('e.first_seen_at', begin)}, {_near('e.last_seen_at', end)}"


ONE_LISTED = [(1, True, True)]
LINES = [
    *("10", "11", "21", "22", "23", "24", "25", "26", "31", "32", "33", "34", "41", "42", "51", "52", "53"),
    *("54", "55", "56", "61", "62", "71", "72", "73", "74", "75", "81", "82", "83", "91", "92", "93", "94"),
    *("95", "101", "102", "103", "104"),
]


def _entry(listed: tuple[str, str], lines: Json, since: str, message: str, **others: Any) -> Entry:  # noqa: ANN401 - members of an entry
    return Entry(listed, lines, since, message, **others)


def _works(number: str, listed: tuple[str, str], since: str, **others: Any) -> Entry:  # noqa: ANN401 - members of an entry
    return _entry(listed, [number], since, f"Linea {number} deviata in via {number} per lavori.", **others)


ENTRIES = [
    # whole answers
    _works("21", ("25 04:40", "25 05:30"), "24/10/2026 14:01"),
    _works("22", ("25 05:40", "25 06:10"), "24/10/2026 13:12"),
    _works("23", ("25 05:50", "25 06:40"), "24/10/2026 12:23"),
    _works("24", ("25 06:20", "25 07:00"), "24/10/2026 11:34"),
    _works("25", ("25 06:50", "25 07:30"), "24/10/2026 10:45"),
    _works("26", ("25 07:20", "25 08:00"), "24/10/2026 9:56"),
    # an outage of the poller
    _works("31", ("25 13:00", "25 15:00"), "25/10/2026 14:00"),
    _works("32", ("25 11:00", "25 13:00"), "25/10/2026 12:00"),
    _works("33", ("25 11:00", "25 20:00"), "25/10/2026 12:00"),
    # gaps
    _works("41", ("24 19:00", "24 20:00"), "24/10/2026 21:00"),
    _works("41", ("24 23:00", "25 01:00"), "24/10/2026 21:00"),
    _works("42", ("24 20:00", "24 21:00"), "24/10/2026 22:00"),
    _works("42", ("24 21:15", "24 22:00"), "24/10/2026 22:00"),
    # identity
    _entry(("24 19:00", "24 21:00"), ["51"], "24/10/2026 21:00", "Linea deviata in piazza Alfa per corteo."),
    _entry(
        ("24 21:00", "24 22:00"), ["51", "52"], "24/10/2026 21:00", "Linea deviata in piazza Alfa per corteo."
    ),
    _works("53", ("24 19:00", "24 20:00"), "24/10/2026 21:00"),
    _works("53", ("24 20:00", "24 21:00"), "24/10/2026 20:30"),
    _entry(("24 19:00", "24 20:00"), ["54"], "24/10/2026 21:00", "Linea 54 deviata in via Beta."),
    _entry(("24 20:00", "24 21:00"), ["054"], "24/10/2026 21:00", "Linea 54 deviata in via Beta."),
    _entry(("24 19:00", "24 20:00"), ["55"], "24/10/2026 21:00", "Linea 55 deviata in via Gamma."),
    _entry(
        ("24 20:00", "24 21:00"),
        ["55"],
        "24/10/2026 21:00",
        "Linea 55 deviata in via Gamma: possibili ritardi.",
    ),
    # local times
    _works("61", ("25 00:35", "25 03:00"), "25/10/2026 2:30"),
    _works("62", ("24 19:00", "24 22:00"), "24/10/2016 21:00"),
    # lines
    _entry(("24 19:00", "24 20:00"), ["71/"], "24/10/2026 21:00", "Linea 71/ deviata."),
    _entry(("24 19:00", "24 20:00"), "72, 73", "24/10/2026 21:00", "Linee deviate in via Delta."),
    _entry(("24 19:00", "24 20:00"), ["999", "74"], "24/10/2026 21:00", "Linee deviate in via Epsilon."),
    _works("75", ("24 19:00", "24 20:00"), "24/10/2026 21:00", category="ZZ"),
    _works("81", ("24 19:00", "24 20:00"), "24/10/2026 21:00", cause="caduta meteorite"),
    # overlaps
    _entry(("24 19:00", "24 21:00"), ["82"], "24/10/2026 21:00", "Linea 82 deviata in via Zeta per lavori."),
    _entry(
        ("24 20:00", "24 22:00"), ["82"], "24/10/2026 22:00", "Fermata Eta sospesa per guasto.", event="FERS"
    ),
    # announced before the start
    _works("91", ("24 18:00", "25 04:00"), "26/10/2026 8:00"),
    _works("92", ("24 20:00", "25 11:00"), "25/10/2026 10:00"),
    _entry(
        ("24 19:00", "24 20:00"), None, "24/10/2026 21:00", "Allerta meteo: servizio a rischio.", event="GEV"
    ),
    # lifts
    *(
        _entry(
            listed,
            name,
            "24/10/2026 21:00",
            message,
            event="FERS",
            category="ASC",
        )
        for listed, name, message in (
            (("24 19:00", "24 20:00"), "Ascensore Alba", "Ascensore Alba fuori servizio per guasto."),
            (("24 22:00", "24 23:00"), "ASCENSORE ALBA", "Ascensore Alba fuori servizio per guasto."),
            (("24 19:00", "24 21:00"), "Ascensore Brezza", "Ascensore Brezza fuori servizio per guasto."),
            (("24 20:00", "24 22:00"), "Ascensore Brezza", "Brezza: impianto fermo, tecnici sul posto."),
            (("24 19:00", "24 22:00"), "Ascensore Cima", "Dal 9 novembre orario ridotto: 7-20."),
            (("24 19:00", "25 20:00"), "Ascensore Duna", "Ascensore Duna fuori servizio per guasto."),
        )
    ),
    # what news are about
    _entry(
        ("24 19:00", "25 09:00"),
        ["101"],
        "24/10/2026 21:00",
        "Linea 101 deviata per frana in via Montebello.",
    ),
    _entry(
        ("25 03:00", "25 05:00"),
        ["102"],
        "25/10/2026 4:00",
        "Linea 102 deviata per incendio in via Garibaldi.",
    ),
    _entry(
        ("25 08:00", "25 10:00"), ["102"], "25/10/2026 9:00", "Linea 102 deviata per corteo in via Mazzini."
    ),
]


def _without_list(_rows: list[Json]) -> Json:
    return {}


def _empty(_rows: list[Json]) -> Json:
    return {"stato": []}


def _third(rows: list[Json]) -> Json:
    return {"stato": [row for row in rows if row["linee"] != ["23"]][: len(rows) // 3]}


def _without_events(rows: list[Json]) -> Json:
    return {"stato": [{name: row[name] for name in row if name != "evento"} for row in rows]}


def _without_one_event(rows: list[Json]) -> Json:
    """Leave out the code of the event of one line, so that its row is set aside."""
    return {"stato": [row | {"evento": None} if row.get("linee") == ["25"] else row for row in rows]}


def _as_text(_rows: list[Json]) -> Json:
    return "manutenzione in corso"


STATUS_ANSWERS = [
    ("25 05:00", "25 05:10", _without_list),
    ("25 06:00", "25 06:01", _empty),
    ("25 06:30", "25 06:31", _third),
    ("25 06:40", "25 06:50", _without_events),
    ("25 07:00", "25 07:10", _without_one_event),
    ("25 07:40", "25 07:50", _as_text),
]

NEWS = [
    News(
        "n1",
        "Orari di sportello",
        "24 17:30",
        [("24 17:30", "Aperti fino alle 19."), ("25 02:20", "Chiusi.")],
    ),
    News("n2", "Nuova app", "24 17:30", [("24 17:30", "Da oggi si scarica.")]),
    News("n3", "Concorso fotografico", "24 17:30", [("24 17:30", "Si vota.")], "25 06:30"),
    News(
        "n4",
        "Via Montebello chiusa dopo lo smottamento",
        "24 19:30",
        [("24 19:30", "La linea 101 segue un itinerario alternativo.")],
    ),
    News(
        "n5",
        "Manifestazione in via Mazzini",
        "25 07:30",
        [("25 07:30", "Per il passaggio del corteo i bus della linea 102 cambiano percorso.")],
    ),
    News(
        "n6",
        "Linea 102, al via il sondaggio",
        "25 08:30",
        [("25 08:30", "Quanto siete soddisfatti del comfort a bordo?")],
    ),
]

HOURLY = [f"{hour:02}:00" for hour in range(6, 24)]
TIMETABLES = {
    line_code("10"): [
        Timetable("01 00:00", HOURLY, "NERVI", "25"),
        Timetable("25 10:30", HOURLY, "NERVI FS", "25"),
    ],
    line_code("11"): [
        Timetable("01 00:00", HOURLY, day="25"),
        Timetable("25 09:30", [], day="25"),
        Timetable("25 11:30", HOURLY, day="25"),
    ],
    line_code("103"): [
        Timetable("01 00:00", HOURLY, day="25"),
        Timetable("25 06:30", [hour for hour in HOURLY if hour != "22:00"], day="25"),
    ],
    line_code("104"): [
        Timetable("01 00:00", HOURLY, day="25"),
        Timetable("25 06:30", sorted([*HOURLY, "21:30"]), day="25"),
    ],
}

SCRIPT = Script(
    lines=LINES,
    entries=ENTRIES,
    news=NEWS,
    timetables=TIMETABLES,
    status_answers=STATUS_ANSWERS,
    news_empty=[("25 04:30", "25 05:30")],
    outages=[OUTAGE],
)

_SUNDAY = "service_date = date '2026-10-25'"
_EVENING = "service_date = date '2026-10-24' and service_hour between 19 and 27"  # watched all the time
_BY_DEFAULT = " and definition in (select definition from core.lift_definitions where is_default)"
_FINDINGS = (
    "select count(*) > 0 from quality.findings where found_date = date '2026-10-25' "
    "and found_in = 'intermediate.answer_evidence' and "
)
CASES = {
    # what an answer proves
    "an answer without its list ends nothing": Case(
        episodes("21", _listed("25 04:40", "25 05:29")), ONE_LISTED
    ),
    "an answer that is empty once ends nothing": Case(
        episodes("22", _listed("25 05:40", "25 06:09")), ONE_LISTED
    ),
    "an answer that is suddenly short ends nothing": Case(
        episodes("23", _listed("25 05:50", "25 06:39")), ONE_LISTED
    ),
    "answers that are rejected end nothing": Case(
        episodes("24", _listed("25 06:20", "25 06:59")), ONE_LISTED
    ),
    "a row in quarantine ends nothing": Case(episodes("25", _listed("25 06:50", "25 07:29")), ONE_LISTED),
    "answers of another form end nothing": Case(episodes("26", _listed("25 07:20", "25 07:59")), ONE_LISTED),
    "a short answer is a finding": Case(_FINDINGS + "finding like '%fewer%'", [(True,)]),
    "quarantined rows are a finding": Case(_FINDINGS + "finding like '%quarantine%'", [(True,)]),
    # outages of the poller
    "an event that nobody could see has no episode": Case(episodes("31", "count(*)"), [(0,)]),
    "hours in which nobody looked may have been disrupted": Case(
        minutes("31", "min(high_seconds), max(low_seconds)", f"{_SUNDAY} and service_hour in (14, 15)"),
        [(3600, 0)],
    ),
    "a line without any event may have been disrupted too": Case(
        minutes(
            "34",
            "count(*), min(high_seconds), max(low_seconds), max(watched_seconds)",
            f"{_SUNDAY} and service_hour between 14 and 17",
        ),
        [(4, 3600, 0, 0)],
    ),
    "hours in which everybody looked were surely not disrupted": Case(
        minutes("34", "max(high_seconds), min(watched_seconds) >= 3500", f"{_SUNDAY} and service_hour = 10"),
        [(0, True)],
    ),
    "an event that ended in an outage ended between its two ends": Case(
        episodes(
            "32", f"count(*), {_near('e.ended_after', '25 11:59')}, {_near('e.ended_before', '25 18:00')}"
        ),
        [(1, True, True)],
    ),
    "a duration that ended in an outage has its whole range": Case(
        episodes("32", "bool_and(duration_low_seconds <= 3660 and duration_high_seconds >= 25140)"), [(True,)]
    ),
    "an event that was there before and after an outage is one": Case(
        episodes("33", _listed("25 11:00", "25 19:59")), ONE_LISTED
    ),
    # gaps
    "a gap of three hours is no certain time": Case(
        minutes(
            "41",
            "sum(low_seconds) between 10500 and 10830, sum(high_seconds) between 10700 and 11100",
            _EVENING,
        ),
        [(True, True)],
    ),
    "a gap of three hours makes two episodes": Case(episodes("41", "count(*)"), [(2,)]),
    "a flap of a quarter of an hour makes none": Case(
        episodes("42", "count(*), bool_and(e.n_flaps = 1)"), [(1, True)]
    ),
    "a flap is a band and not certain": Case(
        minutes(
            "42", "sum(low_seconds) between 6000 and 6400, sum(high_seconds) between 7100 and 7500", _EVENING
        ),
        [(True, True)],
    ),
    # identity
    "a line that is added makes no second event": Case(
        episodes("51", "count(*), sum(n_versions)::int"), [(1, 2)]
    ),
    "a line that is added was not disrupted before": Case(
        minutes("52", "sum(low_seconds) between 3400 and 3700, sum(high_seconds) <= 3800", _EVENING),
        [(True, True)],
    ),
    "a corrected start is kept beside the first": Case(
        episodes(
            "53",
            "count(*), strftime(any_value(e.announced_start_at), '%H:%M'), "
            "strftime(any_value(e.started_at), '%H:%M')",
        ),
        [(1, "19:00", "18:30")],
    ),
    "a number with a zero before it is the same line": Case(
        "select count(distinct episode_id), count(distinct line_code) from core.status_episode_lines "
        "where named in ('54', '054')",
        [(1, 1)],
    ),
    "another wording makes a version": Case(episodes("55", "count(*), sum(n_versions)::int"), [(1, 2)]),
    # local times
    "a clock time that comes twice is read as it was first": Case(
        episodes("61", f"count(*), {_near('e.started_at', '25 00:30', 0)}"), [(1, True)]
    ),
    "a year that is a mistake makes no years of duration": Case(
        episodes("62", "count(*), bool_and(duration_high_seconds <= 11000)"), [(1, True)]
    ),
    "a year that is a mistake is a finding": Case(
        "select count(*) > 0 from quality.findings where found_in = 'core.status_episodes' "
        "and finding like '%long before%' and example like '%62%'",
        [(True,)],
    ),
    # lines
    "a slash variant that is no line is its base line": Case(
        "select line_code, matched_by from core.status_episode_lines where named = '71/'",
        [("071-00", "base_line")],
    ),
    "numbers in one text are several lines": Case(
        "select named, line_code from core.status_episode_lines "
        "where line_code in ('072-00', '073-00') order by all",
        [("72", "072-00"), ("73", "073-00")],
    ),
    "a number that is no line is kept": Case(
        "select line_code, matched_by from core.status_episode_lines where named = '999'", [(None, None)]
    ),
    "a number that is no line is a finding": Case(
        "select distinct example from quality.findings where found_in = 'core.status_episode_lines'",
        [("999",)],
    ),
    "a category that nobody knows counts": Case(
        minutes("75", "sum(low_seconds) between 3400 and 3700"), [(True,)]
    ),
    "a category that nobody knows is covered": Case(
        "select count(*) > 0 from marts.status_coverage where category = 'ZZ' and n_answers > 0", [(True,)]
    ),
    "a cause that nobody knows is drift with an example": Case(
        "select count(*), bool_and(example is not null) from quality.drift where name = 'caduta meteorite'",
        [(1, True)],
    ),
    "events that overlap add up once": Case(
        minutes("82", "sum(low_seconds) between 10600 and 10830, sum(high_seconds) <= 10950", _EVENING),
        [(True, True)],
    ),
    # announcements
    "an event that was withdrawn before its start took no time": Case(
        episodes("91", "count(*), sum(duration_low_seconds)::int, sum(duration_high_seconds)::int"),
        [(1, 0, 0)],
    ),
    "an event that was announced counts from its start": Case(
        minutes(
            "92",
            "sum(low_seconds) between 7000 and 7260, sum(high_seconds) <= 7400",
            f"{_SUNDAY} and service_hour between 10 and 12",
        ),
        [(True, True)],
    ),
    "an event without a line counts for the network": Case(
        "select sum(low_seconds) between 3400 and 3700 from marts.disruption_minutes_by_part "
        "where line_code is null and place is null",
        [(True,)],
    ),
    # lifts
    "two spellings are one lift": Case(
        "select count(*) from core.plant where upper(plant) like '%ALBA%'", [(1,)]
    ),
    "two notices for one lift are one outage": Case(
        "select count(*), bool_and(low_seconds between 10600 and 10830) from marts.lift_outages "
        "where lift like '%Brezza%'" + _BY_DEFAULT,
        [(1, True)],
    ),
    "reduced hours are no outage": Case(
        "select coalesce(sum(out_low_seconds), 0)::int from marts.lift_availability where lift like '%Cima%'",
        [(0,)],
    ),
    "an outage of a lift goes on while nobody looks": Case(
        "select count(*), bool_and(low_seconds >= 89000) from marts.lift_outages where lift like '%Duna%'"
        + _BY_DEFAULT,
        [(1, True)],
    ),
    # news
    "a list of news that is empty once ends no item": Case(
        "select count(*), bool_and(is_current) from core.news where news_id = 'n2'", [(1, True)]
    ),
    "an item that is no longer listed ends between two answers": Case(
        "select count(*), bool_and(listed_to_after < timestamp '2026-10-25 06:30' "
        "and listed_to_before >= timestamp '2026-10-25 06:30' "
        "and listed_to_before < timestamp '2026-10-25 08:00') from core.news where news_id = 'n3'",
        [(1, True)],
    ),
    "an edit of a text is fetched and lies between two answers": Case(
        "select version_number, content, version_number = 1 or edited_after < timestamp '2026-10-25 02:20' "
        "and valid_from between timestamp '2026-10-25 02:20' and timestamp '2026-10-26 02:20' "
        "from core.news where news_id = 'n1' order by all",
        [(1, "Aperti fino alle 19.", True), (2, "Chiusi.", True)],
    ),
    "a paraphrase is linked with its event": Case(
        "select distinct message like '%Montebello%' from core.news_episodes "
        "join core.status_episodes using (operator, episode_id) where news_id = 'n4'",
        [(True,)],
    ),
    "of two events on one line the right one is linked": Case(
        "select distinct message like '%Mazzini%' from core.news_episodes "
        "join core.status_episodes using (operator, episode_id) where news_id = 'n5'",
        [(True,)],
    ),
    "news about nothing are linked with nothing": Case(
        "select count(*) from core.news_episodes where news_id in ('n1', 'n2', 'n3', 'n6')", [(0,)]
    ),
    # promises
    "another headsign withdraws no departure": Case(
        "select count(*) from core.scheduled_departures where line_code = '010-00' "
        f"and {_SUNDAY} and outcome in ('withdrawn', 'added_late')",
        [(0,)],
    ),
    "another headsign adds and withdraws nothing in the changes": Case(
        "select coalesce(sum(n_added + n_removed + n_moved), 0)::int from marts.timetable_change_counts "
        f"where line_code = '010-00' and {_SUNDAY}",
        [(0,)],
    ),
    "a timetable that is empty once withdraws nothing": Case(
        "select count(distinct departure_at), count(case when outcome = 'withdrawn' then 1 end) "
        f"from core.scheduled_departures where line_code = '011-00' and {_SUNDAY}",
        [(18, 0)],
    ),
    "a departure that is withdrawn before its time is no promise kept or broken": Case(
        "select count(*), strftime(any_value(departure_at), '%H:%M') from core.scheduled_departures "
        f"where line_code = '103-00' and {_SUNDAY} and outcome = 'withdrawn'",
        [(1, "21:00")],
    ),
    "a departure that is added is a change": Case(
        "select sum(n_added)::int, sum(n_removed)::int from marts.timetable_change_counts "
        f"where line_code = '104-00' and {_SUNDAY}",
        [(1, 0)],
    ),
    "the promise of the evening before keeps what is withdrawn on the day": Case(
        "select count(*) from core.promised_departures "
        f"where line_code = '103-00' and {_SUNDAY} and fate = 'withdrawn'",
        [(1,)],
    ),
    "the promise of the evening before knows nothing of another headsign": Case(
        f"select count(*) from core.promised_departures where line_code = '010-00' and {_SUNDAY}", [(18,)]
    ),
}
