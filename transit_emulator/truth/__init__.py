"""The truth about service dates, written as Parquet files for tests and benchmarks to compare with."""

from transit_emulator.truth.writer import SUBJECTS, write_truth

__all__ = ["SUBJECTS", "write_truth"]
