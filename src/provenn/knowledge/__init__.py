"""The knowledge kept about catalogs: declared and observed facts, counts, verified keys, and their consequences."""

__all__: list[str] = []
