"""Polls a public-transport interface within its allowance and keeps the history as a warehouse."""
