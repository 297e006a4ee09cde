"""Draws random numbers that are functions of a key, so that no answer depends on another."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53


def key(*parts: int | str) -> int:
    """Return a 64-bit hash of the parts, the same on every machine and in every run."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def keys(names: list[str]) -> Keys:
    """Return one key per name."""
    return np.array([key(name) for name in names], dtype=np.uint64)


def combine(first: Keys, second: int | Keys) -> Keys:
    """Return one key for each pair; shapes broadcast."""
    with np.errstate(over="ignore"):
        return _scramble(first ^ _scramble(np.asarray(second, dtype=np.uint64) + _GAMMA))


def uniform(key_array: Keys, channel: str) -> Floats:
    """Return one number in (0, 1) per key; each named channel is independent of the others."""
    bits = combine(key_array, key(channel)) >> np.uint64(11)
    return (bits.astype(np.float64) + 0.5) * _TO_UNIT


def normal(key_array: Keys, channel: str) -> Floats:
    """Return one standard normal number per key."""
    radius = np.sqrt(-2.0 * np.log(uniform(key_array, channel + "/radius")))
    return np.asarray(radius * np.cos(2.0 * np.pi * uniform(key_array, channel + "/angle")), dtype=np.float64)


def unit(*parts: int | str) -> float:
    """Return one number in (0, 1), a function of the parts."""
    return ((key(*parts) >> 11) + 0.5) * _TO_UNIT


def pick(n: int, *parts: int | str) -> int:
    """Return a whole number from 0 to `n` - 1, a function of the parts."""
    return key(*parts) % n


def _scramble(x: Keys) -> Keys:
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
