"""The command `export` says in one line what cannot be exported, and takes no tables with --all."""

import pytest

from tests.cli.conftest import RunCli


def test_before_the_first_publication_it_says_what_to_do(cli: RunCli) -> None:
    done = cli("export", "punctuality")

    assert 1 == done.returncode
    assert "nothing is published" in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_an_unknown_format_is_answered_with_those_there_are(cli: RunCli) -> None:
    done = cli("export", "punctuality", "--format", "docx")

    assert (1, "") == (done.returncode, done.stdout)
    assert "'docx' is not one of 'parquet', 'csv'" in done.stderr


@pytest.mark.parametrize("words", [["punctuality"], ["--from", "2026-03-02"], ["--output", "folder"]])
def test_all_takes_nothing_else(cli: RunCli, words: list[str]) -> None:
    done = cli("export", "--all", *words)

    assert 2 == done.returncode
    assert "leave the others out" in done.stderr
