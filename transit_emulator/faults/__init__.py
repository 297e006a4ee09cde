"""Faults: which are injected into which request, and how they change its answer."""
