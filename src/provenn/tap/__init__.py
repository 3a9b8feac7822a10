"""TAP, the table access protocol: queries, jobs, tables and answers in the formats of the Virtual Observatory."""

__all__: list[str] = []
