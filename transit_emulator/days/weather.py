"""Decides how much the weather of a service date slows the whole network."""

from dataclasses import dataclass
from datetime import date

from transit_emulator import noise


@dataclass(frozen=True, slots=True)
class Weather:
    """A day's weather: `slowness` is a share added to running times, `dwell` a factor of dwell times."""

    name: str
    slowness: float
    dwell: float

    def weakened(self, share: float) -> "Weather":
        """Return weather that has a share of the effect."""
        return Weather(self.name, self.slowness * share, 1 + (self.dwell - 1) * share)


_KINDS = (
    (0.66, Weather("dry", -0.005, 1.0)),
    (0.26, Weather("rain", 0.015, 1.1)),
    (0.08, Weather("storm", 0.045, 1.25)),
)


def weather(seed: int, day: date) -> Weather:
    """Return the weather of a service date, a function of the seed and the date."""
    draw = noise.unit(seed, "weather", day.isoformat())
    for share, kind in _KINDS:
        if draw < share:
            return kind
        draw -= share
    return _KINDS[-1][1]
