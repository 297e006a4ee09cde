"""Reads the cells of the workbooks that exports write, as a program shows them."""

import re
import zipfile
from html import unescape
from pathlib import Path
from typing import NamedTuple

_BUILT_IN = {"9": "0%", "10": "0.00%"}  # formats of numbers that a workbook does not list


class Cell(NamedTuple):
    """A cell of a sheet: its text, the format of its number, and its style."""

    text: str
    format: str
    style: str

    @property
    def shown(self) -> str:
        """The text as it is shown, of a share in percent without the sign."""
        if not self.format.endswith("%"):
            return self.text
        return f"{100 * float(self.text):.{self.format.count('0') - 1}f}"


Sheet = dict[str, Cell]


def sheets_of(folder: Path) -> tuple[Sheet, Sheet]:
    """Return the cells of the first two sheets of the workbook in a folder, by their places."""
    [file] = folder.glob("*.xlsx")
    with zipfile.ZipFile(file) as archive:
        styles, *sheets = (
            archive.read(f"xl/{name}.xml").decode()
            for name in ("styles", "worksheets/sheet1", "worksheets/sheet2")
        )
    codes = _BUILT_IN | dict(re.findall(r'<numFmt numFmtId="(\d+)" formatCode="([^"]*)"', styles))
    formats = [
        codes.get(each, "") for each in re.findall(r'<xf numFmtId="(\d+)"', styles.partition("<cellXfs")[2])
    ]
    about, rows = (
        {
            place: Cell(unescape(re.sub("<[^>]*>", "", content)), formats[int(style or 0)], style)
            for place, style, content in re.findall(
                r'<c r="(\w+)"(?: s="(\d+)")?[^/>]*>(.*?)</c>', sheet, re.DOTALL
            )
        }
        for sheet in sheets
    )
    return about, rows


def headings_of(sheet: Sheet) -> dict[str, str]:
    """Return the letter of each column by its heading, in their order."""
    return {
        cell.text: place[:-1] for place, cell in sheet.items() if place[:-1].isalpha() and place[-1] == "1"
    }


def rows_of(sheet: Sheet) -> list[dict[str, str]]:
    """Return what each row below the heading shows, by the headings."""
    rows: dict[str, dict[str, str]] = {}
    names = {letter: name for name, letter in headings_of(sheet).items()}
    for place, cell in sheet.items():
        letter, number = re.findall(r"[A-Z]+|\d+", place)
        if number != "1":
            rows.setdefault(number, dict.fromkeys(names.values(), ""))[names[letter]] = cell.shown
    return [*rows.values()]
