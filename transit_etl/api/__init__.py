"""Speaks to the upstream: requests of both versions, and answers with their outcome."""
