"""Odd but possible upstreams stop nothing: all they answer is published, or set aside with a reason."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.odd_upstreams import Answer, History, Row, draw_day, draw_history, land
from transit_etl import warehouse
from transit_etl.settings import Settings
from transit_etl.stage import stage

Counts = Counter[tuple[str, str]]

# Of two answers of one instant the other is in the lake only; so is one that does not stand for its list.
LAST = """
    select operator, request_id from lake_requests
    anti join (select * from build.intermediate.answer_evidence where not is_whole_list)
        using (operator, request_id)
    where is_good
    qualify row_number() over (partition by operator, endpoint, key, received_at order by request_id desc) = 1
"""
# By dataset: what is in the lake, and what of it must be published.
PUBLISHED_AS = {
    "requests": (
        "select operator, request_id from lake_requests",
        "select operator, request_id from published.core.requests",
    ),
    "lines": (
        "select operator, line_code from lake_lines semi join last using (operator, request_id)",
        "select operator, line_code from published.core.lines",
    ),
    "line_stops": (
        """
        select operator, line_code, stop_code from lake_line_stops semi join last using (operator, request_id)
        where direction_key in ('andata', 'ritorno')
        """,
        "select operator, line_code, stop_code from published.core.line_stops",
    ),
    "timetables": (
        """
        select operator, service_date, line_code, direction, departure_at from lake_timetables
        semi join last using (operator, request_id)
        """,
        """
        select operator, service_date, line_code, direction, departure_at
        from published.core.scheduled_departures
        """,
    ),
    "passages": (
        # an identifier that identifies nothing is in the lake only
        """
        select operator, stop_code, trip_id from lake_passages
        anti join (select * from build.intermediate.doubtful_rows where reason <> 'stuck')
            using (operator, trip_id)
        where trip_id is not null and not is_wrapped
        """,
        """
        select operator, stop_code, case when listed_id like '"%' then listed_id[2:-2] else listed_id end
        from build.intermediate.listed_visits
        """,
    ),
    "status": (
        """
        select operator, category, event, started_at, nullif(array_to_string(list_sort(lines), ', '), '')
        from lake_status
        """,
        """
        select operator, category, event, started_at, lines_text
        from published.core.status_episode_versions
        """,
    ),
    "news": (
        "select operator, news_id from lake_news semi join last using (operator, request_id)",
        "select operator, news_id from published.core.news",
    ),
}
DATASETS = ("lines", "line_stops", "timetables", "passages", "status", "news", "news_details")


def _rows_in(answer: Answer) -> int:
    """Count the rows of an answer as the interface describes them, without the junk legs of a timetable."""
    body = answer.body
    if answer.endpoint == "stops":
        lists = [value for value in body.values() if isinstance(value, list)]
        return sum(len(value) for value in lists if not value or isinstance(value[0], dict))
    if answer.endpoint == "timetables":
        trees = [service.get("tratte") for service in body["servizi"]]
        legs = [leg for tree in trees if isinstance(tree, dict) for leg in tree.values()]
        return sum(len(leg["partenze"]) for leg in legs if not _is_junk(leg))
    if answer.endpoint == "news_details":
        return 1
    rows = {"passages": "passaggi", "status": "stato"}.get(answer.endpoint)
    return len(body.get(rows, []) if rows else body)


def _is_junk(leg: Row) -> bool:
    return isinstance(leg["descrizione"], str) and not leg["descrizione"].strip(" ")


def _build(settings: Settings, histories: list[History], n_parts: int) -> dict[tuple[str, str], Answer]:
    """Stage, build and publish the histories part by part; return all good answers."""
    good: dict[tuple[str, str], Answer] = {}
    for part in range(n_parts):
        for history in histories:
            n = len(history.answers)
            answers = history.answers[n * part // n_parts : n * (part + 1) // n_parts]
            landed = land(settings.data_dir, history, f"part{part}", answers)
            good |= {(history.operator, request_id): answer for request_id, answer in landed.items()}
        assert [] == stage(settings).errors
        warehouse.build(settings)
        warehouse.publish(settings)
    return good


def _read(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make views of the published tables, of the build, of the lake and of the quarantine."""
    connection.execute("set timezone = 'UTC'")
    connection.execute(f"attach '{folder}/warehouse/warehouse.duckdb' as published (read_only)")
    connection.execute(f"attach '{folder}/warehouse/build.duckdb' as build (read_only)")  # its working tables
    for dataset in ("requests", *DATASETS):
        for top in ("lake", "quarantine"):
            found = [
                str(path) for path in folder.glob(f"{top}/operator=*/dataset={dataset}/date=*/*.parquet")
            ]
            if found:
                rows = connection.read_parquet(found, hive_partitioning=False)
                rows.create_view(f"{top}_{dataset}")
            else:
                nothing = "null as operator, null as request_id, null as rule, null as row"
                connection.execute(f"create view {top}_{dataset} as select {nothing} where false")


def _staged(connection: duckdb.DuckDBPyConnection) -> Counts:
    """Count the rows of each answer in the lake and in quarantine, once however many rules a row broke.

    An answer that could not be read is in quarantine as a whole: it has no rows.
    """
    counts: Counts = Counter()
    for dataset in DATASETS:
        for operator, request_id, n in connection.execute(
            f"""
            select operator, request_id, count(*) from lake_{dataset} group by all
            union all
            select operator, request_id, max(n) from (
                select operator, request_id, "row", rule, count(*) as n from quarantine_{dataset}
                where rule <> 'unreadable_answer' group by all
            ) group by operator, request_id, "row"
            """
        ).fetchall():
            counts[operator, request_id] += n
    return counts


def _check(folder: Path, seed: int, n_operators: int, n_parts: int) -> None:
    settings = Settings(data_dir=folder, operator="o0")
    day = draw_day(seed)
    histories = [draw_history(f"o{n}", day, f"{seed}/{n}") for n in range(n_operators)]
    good = _build(settings, histories, n_parts)
    with duckdb.connect() as connection:
        _read(connection, folder)

        assert Counter({key: n for key, answer in good.items() if (n := _rows_in(answer))}) == _staged(
            connection
        )
        for dataset, (staged, published) in PUBLISHED_AS.items():
            query = f"with last as ({LAST}) {staged} except {published}"

            assert (dataset, []) == (dataset, connection.execute(query).fetchall())


@pytest.mark.long
def test_all_that_odd_upstreams_answer_is_published_or_set_aside(tmp_path: Path) -> None:
    _check(tmp_path, seed=0, n_operators=2, n_parts=1)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1, 11))
def test_all_that_many_odd_upstreams_answer_is_published_or_set_aside(tmp_path: Path, seed: int) -> None:
    _check(tmp_path, seed, n_operators=4, n_parts=2)
