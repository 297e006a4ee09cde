"""Builds the warehouse from the lake: by dbt on DuckDB or Spark, with reference files and variants."""
