"""Keeps the allowance: who may send a request and when, whichever processes ask."""
