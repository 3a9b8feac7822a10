"""Projects of dbt: models as catalogs, tests as facts, and what follows from both."""

__all__: list[str] = []
