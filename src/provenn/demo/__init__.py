"""The demo: real stars, fetched by the clients of package registries, and a story about them.

Read `fetching` (the source of the stars) and `story` (the screens of the demo) first.
"""

__all__: list[str] = []
