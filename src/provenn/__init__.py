"""Catalogs that know what they hold before they are computed."""

__all__ = ["__version__"]

__version__ = "0.1.0"
