"""Turns raw answers into validated, typed Parquet."""
