"""The command line `transit-etl`."""

from transit_etl.cli.commands import app, main

__all__ = ["app", "main"]
