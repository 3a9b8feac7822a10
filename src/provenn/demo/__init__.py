"""The demo: real stars, fetched by the clients of package registries, and a story told on them.

Read `fetching` (where the stars come from) and `story` (what is done with them) first.
"""

__all__: list[str] = []
