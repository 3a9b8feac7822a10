"""A look at data without Spark: rows of Parquet files, read in this process with exactly the meaning that Spark has."""

__all__: list[str] = []
