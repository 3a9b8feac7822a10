"""A catalog with some attributes renamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Schema, check_name, describe_values
from provenn.display.text import join_words
from provenn.errors import AttributeConflictError, DefinitionError
from provenn.hints import Hint

__all__ = ["RenameAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RenameAttributes(Catalog):
    """The sources and attributes of `parent`, some under new names. Identities of attributes stay.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    names
        Old and new names, in the order of the columns.
    """

    profile = ClassProfile(word="rename", shape="tag")
    parent: Catalog
    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, parent: Catalog, names: Mapping[str, str]) -> Self:
        """Rename attributes, all at once: two may exchange their names.

        Raises
        ------
        AttributeNotFoundError
            If an attribute does not exist.
        AttributeConflictError
            If a name is not valid, two attributes would get the same name, or one attribute two names.
        DefinitionError
            If no name changes.
        """
        new_names: dict[str, str] = {}
        for old, name in names.items():
            old_name = parent.schema[old].name
            if old_name in new_names:
                raise AttributeConflictError(
                    f"the attribute {old_name} would have two names, {new_names[old_name]} and {name}"
                )
            new_names[old_name] = check_name(name)
        changed = tuple((old, new_names[old]) for old in parent.schema if new_names.get(old, old) != old)
        if not changed:
            raise DefinitionError(
                "nothing to rename",
                hint=Hint(
                    'write the old name first: .rename(vmag="v"); name= is the name of the new catalog',
                    command="write the old name first: vmag=v; --name is the name of the new catalog",
                ),
            )
        return cls(parent, changed)

    def _define_anew(self) -> Catalog:
        return type(self).of(self.parent, dict(self.names))

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """Return old and new names."""
        return {"names": [list(pair) for pair in self.names]}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, tuple((old, new) for old, new in parameters["names"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same renaming of the attributes of a different parent."""
        (parent,) = dependencies
        return self.of(parent, dict(self.names))

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the parent, the old and the new names in words."""
        return f"{parts[0]}, with {join_words([f'{old} renamed to {new}' for old, new in parameters['names']])}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the attributes and the parent."""
        return f"{describe_values(self.schema)} of {parts[0]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the new and the old names."""
        return (("new names", ", ".join(f"{new} for {old}" for old, new in self.names)),)

    def exchange_form(self) -> ExchangeForm:
        """Return the verb, the old and the new names."""
        return self.profile.word, {"attributes": dict(self.names)}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the catalog with the new names."""
        return cls.of(parts[0], dict(options["attributes"]))

    def _build_schema(self) -> Schema:
        new_names = dict(self.names)
        return Schema(
            tuple(
                attribute.renamed(new_names[attribute.name]) if attribute.name in new_names else attribute
                for attribute in self.parent.schema.attributes
            )
        )
