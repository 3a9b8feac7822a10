"""The checks of `provenn check`: whether an archive is sound, one module for each kind of object."""

__all__: list[str] = []
