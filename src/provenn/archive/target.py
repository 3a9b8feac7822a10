"""A target: a request for attributes of sources, and the plan that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from provenn.archive.data import Data
from provenn.archive.plans import in_names
from provenn.errors import TargetError, did_you_mean
from provenn.store import catalog_store
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing, Request, plan_request
from provenn.targets.running import Keep

if TYPE_CHECKING:
    from provenn.archive.archive import Archive
    from provenn.archive.handle import Catalog
    from provenn.archive.workshop import Workshop

__all__ = ["Target"]


class Target(Data):
    """A request for attributes of sources. Made by `Archive.target`.

    Attributes
    ----------
    request
        What is asked for.
    keep
        Which results are kept.
    """

    __slots__ = ("_archive", "keep", "request")

    def __init__(self, archive: Archive, request: Request, keep: Keep) -> None:
        self._archive = archive
        self.request = request
        self.keep = keep

    @classmethod
    def of(
        cls,
        archive: Archive,
        sources: Catalog | str,
        attributes: Sequence[str],
        *,
        where: str | None,
        missing: Missing,
        keep: Keep,
    ) -> Target:
        """Ask; `Archive.target` says how. That it can be answered is seen at once.

        Raises
        ------
        TargetError
            If it cannot be.
        """
        for word, given, known in (("missing", missing, get_args(Missing)), ("keep", keep, get_args(Keep))):
            if given not in known:
                raise TargetError(f"{word} is {', '.join(known)}, not {given!r}", hint=did_you_mean(str(given), known))
        names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
        for name in names:
            if not isinstance(name, str):
                raise TargetError(f"expected the name of an attribute, got {name!r}")
        one = archive.catalog(sources)
        called = sources if isinstance(sources, str) else one.name
        target = cls(archive, Request(one.definition, names, where, missing, called), keep)
        target.plan()
        return target

    def plan(self) -> Plan:
        """Return how it is answered, and why that is enough. Nothing is computed, and nothing is written, for it."""
        database = self._archive._database  # noqa: SLF001 - the archive is its own
        with database.reading() as reading:
            plan = plan_request(reading, self.request)
        asked = {} if plan.catalog is None else {plan.catalog.digest: "the target"}
        return in_names(plan, database, self.keep, asked | {self.request.sources.digest: self.request.called})

    def count(self, *, check: bool = False) -> int:
        """Return how many sources there are: counted, unless that is known; `to_arrow` says what `check` does."""
        return self._workshop().count(self.plan, check=check)

    def catalog(self, name: str | None = None) -> Catalog:
        """Define the request as a catalog, with all that had to be created for it, and put a name on it.

        Raises
        ------
        TargetError
            If values may be missing in it: then it is no catalog.
        """
        plan = self.plan()
        if plan.catalog is None:
            raise TargetError(
                "a target with missing values is no catalog", hint='write it to a file; or missing="drop"'
            )
        with self._archive._database.writing() as writing:  # noqa: SLF001
            catalog_store.add(writing, *plan.created)
        return self._archive.define(plan.catalog, name)

    def store(self, name: str | None = None) -> Catalog:
        """Compute it, keep the result, and return it as a catalog."""
        made = self.catalog(name)
        made.store()
        return made

    def _workshop(self) -> Workshop:
        return self._archive._workshop  # noqa: SLF001

    @property
    def _keep(self) -> Keep:
        return self.keep

    def __repr__(self) -> str:
        where = f" where {self.request.where}" if self.request.where else ""
        return f"<Target {', '.join(self.request.attributes)} of {self.request.called}{where}>"

    def _repr_html_(self) -> str | None:
        from provenn.archive import cards  # noqa: PLC0415 - only a notebook needs it

        return cards.html(cards.target_card, self)
