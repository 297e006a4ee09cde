"""Runs the command line as `python -m transit_etl.cli`."""

from transit_etl.cli import main

main()
