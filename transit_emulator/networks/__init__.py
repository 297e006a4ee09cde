"""Networks of lines, stops, patterns and trips: built in, or read from a GTFS feed or recorded times."""
