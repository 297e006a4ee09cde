"""The HTTP interface: the routes of versions 1 and 0, their answers, and the limits of callers."""
