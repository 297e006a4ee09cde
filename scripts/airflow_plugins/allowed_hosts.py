"""Answers requests to this machine by its names alone: a page of another site cannot reach Airflow."""  # noqa: INP001

from airflow.plugins_manager import AirflowPlugin
from starlette.middleware.trustedhost import TrustedHostMiddleware


class AllowedHosts(AirflowPlugin):
    """Refuse requests whose `Host` is another."""

    name = "allowed_hosts"
    fastapi_root_middlewares = [  # noqa: RUF012 - Airflow reads it from the class
        {
            "name": "allowed hosts",
            "middleware": TrustedHostMiddleware,
            "args": [],
            "kwargs": {"allowed_hosts": ["localhost", "127.0.0.1"]},
        }
    ]
