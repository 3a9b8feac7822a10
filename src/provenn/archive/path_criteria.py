"""Selections by attributes of partners, read through references, as in ``objid.vmag < 6``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from provenn.catalogs import Catalog, verbs
from provenn.criteria import names_in, split_qualifier
from provenn.database.transactions import Reading
from provenn.errors import CriterionError
from provenn.hints import Hint

__all__ = ["find_paths", "select_by_paths"]

_DECIMAL: Final = re.compile(r"(?<![\w.`\"])[0-9]+\.[0-9]+(?![\w.`\"])")
"""A number whose point belongs to no name: most criteria with a point need not be parsed for the names in them."""


def find_paths(catalog: Catalog, text: str) -> list[str]:
    """Return the names in a criterion that begin with a referring attribute of a catalog."""
    if "." not in _DECIMAL.sub("", text):
        return []
    return [name for name in dict.fromkeys(names_in(text)) if _is_path(catalog, name)]


def select_by_paths(reading: Reading, catalog: Catalog, text: str, paths: Sequence[str], word: str) -> Catalog:
    """Return the sources of a catalog where a criterion is TRUE, with the attributes of the catalog.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog.
    text
        The criterion.
    paths
        The names in it that begin with a referring attribute of the catalog: at least one.
    word
        The name of the catalog in messages.

    Raises
    ------
    CriterionError
        If the criterion cannot be read, or may be true for a source without a partner.
    TargetError
        If a path leads to no attribute.
    """
    from provenn.targets.naming import NameResolver  # noqa: PLC0415 - most criteria have no paths, and plan nothing
    from provenn.targets.planning import requires_attributes  # noqa: PLC0415
    from provenn.targets.providers import combine_providers  # noqa: PLC0415

    resolver = NameResolver(reading, catalog, word)
    inputs = [resolver.resolve_input(path) for path in paths]
    partners = combine_providers(
        (attribute.provider, attribute.attribute.identity, attribute.name) for attribute in inputs
    )
    assert partners is not None, "there are paths"  # noqa: S101 - for the type checker
    joined = verbs.combine(catalog, verbs.keep(partners, paths))
    if not requires_attributes(text, joined.schema, paths):
        raise CriterionError(
            f"a source without a partner may satisfy this, and has no {paths[0]}",
            text,
            hint=Hint(
                'say what such sources have: .lookup(…, missing="null") first, or "drop" to leave them out',
                command="say what such sources have: `provenn lookup … --missing null` first, or --missing drop",
            ),
        )
    return verbs.keep(verbs.select(joined, text), catalog.schema.names)


def _is_path(catalog: Catalog, name: str) -> bool:
    """Return whether a name begins with a possible reference, and is no attribute itself."""
    if catalog.schema.matching(name):
        return False
    beginnings = (catalog.schema.matching(beginning) for beginning, _ in split_qualifier(name))
    return any(len(own) == 1 and own[0].type.scalar for own in beginnings)
