"""Names the types of the fixtures that put questions to the emulator."""

from collections.abc import Callable

import httpx

Get = Callable[..., httpx.Response]
"""get(path, now=…, token=…)"""

Send = Callable[..., httpx.Response]
"""send(app, path, **headers)"""
