"""Collects answers within the allowance: plan, request, land."""
