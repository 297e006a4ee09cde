"""The emulated world that the options of `emulator` and `rehearse` describe."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transit_base.errors import TransitError
from transit_etl.settings import load_settings

if TYPE_CHECKING:
    from transit_emulator.faults.definitions import Fault
    from transit_emulator.world import World


class EmulatorInputError(TransitError):
    """The emulator cannot use a file or an option that it was given; the message says why."""


class Size(StrEnum):
    """The built-in networks."""

    SMALL = "small"
    CITY = "city"
    METROPOLIS = "metropolis"
    SHAPES = "shapes"


class Ids(StrEnum):
    """What the trip ids of the emulator identify."""

    STABLE = "stable"
    VEHICLE = "vehicle"
    REUSED = "reused"


Gtfs = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="A GTFS zip whose network is used instead."),
]
Actuals = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        help="Recorded times of real days to replay: a CSV or Parquet table, or TIDES stop visits. Their "
        "zone is TRANSIT_TIMEZONE.",
    ),
]
Seed = Annotated[int, typer.Option(help="Delays, failures and news are functions of the seed.")]
TripIds = Annotated[
    Ids,
    typer.Option(help="What a trip id identifies: a trip, a vehicle, or a number that several trips share."),
]
Revisions = Annotated[
    bool,
    typer.Option("--revisions", help="Revise timetables, and notes and stops of lines, from time to time."),
]
Faults = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="A TOML or JSON file of the faults to inject."),
]


def build(
    size: Size, gtfs: Path | None, actuals: Path | None, seed: int, ids: Ids, *, has_revisions: bool
) -> "World":
    """Return the world of these options; raise ModuleNotFoundError where the extra is not installed."""
    if gtfs and actuals:
        raise typer.BadParameter("--gtfs and --actuals each describe a network; give one of them")
    import_module("transit_emulator.server")  # imports every package of the extra
    from transit_emulator.days.trip_ids import IdMode
    from transit_emulator.world import build_world, recorded_world

    with _emulator_messages():
        if actuals:
            zone = load_settings().zone
            return recorded_world(actuals, zone, seed, IdMode(ids), has_revisions=has_revisions)
        return build_world(size, gtfs, seed, IdMode(ids), has_revisions=has_revisions)


def faults(path: Path | None) -> "Sequence[Fault]":
    """Read a file of faults; none without one."""
    from transit_emulator.faults.definitions import read_faults

    with _emulator_messages():
        return read_faults(path) if path else ()


@contextmanager
def _emulator_messages() -> Iterator[None]:
    """Turn an error of the emulator, which shares no class with the pipeline, into one for the user."""
    from transit_emulator.errors import EmulatorError

    try:
        yield
    except EmulatorError as error:
        raise EmulatorInputError(str(error)) from error
