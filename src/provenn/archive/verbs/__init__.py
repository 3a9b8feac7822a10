"""The methods of an archive, a module for each subject; `provenn.archive.archive` combines them."""

__all__: list[str] = []
