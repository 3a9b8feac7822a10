"""The archive in the browser: pages, and the same as JSON. A page is a view and a template; its JSON is the view."""

from provenn.web.app import create_app

__all__ = ["create_app"]
