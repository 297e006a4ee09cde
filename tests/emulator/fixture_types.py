"""The types of the fixtures that send requests to the emulator."""

from collections.abc import Callable

import httpx2

Get = Callable[..., httpx2.Response]
"""get(path, now=…, token=…)"""

Send = Callable[..., httpx2.Response]
"""send(app, path, **headers)"""
