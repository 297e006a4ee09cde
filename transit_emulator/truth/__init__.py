"""The truth about service dates, written as Parquet files for tests and benchmarks to compare with."""

from transit_emulator.truth.writer import write_truth

__all__ = ["write_truth"]
