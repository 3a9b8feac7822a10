"""The names of catalogs for the resources of a project: their own names, with a prefix where names clash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from provenn.dbt.resources import Resource

__all__ = ["choose_names"]


def choose_names(resources: Iterable[Resource]) -> dict[str, str]:
    """Return a name for each resource, by the identity of the resource.

    A model, seed or snapshot keeps its name unless another package has the same; then the name of the package comes
    first. If the name of a source is taken, the name of its schema in dbt comes first.
    """
    known = list(resources)
    own = Counter(resource.name for resource in known if resource.kind != "source")
    sources = Counter(resource.name for resource in known if resource.kind == "source")
    return {
        resource.unique_id: _name_source(resource, is_clear=not own[resource.name] and sources[resource.name] == 1)
        if resource.kind == "source"
        else resource.name
        if own[resource.name] == 1
        else f"{resource.package}.{resource.name}"
        for resource in known
    }


def _name_source(resource: Resource, *, is_clear: bool) -> str:
    """Return the name of a source: ``source.shop.web.events`` is ``events``, or ``web.events``."""
    return resource.name if is_clear else ".".join(resource.unique_id.split(".")[2:])
