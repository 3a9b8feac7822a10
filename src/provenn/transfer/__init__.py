"""Archives on their way elsewhere: portable files, imports, copies and backups."""

__all__: list[str] = []
