"""The web server of an archive: each page is a view rendered by a template, and the same view as JSON."""

from provenn.web.app import create_app

__all__ = ["create_app"]
