"""`python -m tests.documents.refresh`: the output in a document is brought up to date."""

from pathlib import Path

import pytest

from tests.documents.refresh import refresh
from tests.documents.sessions import DocumentError, Session, Step, blocks, run, steps

DOCUMENT = """# Title

```console
$ export NAME=value
$ echo $NAME
> echo again
old
$ echo it took 3 seconds
it took … seconds
```
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.md"
    path.write_text(DOCUMENT)
    return path


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "empty").mkdir()
    return Session(tmp_path, {}, {"3 seconds": "4 seconds"}, checkout=tmp_path / "empty")


def test_a_block_is_split_into_commands_and_their_output(document: Path) -> None:
    (block,) = blocks(document)

    assert [
        Step("export NAME=value", ""),
        Step("echo $NAME\necho again", "old"),
        Step("echo it took 3 seconds", "it took … seconds"),
    ] == list(steps(block))


def test_output_that_differs_is_replaced_and_the_rest_stays(document: Path, session: Session) -> None:
    n_changed = refresh(document, session)

    assert n_changed == 1
    assert document.read_text() == DOCUMENT.replace("old", "value\nagain")


def test_a_second_time_nothing_changes(document: Path, session: Session) -> None:
    refresh(document, session)

    assert refresh(document, session) == 0


def test_a_command_that_fails_names_its_place(document: Path, session: Session) -> None:
    document.write_text("# Title\n\n```sh\necho first\nfalse\n```\n")
    (block,) = blocks(document)

    with pytest.raises(DocumentError, match=r"document\.md:3: exit code 1 of: echo first"):
        list(run(block, session))


def test_only_the_marked_part_of_a_line_may_differ() -> None:
    step = Step("", "took … seconds\nrows 3")

    assert step.matches("took 17 seconds\nrows 3")
    assert not step.matches("took 17 seconds\nrows 4")
    assert not step.matches("took 17 seconds\nrows 3\nmore")
