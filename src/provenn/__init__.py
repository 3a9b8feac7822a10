"""Catalogs that know what they hold before they are computed."""

from typing import TYPE_CHECKING, Any

from provenn._version import __version__

if TYPE_CHECKING:
    from provenn.archive import Archive, Catalog
    from provenn.archive import open_archive as open  # noqa: A004 - provenn.open(…) reads as it should

__all__ = ["Archive", "Catalog", "__version__", "open"]

_IN_ARCHIVE = {"Archive": "Archive", "Catalog": "Catalog", "open": "open_archive"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import the archive only on first access: the logic alone needs no database."""
    if name in _IN_ARCHIVE:
        from provenn import archive  # noqa: PLC0415

        return getattr(archive, _IN_ARCHIVE[name])
    raise AttributeError(f"module 'provenn' has no attribute {name!r}")
