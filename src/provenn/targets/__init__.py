"""Target processing: which sources, which attributes; found, created, rewritten, run and kept."""

__all__: list[str] = []
