"""The types of the fixtures that send requests to the emulator."""

from collections.abc import Callable

import httpx

Get = Callable[..., httpx.Response]
"""get(path, now=…, token=…)"""

Send = Callable[..., httpx.Response]
"""send(app, path, **headers)"""
