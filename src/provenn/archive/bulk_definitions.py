"""Definitions as a list of steps, each a verb of a catalog, for thousands of catalogs in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from provenn.errors import DefinitionError, ProvennError

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog

__all__ = ["VERBS", "DefinitionStep", "define_steps"]

DefinitionStep = Sequence[Any]
"""A new name or None, a verb, the catalog that it starts from, and further arguments of the verb."""

VERBS: Final = ("select", "restrict", "exclude", "sample", "keep", "rename", "derive", "combine", "concat")
"""The methods of a catalog that a step can name."""

_OF_CATALOGS: Final = frozenset(["restrict", "exclude", "combine", "concat"])
_OF_MAPPINGS: Final = frozenset(["rename", "derive"])
_LEAST: Final = 3


def define_steps(find_catalog: Callable[[str], Catalog], steps: Iterable[DefinitionStep]) -> list[Catalog]:
    """Define the catalogs of steps in an open batch; see `Archive.define_many`.

    Parameters
    ----------
    find_catalog
        Returns a catalog of the batch by its name or its digest.
    steps
        The steps.

    Raises
    ------
    DefinitionError
        If a step is no step; other errors of the verbs say in which step they happened.
    """
    catalogs: list[Catalog] = []
    known_catalogs: dict[str, Catalog] = {}

    def find(which: Catalog | str) -> Catalog:
        key = which if isinstance(which, str) else which.digest  # a handle of the archive itself would not wait
        if key not in known_catalogs:
            known_catalogs[key] = find_catalog(key)
        return known_catalogs[key]

    for number, step in enumerate(steps):
        if isinstance(step, str) or len(step) < _LEAST or step[1] not in VERBS:
            raise DefinitionError(
                f"step {number} is no definition: {step!r}",
                hint=f"a step is (name or None, verb, catalog, …), and a verb is one of {', '.join(VERBS)}",
            )
        name, verb, start, *arguments = step
        has_options = verb not in _OF_MAPPINGS and bool(arguments) and isinstance(arguments[-1], dict)
        options = arguments.pop() if has_options else {}
        try:
            if verb in _OF_CATALOGS:
                arguments = [find(argument) for argument in arguments]
            catalog: Catalog = getattr(find(start), verb)(*arguments, **options, name=name)
        except ProvennError as error:
            error.add_note(f"in step {number}: {step!r}")
            raise
        catalogs.append(catalog)
        known_catalogs[catalog.digest] = catalog
        if name is not None:
            known_catalogs[name] = catalog
    return catalogs
