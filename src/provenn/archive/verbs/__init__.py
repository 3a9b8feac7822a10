"""What can be done with an archive, a module for each kind of thing; `provenn.archive.archive` has all of them."""

__all__: list[str] = []
