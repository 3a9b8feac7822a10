"""Files and tables in memory: listing, fingerprints, and the columns of each format, read without their rows."""

__all__: list[str] = []
