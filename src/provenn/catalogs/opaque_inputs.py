"""The catalogs that opaque SQL reads: which of them it uses, and which of their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.schema import Attribute
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError

if TYPE_CHECKING:
    from provenn.catalogs.opaque_text import OpaqueText

__all__ = ["MOST_INPUTS", "check_reason", "choose_inputs", "list_read_attributes"]

MOST_INPUTS: Final = 100
"""The largest number of tables in an opaque text."""
_LONGEST_REASON: Final = 1_000


def choose_inputs(text: OpaqueText, inputs: Sequence[Catalog]) -> tuple[OpaqueText, tuple[Catalog, ...]]:
    """Return a text with the catalogs that it reads, each once, numbered in the order of their first appearance.

    So the same query has one form, however its tables were numbered.
    """
    for catalog in inputs:
        if not isinstance(catalog, Catalog):
            raise DefinitionError(f"expected a catalog, got {catalog!r}")
    if len(inputs) > MOST_INPUTS:
        raise DefinitionError(f"the SQL has {len(inputs)} inputs, more than {MOST_INPUTS}")
    order: dict[CatalogDigest, int] = {}
    for number in text.inputs:
        order.setdefault(inputs[number - 1].digest, len(order) + 1)
    by_digest = {catalog.digest: catalog for catalog in inputs}
    numbers = {number: order[inputs[number - 1].digest] for number in text.inputs}
    from provenn.catalogs.opaque_text import find_input_number, read_condition, read_query  # noqa: PLC0415 - sqlglot takes long to import

    is_plain = not any(find_input_number(name) for catalog in inputs for name in catalog.schema.names)
    canonical = text.renumber(numbers, is_plain=is_plain)
    read = read_condition if text.is_condition else read_query
    return read(canonical, len(order)), tuple(by_digest[digest] for digest in order)


def list_read_attributes(text: OpaqueText, catalog: Catalog) -> tuple[Attribute, ...]:
    """Return the attributes of an input that the text may read: all that it names, or all that there are."""
    if text.reads_all:
        return catalog.schema.attributes
    return tuple(attribute for attribute in catalog.schema.attributes if attribute.name in text.names)


def check_reason(reason: object) -> str:
    """Return why SQL is not understood, if it is a text of moderate length."""
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise DefinitionError(f"expected a reason of at most {_LONGEST_REASON:,} characters, got {reason!r:.80}")
    return reason
