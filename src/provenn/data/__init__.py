"""The data that an archive keeps: fragments, given tables and conversions; who reads, computes and deletes them."""

__all__: list[str] = []
