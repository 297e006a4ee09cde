"""What a checksum list says of files."""

from pathlib import Path

import pytest

from transit_etl.checksums import entry_of


def test_an_error_while_a_file_is_read_names_the_file() -> None:
    unreadable = Path("/proc/self/mem")  # it can be opened; its first page cannot be read

    with pytest.raises(OSError, match="Input/output error") as raised:
        entry_of(unreadable.parent, unreadable)

    assert str(unreadable) == raised.value.filename
