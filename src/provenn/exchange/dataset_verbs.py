"""The verbs of provenn in events: the definition of a dataset, in words for another archive.

The facet ``provenn_definition`` states the sources of a dataset exactly; the standard facets state less. Foreign
pipelines may write this facet, too. Each catalog class owns its verbs and their options (`Catalog.exchange_form`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from provenn.catalogs import Catalog
from provenn.catalogs.verbs import CLASSES
from provenn.errors import DefinitionError, ProvennError

__all__ = ["VERBS", "build_catalog"]

VERBS: dict[str, type[Catalog]] = {
    verb: catalog_class for catalog_class in CLASSES.values() for verb in catalog_class.profile.exchange_verbs
}
"""The class that owns each verb of definitions."""


def build_catalog(verb: str, options: Mapping[str, Any], parts: Sequence[Catalog]) -> Catalog:
    """Return the catalog that a verb defines from input catalogs, without executing anything from the event.

    Raises
    ------
    ProvennError
        If the catalogs do not allow the definition; `DefinitionError` if the definition has no meaning.
    """
    if verb not in VERBS or len(parts) not in VERBS[verb].profile.part_counts:
        raise DefinitionError(f"{verb!r} of {len(parts)} datasets is not a definition")
    try:
        return VERBS[verb].from_exchange(verb, options, parts)
    except ProvennError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(f"invalid {verb}: {error!r}") from error
