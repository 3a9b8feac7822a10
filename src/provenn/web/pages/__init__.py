"""The pages, a module each: what there is to show, as a value, and the routes that show it."""

__all__: list[str] = []
