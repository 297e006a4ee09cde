"""The name of a data folder among those that share a store."""

from pathlib import Path

from transit_etl.collect.raw.landing import worker_name
from transit_etl.paths import machine_file
from transit_etl.store.machine import machine_id


def test_a_data_folder_keeps_its_name_and_has_another_one_than_others(tmp_path: Path) -> None:
    names = {machine_id(tmp_path / folder) for folder in "abab"}

    assert 2 == len(names)
    assert all(name.isalnum() and 8 == len(name) for name in names)


def test_a_name_that_cannot_be_read_is_drawn_anew(tmp_path: Path) -> None:
    before = machine_id(tmp_path)
    machine_file(tmp_path).write_text("{")

    assert before != machine_id(tmp_path) == machine_id(tmp_path)


def test_workers_of_hosts_that_share_a_store_have_the_name_in_theirs(tmp_path: Path) -> None:
    machine = machine_id(tmp_path)

    assert f"-{machine}-" in worker_name(machine)
    assert worker_name().rpartition("-")[2] == worker_name(machine).rpartition("-")[2]
