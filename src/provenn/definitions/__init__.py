"""The definitions of catalogs and their names, kept in the database: adding, finding and searching them."""

__all__: list[str] = []
