"""Keeps every request and its exact answer in raw files, also when a collector is killed."""
