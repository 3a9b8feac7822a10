"""Target processing: find, create, rewrite, run and keep the data that a request asks for."""

__all__: list[str] = []
