"""Algorithms of the estimates that SQL cannot express: pure functions on lists, the same in every engine."""
