"""The plugin of Airflow: its entries in the navigation, and the application that answers them.

Airflow loads plugins in every program. So nothing is read and nothing large imported before the web server is
asked for a page.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/transit"
_Message = MutableMapping[str, Any]
_VIEWS = [
    ("Live state", "live", "transit-live"),
    ("Punctuality reports", "reports/", "transit-reports"),
    ("Data quality", "quality/", "transit-quality"),
    ("Data dictionary", "dictionary/", "transit-dictionary"),
    ("Models", "models/", "transit-models"),
]


class LateApp:
    """The application, as ASGI has it, which is made when it is asked first."""

    @cached_property
    def app(self) -> Callable[..., Awaitable[None]]:
        """The application itself."""
        from transit_airflow.app import make_app  # noqa: PLC0415 - see above

        return make_app()

    async def __call__(
        self,
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        """Answer a request."""
        await self.app(scope, receive, send)


class TransitPages(AirflowPlugin):
    """Pages of transit-etl, for users who may see Airflow."""

    name = "transit_pages"
    fastapi_apps = [{"app": LateApp(), "url_prefix": PREFIX, "name": "transit-etl"}]  # noqa: RUF012 - Airflow reads it from the class
    external_views = [  # noqa: RUF012 - the same
        {
            "name": name,
            "href": f"{PREFIX.removeprefix('/')}/{address}",
            "url_route": route,
            "destination": "nav",
            "category": "browse",
        }
        for name, address, route in _VIEWS
    ]
