"""The data that an archive keeps: fragments, given tables and conversions; reading, computing and deleting these."""

__all__: list[str] = []
