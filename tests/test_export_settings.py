"""What an installation has set reaches its exports, each setting under the name that exports have for it."""

from pathlib import Path

import pytest

from transit_etl.export_settings import export_settings
from transit_etl.settings import Settings


@pytest.mark.parametrize(
    ("setting", "value", "name"),
    [
        ("publisher", "City", "publisher"),
        ("publisher_url", "https://city.test/", "publisher_url"),
        ("publisher_contact", "data@city.test", "contact"),
        ("base_url", "https://upstream.test/api/v1/", "interface_url"),
        ("export_licence", "CC0-1.0", "licence"),
        ("export_url", "https://data.test/", "address"),
        ("report_url", "https://data.test/reports/", "report_address"),
        ("export_keep_days", 3, "keep_days"),
        ("language", "de-CH", "language"),
    ],
)
def test_a_setting_reaches_exports(setting: str, value: object, name: str) -> None:
    assert value == getattr(export_settings(Settings.model_validate({setting: value})), name)


def test_exports_lie_in_the_data_folder_and_scratch_and_locks_in_its_state(tmp_path: Path) -> None:
    found = export_settings(Settings(data_dir=tmp_path))

    assert tmp_path / "warehouse" / "warehouse.duckdb" == found.database
    assert (tmp_path / "exports", tmp_path / "exports-older") == (found.folder, found.older_folder)
    assert tmp_path / "state" / "export-scratch" / "lines-csv" == found.scratch("lines-csv")
    assert tmp_path / "state" / "export-locks" / "lines-csv.lock" == found.lock("lines-csv")


def test_what_is_not_set_is_left_to_the_published_file(tmp_path: Path) -> None:
    found = export_settings(Settings(data_dir=tmp_path))

    assert ("", "not stated") == (found.publisher, found.licence)
