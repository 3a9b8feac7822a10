"""The formats of an archive: opening a database in the format of this version, and migrations between formats."""

__all__: list[str] = []
