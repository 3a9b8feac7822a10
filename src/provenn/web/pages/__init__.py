"""The pages, one module each: the content as a dataclass, the view that returns it, and the routes."""

__all__: list[str] = []
