"""Publishes a checked build as one file with what belongs to it, and compares two such files."""
