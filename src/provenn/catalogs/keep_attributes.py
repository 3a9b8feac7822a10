"""Some attributes of a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Schema, describe_values
from provenn.display.text import join_words
from provenn.errors import AttributeConflictError

__all__ = ["KeepAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeepAttributes(Catalog):
    """The sources of `parent`, with some of the attributes.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    names
        The attributes, in the order of the columns; the key among them.
    """

    profile = ClassProfile(word="keep", shape="card")
    parent: Catalog
    names: tuple[str, ...]

    @classmethod
    def of(cls, parent: Catalog, names: Iterable[str]) -> Self:
        """Keep attributes in this order. Key attributes not named come first: the key is always kept.

        Raises
        ------
        AttributeNotFoundError
            If an attribute does not exist.
        AttributeConflictError
            If an attribute is named twice.
        """
        kept = [parent.schema[name] for name in names]
        seen: set[str] = set()
        for attribute in kept:
            if attribute.name in seen:
                raise AttributeConflictError(f"the attribute {attribute.name} is named twice")
            seen.add(attribute.name)
        identities = {attribute.identity for attribute in kept}
        key = (attribute for attribute in parent.schema.key if attribute.identity not in identities)
        return cls(parent, tuple(attribute.name for attribute in (*key, *kept)))

    def _define_anew(self) -> Catalog:
        return type(self).of(self.parent, self.names)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """Return the names of the kept attributes."""
        return {"names": list(self.names)}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, tuple(parameters["names"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same attributes of a different parent."""
        (parent,) = dependencies
        return self.of(parent, self.names)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the parent and the kept attributes in words."""
        return f"{parts[0]}, only its attributes {join_words(parameters['names'])}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the kept attributes and the parent."""
        return f"{describe_values(self.schema)} of {parts[0]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the kept attributes."""
        return (("attributes", ", ".join(self.names)),)

    def exchange_form(self) -> ExchangeForm:
        """Return the verb and the kept attributes."""
        return self.profile.word, {"attributes": list(self.names)}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the catalog with the attributes to keep."""
        return cls.of(parts[0], [require_text(name) for name in options["attributes"]])

    def _build_schema(self) -> Schema:
        return Schema(tuple(self.parent.schema[name] for name in self.names))
