"""Prose: catalogs, facts and plans in words; the only room that makes sentences for people."""

__all__: list[str] = []
