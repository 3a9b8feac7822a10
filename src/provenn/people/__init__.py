"""The people who use an archive: visibility, projects, tokens, quotas and the audit log."""

__all__: list[str] = []
