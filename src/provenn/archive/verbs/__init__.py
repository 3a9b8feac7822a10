"""The methods of an archive, a module for each subject; `provenn.archive.archive` combines the modules."""

__all__: list[str] = []
