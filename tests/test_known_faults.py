"""The command that puts known faults into the code says which of them the tests find."""

from dataclasses import replace

import pytest

from scripts import known_faults
from scripts.known_faults import FAULTS, ROOT

MATCHING = next(fault for fault in FAULTS if fault.part == "matching")


def test_each_fault_has_one_place_and_tests() -> None:
    for fault in FAULTS:
        assert (fault.part, 1) == (fault.part, (ROOT / fault.path).read_text().count(fault.right))
        assert (ROOT / fault.tests).is_file()


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [(MATCHING, 0, "found by"), (replace(MATCHING, wrong=MATCHING.right), 1, "NOT FOUND by")],
)
def test_it_says_whether_a_fault_is_found(
    fault: known_faults.KnownFault,
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(known_faults, "FAULTS", (fault,))

    assert code == known_faults.main()
    assert f"matching     {words} tests/estimates/test_matching.py\n" == capsys.readouterr().out
