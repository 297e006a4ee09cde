"""Exports of tables: what they hold, how they are replaced, when they are refused."""

import csv
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from textwrap import wrap

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frictionless import Package

from benchmarks.synthetic_year import FIRST, make_year
from tests.exports.conftest import change, settings_in
from tests.exports.workbooks import headings_of, sheets_of
from tests.warehouse.rehearsed import DAY
from transit_etl.operations.verification import verify
from transit_etl.settings import Settings
from transit_exports import FORMATS, ExportError, ExportSettings, Request, damage_of_export, export
from transit_exports import exporter as module
from transit_exports.source import opened

TABLE_FORMATS = ["parquet", "csv", "jsonl", "xlsx"]


def ask(settings: ExportSettings, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(settings.database, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return connection.execute(query).fetchall()


def request(*names: str, form: str = "parquet", **given: object) -> Request:
    return Request(names, form, allows_incomplete=True, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_every_row_of_a_table_is_exported(published: ExportSettings, form: str) -> None:
    report = export(published, request("core.stop_visits", form=form))

    assert ask(published, "select count(*) from core.stop_visits") == [(report.n_rows,)]
    assert published.folder.absolute() / f"stop_visits-{form}" == report.folder
    assert [] == damage_of_export(report.folder)


def test_parquet_holds_the_same_values_in_a_folder_for_each_month(published: ExportSettings) -> None:
    folder = export(published, request("punctuality")).folder

    [file] = folder.rglob("*.parquet")
    assert f"punctuality/month={DAY:%Y-%m}/punctuality.parquet" == str(file.relative_to(folder))
    rows = ask(published, f"from read_parquet('{file}', hive_partitioning=false) order by all")
    assert ask(published, "from marts.punctuality order by all") == rows


def test_parquet_has_instants_with_their_zone_and_the_meaning_of_each_column(
    published: ExportSettings,
) -> None:
    [file] = export(published, request("core.stop_visits")).folder.rglob("*.parquet")

    schema = pq.read_schema(file)
    meanings = ask(
        published,
        "select column_name, comment from duckdb_columns() "
        "where schema_name = 'core' and table_name = 'stop_visits'",
    )
    assert {"UTC"} == {field.type.tz for field in schema if pa.types.is_timestamp(field.type)}
    assert {*meanings} == {(field.name, (field.metadata or {})[b"description"].decode()) for field in schema}
    same = ask(
        published,
        "select count(*) from core.stop_visits as here "
        f"join read_parquet('{file}', hive_partitioning = false) as there using (visit_key) "
        "where here.last_seen_at = there.last_seen_at at time zone 'UTC'",
    )
    assert ask(published, "select count(*) from core.stop_visits") == same


def test_instants_have_their_zone_in_every_text(placed: ExportSettings) -> None:
    texts = {
        form: next(
            export(placed, request("core.stop_visits", form=form)).folder.rglob(f"*.{form}")
        ).read_text()
        for form in ("csv", "jsonl", "geojson")
    }

    [(instant,)] = ask(
        placed, "select strftime(min(scheduled_at), '%Y-%m-%dT%H:%M:%SZ') from core.stop_visits"
    )
    assert all(str(instant) in text for text in texts.values())
    assert not any(re.search(r"\d\d:\d\d:\d\d[^Z.:\d]", text) for text in texts.values())


def test_a_csv_has_names_beside_codes_and_schemas_beside_it(placed: ExportSettings) -> None:
    folder = export(placed, request("punctuality_by_stop", form="csv")).folder

    report = Package.from_descriptor(str(folder / "datapackage.json")).validate()
    assert [] == report.flatten(["title", "message"])
    [file] = folder.rglob("*.csv")
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert {f"Stop {row['stop_code']}" for row in rows} == {row["stop_name"] for row in rows}
    schema = json.loads(file.with_suffix(".schema.json").read_text())
    on_the_web = json.loads(file.with_name(f"{file.name}-metadata.json").read_text())
    assert file.name == on_the_web["url"]
    names = file.read_text().splitlines()[0].split(",")
    assert names == [field["name"] for field in schema["fields"]]
    assert names == [column["name"] for column in on_the_web["tableSchema"]["columns"]]
    assert "string" == {field["name"]: field["type"] for field in schema["fields"]}["stop_code"]


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_a_view_with_names_is_exported_beside_its_table(placed: ExportSettings, form: str) -> None:
    report = export(placed, request("named.punctuality", form=form))

    assert f"named_punctuality-{form}" == report.folder.name
    [table] = json.loads((report.folder / "manifest.json").read_text())["tables"]
    assert "line_name" in {column["name"] for column in table["columns"]}


def test_every_column_of_every_table_is_exported_with_its_unit(published: ExportSettings) -> None:
    units = {
        (f"{schema}.{table}", column): unit
        for schema, table, column, unit in ask(
            published, "select schema_name, table_name, column_name, unit from quality.dictionary_columns"
        )
    }
    lacking, otherwise, n_named = [], [], 0
    with opened(published, published.folder) as source:
        for place in source.tables:
            [table] = FORMATS["csv"].tables(source, request(place))
            n_named += table.place != place
            lacking += [(table.place, column.name) for column in table.columns if not column.unit]
            otherwise += [
                (table.place, column.name)
                for column in table.columns
                if column.unit != units.get((place, column.name), column.unit)
            ]

    assert ([], []) == (lacking, otherwise)
    assert n_named > 30


def test_csv_is_as_rfc_4180_has_it_and_reads_back(published: ExportSettings) -> None:
    folder = export(published, request("status_episodes", form="csv")).folder

    [file] = folder.rglob("*.csv")
    text = file.read_bytes().decode()
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    assert text.count("\r\n") == len(rows) + 1
    episodes = ask(published, "select episode_id, message, to_json(lines)::varchar from core.status_episodes")
    assert sorted(episodes) == sorted((row["episode_id"], row["message"], row["lines"]) for row in rows)


def test_formulas_are_neutralised_on_request_and_numbers_stay(published: ExportSettings) -> None:
    change(published, "update core.news set title = '=cmd()', version_number = -1")

    folder = export(published, request("news", form="csv", neutralises_formulas=True)).folder

    [file] = folder.rglob("*.csv")
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert {("'=cmd()", "-1")} == {(row["title"], row["version_number"]) for row in rows}


def test_json_lines_hold_an_object_for_each_row(published: ExportSettings) -> None:
    folder = export(published, request("core.trips", form="jsonl")).folder

    [file] = folder.rglob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert ask(published, "select count(*), min(trip_id) from core.trips") == [
        (len(rows), min(row["trip_id"] for row in rows))
    ]


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_two_exports_of_the_same_rows_have_the_same_bytes(published: ExportSettings, form: str) -> None:
    asked = request("stop_visits", "punctuality", "lines", form=form)

    first = contents(export(published, asked).folder)
    report = export(published, asked)

    assert first == contents(report.folder)
    assert not report.is_new_version


def test_an_export_that_is_killed_leaves_the_one_before(
    published: ExportSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = export(published, request("punctuality")).folder
    before = contents(folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            export(published, request("punctuality"))

    assert before == contents(folder)
    export(published, request("punctuality"))
    assert before == contents(folder)
    assert [folder.name] == [path.name for path in published.folder.iterdir() if path.is_dir()]


def test_a_period_with_too_little_seen_is_refused_unless_it_is_asked_for(published: ExportSettings) -> None:
    told = r"of the passages due were seen.*interval.*is 100\.0 percentage points wide.*--allow-incomplete"
    with pytest.raises(ExportError, match=told):
        export(published, Request(("punctuality",), "parquet", DAY, date(2026, 11, 20)))
    assert not published.folder.exists()

    report = export(published, request("punctuality", first=DAY, last=date(2026, 11, 20)))

    manifest = json.loads((report.folder / "manifest.json").read_text())
    assert not manifest["is_complete"]
    assert manifest["incomplete"] == report.incomplete
    assert "2 of 3 dates have no requests" in report.incomplete[0]
    assert "**Incomplete.**" in (report.folder / "README.md").read_text()


def test_the_dates_that_are_over_are_those_of_the_published_file(published: ExportSettings) -> None:
    lines = Request(("core.lines",), "csv")
    change(
        published,
        f"update quality.publication set published_at = date '{DAY}'",
        f"update quality.operators set closed_date = date '{DAY}'",
    )

    manifest = json.loads((export(published, lines).folder / "manifest.json").read_text())

    assert str(DAY) == manifest["last_date"]
    change(published, "update quality.operators set closed_date = closed_date - 1")
    with pytest.raises(ExportError, match=f"no service date from {DAY} on is over yet"):
        export(published, lines)


@pytest.mark.parametrize(
    ("widest", "expected"),
    [(0.03, ["3.9 percentage points wide, the ruleset allows 3.0 percentage points"]), (0.05, [])],
)
def test_an_export_is_refused_by_the_width_of_the_interval_however_little_was_seen(
    published: ExportSettings, widest: float, expected: list[str]
) -> None:
    change(
        published,
        "update marts.punctuality set on_time_variance = 0, common_error = n_due / 100",  # 2 * 1.96 points
        f"update core.rulesets set seen_threshold = 0.99, widest_interval = {widest}",
    )

    report = export(published, request("punctuality"))

    assert expected == [reason.partition("on time is ")[2] for reason in report.incomplete]


def test_a_page_tells_intervals_from_bounds(published: ExportSettings) -> None:
    page = (export(published, request("punctuality_shares")).folder / "README.md").read_text()

    assert "about 95 of 100 such intervals contain the true value" in page
    assert "are bounds" in page


def test_tables_of_which_nothing_is_due_need_no_coverage(published: ExportSettings) -> None:
    assert [] == export(published, Request(("core.lines", "core.stops"), "csv")).incomplete


def test_the_manifest_says_what_the_export_is(published: ExportSettings) -> None:
    report = export(published, request("marts.punctuality"))

    manifest = json.loads((report.folder / "manifest.json").read_text())
    assert ("City of Tests", "CC-BY-4.0") == (manifest["publisher"], manifest["licence"])
    assert {"code", "build", "models", "rulesets", "schema"} == manifest["versions"].keys()
    assert {str(DAY)} == {manifest["first_date"], manifest["last_date"]}
    assert 0 < manifest["coverage"]["on_time_share_width"] < 1
    assert manifest["coverage"]["delay_width_seconds"] > 0
    assert 0 < manifest["coverage"]["estimated_on_time_share_width"] <= 1
    columns = manifest["tables"][0]["columns"]
    assert all(column["meaning"] for column in columns)


def test_an_export_says_how_answers_of_its_dates_misled(published: ExportSettings) -> None:
    finding = "Buses stay listed after they passed: when they passed is less sure."
    change(
        published,
        *(
            "insert into quality.findings (operator, found_date, found_in, kind, finding, answer_share) "
            f"select operator, {date}, 'intermediate.doubtful_rows', {kind}, '{text}', 0.25 "
            "from core.service_days limit 1"
            for date, kind, text in (
                (f"date '{DAY}'", "'stuck'", finding),
                (f"date '{DAY}' + 40", "'silence'", "of a later month"),
                (f"date '{DAY}'", "null", "does not mislead"),
            )
        ),
    )

    report = export(published, request("marts.punctuality"))

    said = f"On {DAY}, in up to 25% of the answers: {finding}"
    assert [said] == json.loads((report.folder / "manifest.json").read_text())["coverage"]["misleading"]
    assert f"- {said}\n" in (report.folder / "README.md").read_text()


def test_the_manifest_has_the_width_of_the_interval_of_its_dates(
    published: ExportSettings, tmp_path: Path
) -> None:
    month = settings_in(tmp_path / "month")
    make_year(published.database, month.database, FIRST, 3, 1)
    change(month, "update marts.punctuality set on_time_variance = n_due, common_error = 0.01 * n_due")

    report = export(month, request("marts.punctuality"))

    manifest = json.loads((report.folder / "manifest.json").read_text())
    [(width,)] = ask(
        month,
        "select estimated_on_time_share_high - estimated_on_time_share_low "
        f"from punctuality_between(0, '{FIRST}', '{FIRST + timedelta(days=2)}')",
    )
    assert isinstance(width, float)
    assert 0.04 < width < 0.5
    assert pytest.approx(width, abs=1e-5) == manifest["coverage"]["estimated_on_time_share_width"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-1] + b"x"), "its SHA-256 is not the one"),
        (lambda file: file.unlink(), "is missing"),
        (lambda file: file.with_name("extra").touch(), "is not in the manifest"),
    ],
    ids=["changed", "missing", "added"],
)
def test_damage_of_an_export_is_found(published: ExportSettings, damage: object, message: str) -> None:
    folder = export(published, request("lines")).folder
    [file] = folder.rglob("*.parquet")

    damage(file)  # type: ignore[operator]

    [found] = damage_of_export(folder)
    assert message in found


def test_verify_warns_of_a_damaged_export(published: ExportSettings) -> None:
    folder = export(published, request("lines")).folder
    (folder / "README.md").write_text("other")

    report = verify(Settings(data_dir=published.folder.parent))

    assert not report.is_failure
    [warning] = [warning for warning in report.warnings if "lines-parquet" in warning]
    assert "lines-parquet/README.md: its SHA-256 is not the one" in warning
    assert warning.endswith("export it again")


def test_an_older_version_is_kept_for_a_set_time(published: ExportSettings) -> None:
    folder = export(published, request("lines", form="csv")).folder
    before = contents(folder)
    publish_later(published, "update core.lines set note = 'other'")

    assert export(published, request("lines", form="csv")).is_new_version

    [older] = (published.older_folder / "lines-csv").iterdir()
    assert before == contents(older)
    publish_later(published, "update core.lines set note = 'third'", days=31)
    export(published, request("lines", form="csv"))
    [other] = (published.older_folder / "lines-csv").iterdir()
    assert other.name != older.name


def test_a_table_that_is_named_twice_is_exported_once(published: ExportSettings) -> None:
    assert 1 == export(published, request("lines", "core.lines", form="csv")).n_files


def test_a_folder_that_is_no_export_is_not_replaced(published: ExportSettings, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()

    with pytest.raises(ExportError, match="is no export"):
        export(published, request("lines", output=tmp_path / "mine"))

    export(published, request("lines", output=tmp_path / "new"))
    assert [] == damage_of_export(tmp_path / "new")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Request((), "csv"), "name the tables"),
        (Request(("lines",), "tides"), "tables of its own"),
        (Request(("linse",), "csv"), r"is it core\.lines\b"),
        (Request(("punctualty",), "csv"), r"is it marts\.punctuality or marts\.punctuality_daily\?$"),
        (Request(("../../etc/lines",), "csv"), "there is no table"),
        (Request(("lines",), "docx"), "'docx' is not one of 'parquet'"),
        (Request(("punctuality",), "csv", date(2026, 3, 2), date(2026, 3, 1)), "is after the last date"),
        (Request(("lines",), "geojson"), "TRANSIT_STOPS_FILE"),
    ],
    ids=lambda value: value.format if isinstance(value, Request) else "",
)
def test_what_cannot_be_exported_is_said_in_one_line(
    published: ExportSettings, asked: Request, message: str
) -> None:
    with pytest.raises(ExportError, match=message) as raised:
        export(published, asked)
    assert "\n" not in str(raised.value)


def test_every_format_says_what_it_is() -> None:
    assert all(form.title and "/" in form.media_type for form in FORMATS.values())


def test_validators_are_loaded_only_when_there_is_something_to_check() -> None:
    program = "import sys, transit_exports; print(sorted({'frictionless', 'gtfs_guru'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert "[]" == done.stdout.strip()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def publish_later(settings: ExportSettings, statement: str, days: int = 1) -> None:
    """Replace the published file by one that differs and is some days newer."""
    later = f"update quality.publication set published_at = published_at + interval {days} day"
    change(settings, statement, later)


def test_a_workbook_says_by_itself_what_it_is_and_what_is_missing(published: ExportSettings) -> None:
    about, _ = sheets_of(
        export(published, request("punctuality", form="xlsx", last=date(2026, 11, 20))).folder
    )

    texts = [cell.text for cell in about.values()]
    assert {"City of Tests", "CC-BY-4.0"} <= {*texts}
    assert any("of 3 dates have no requests" in text for text in texts)


def test_a_workbook_marks_the_columns_to_cite_and_puts_them_first(published: ExportSettings) -> None:
    about, sheet = sheets_of(export(published, request("network_punctuality_daily", form="xlsx")).folder)

    told = "about 95 of 100 such intervals contain the true value"
    assert any(told in cell.text for cell in about.values())
    letters = headings_of(sheet)
    kinds = {name: sheet[f"{letter}1"].style for name, letter in letters.items()}
    first = ["operator", "service_date", "estimated_early_share", "estimated_early_share_low"]
    assert first == [*letters][:4]
    marked = {name for name, style in kinds.items() if style == kinds["estimated_on_time_share"]}
    assert {"estimated_on_time_share_low", "estimated_on_time_share_high", "estimate_null_reason"} < marked
    assert marked.isdisjoint({"operator", "n_due", "coverage", "on_time_share", "on_time_share_low"})


@pytest.mark.parametrize("name", ["network_punctuality_daily", "punctuality_shares", "on_time_lines"])
def test_a_workbook_has_units_and_shares_in_percent(published: ExportSettings, name: str) -> None:
    about, sheet = sheets_of(export(published, request(name, form="xlsx")).folder)

    units = {
        about[f"B{place[1:]}"].text: about[f"D{place[1:]}"].text
        for place, cell in about.items()
        if place[0] == "A" and cell.text == name and f"E{place[1:]}" in about
    }
    letters = headings_of(sheet)
    assert letters.keys() == units.keys()
    assert all(units.values())
    shown: dict[str, set[str]] = {column: set() for column in letters}
    columns = {letter: column for column, letter in letters.items()}
    for place, cell in sheet.items():
        if place not in {f"{letter}1" for letter in columns}:
            shown[columns[place.rstrip("0123456789")]].add(cell.format)
    in_percent = {column for column, formats in shown.items() if any("%" in each for each in formats)}
    shares = {column for column, unit in units.items() if unit in {"share", "probability"} and shown[column]}
    assert shares == in_percent != set()


def test_a_workbook_prints_on_pages_that_can_be_read(published: ExportSettings) -> None:
    folder = export(published, request("on_time_lines", "punctuality_shares", form="xlsx")).folder

    [file] = folder.glob("*.xlsx")
    with zipfile.ZipFile(file) as archive:
        book = archive.read("xl/workbook.xml").decode()
        sheets = [archive.read(f"xl/worksheets/sheet{number}.xml").decode() for number in (1, 2, 3)]
    layouts = [
        dict(re.findall(r'(\w+)="([^"]*)"', re.findall("<pageSetup [^>]*>", each)[0])) for each in sheets
    ]
    assert {"landscape"} == {layout["orientation"] for layout in layouts}
    assert {"0"} == {layout["fitToHeight"] for layout in layouts}
    assert ["1", "1"] == [layout.get("fitToWidth", "1") for layout in layouts[:2]]
    widths = [
        sum(
            float(width) * (int(last) - int(first) + 1)
            for first, last, width in re.findall(r'<col min="(\d+)" max="(\d+)" width="([\d.]+)"', each)
        )
        / int(layout.get("fitToWidth", "1"))
        for each, layout in zip(sheets, layouts, strict=True)
    ]
    assert max(widths) < 260  # characters on a page of 10.7 inches: letters of 5 points at least
    titles = dict(re.findall(r'Print_Titles"[^>]*>(\w+)!([^<]*)<', book))
    assert {"on_time_lines", "punctuality_shares"} <= titles.keys()
    assert all(each.endswith("$1:$1") for each in titles.values())


def test_no_row_of_the_first_sheet_is_lower_than_its_text(published: ExportSettings) -> None:
    folder = export(published, request("punctuality_shares", "stop_visits", "news", form="xlsx")).folder

    about, _ = sheets_of(folder)
    [file] = folder.glob("*.xlsx")
    with zipfile.ZipFile(file) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    heights = dict(re.findall(r'<row r="(\d+)" ht="([\d.]+)"', sheet))
    widths = [
        float(width)
        for first, last, width in re.findall(r'<col min="(\d+)" max="(\d+)" width="([\d.]+)"', sheet)
        for _ in range(int(first), int(last) + 1)
    ]
    merged = set(re.findall(r'<mergeCell ref="(\w+):', sheet))
    n_wrapped = 0
    for place, cell in about.items():
        width = sum(widths[1:]) if place in merged else widths["ABCDE".index(place[0])]
        n_lines = len(wrap(cell.text, int(width))) or 1
        n_wrapped += n_lines > 1
        assert 15 * n_lines <= float(heights.get(place[1:], 15)), cell.text
    assert n_wrapped > 10


def test_a_feed_in_which_a_validator_finds_an_error_is_refused_unless_it_is_asked_for(
    placed: ExportSettings,
) -> None:
    asked = Request((), "gtfs")
    assert [] == export(placed, asked).incomplete
    change(placed, "update intermediate.stop_names set latitude = 200")

    with pytest.raises(ExportError, match=r"is not valid \(gtfs-guru: .*--allow-incomplete"):
        export(placed, asked)

    report = export(placed, replace(asked, allows_incomplete=True))
    manifest = json.loads((report.folder / "manifest.json").read_text())
    assert report.incomplete == manifest["errors"] != []
    assert "**Not valid.**" in (report.folder / "README.md").read_text()


def test_a_geographic_export_describes_the_columns_that_it_has(placed: ExportSettings) -> None:
    folder = export(placed, Request(("punctuality_by_stop",), "geojson", allows_incomplete=True)).folder

    [file] = folder.rglob("*.geojson")
    [table] = json.loads((folder / "manifest.json").read_text())["tables"]
    [feature, *_] = json.loads(file.read_text())["features"]
    described = {column["name"] for column in table["columns"]}
    assert described == {*feature["properties"], "latitude", "longitude"}
