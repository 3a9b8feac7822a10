"""The target: a request for attributes of sources, and the plan for the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from provenn.archive.cards import make_target_card, render_card
from provenn.archive.context import Context, HasContext
from provenn.archive.export_records import choose_followed_name
from provenn.archive.handle import Catalog
from provenn.archive.new_catalogs import define_catalog
from provenn.archive.pictured import Pictured
from provenn.archive.references import describe_subject, find_definitions
from provenn.archive.wrong_calls import explain_wrong_calls
from provenn.catalogs import Catalog as Definition
from provenn.data.followed_exports import ExportRequest
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.errors import TargetError, did_you_mean
from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.archive.workshop import Workshop
    from provenn.targets.engine_choice import EngineChoice
    from provenn.targets.keeping import Keep
    from provenn.targets.planning import Missing, Request
    from provenn.words.described_plan import DescribedPlan

__all__ = ["Target"]


@explain_wrong_calls
class Target(Pictured):
    """A request for attributes of sources, made by `Archive.target`.

    Attributes
    ----------
    request
        The request.
    keep
        The results to keep.
    """

    __slots__ = ("_archive", "keep", "request")

    def __init__(self, archive: HasContext, request: Request, keep: Keep) -> None:
        self._archive = archive
        self.request = request
        self.keep = keep

    @classmethod
    def of(
        cls,
        archive: HasContext,
        sources: Catalog | str,
        attributes: Sequence[str],
        *,
        where: str | None,
        missing: Missing,
        keep: Keep,
    ) -> Target:
        """Make a target as `Archive.target` does; an unanswerable request raises at once.

        Raises
        ------
        TargetError
            If the request cannot be answered.
        """
        from provenn.targets.keeping import Keep  # noqa: PLC0415 - most commands plan nothing
        from provenn.targets.planning import Missing, Request  # noqa: PLC0415 - see above

        for word, value, choices in (("missing", missing, get_args(Missing)), ("keep", keep, get_args(Keep))):
            if value not in choices:
                raise TargetError(
                    f"{word} is {', '.join(choices)}, not {value!r}", hint=did_you_mean(str(value), choices)
                )
        names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
        for name in names:
            if not isinstance(name, str):
                raise TargetError(f"expected the name of an attribute, got {name!r}")
        if isinstance(sources, str):
            (definition,), sources_name = archive.context.read(find_definitions, [sources]), sources
        else:
            definition = sources.definition
            sources_name = archive.context.read(describe_subject, definition)
        target = cls(archive, Request(definition, names, where, missing, sources_name), keep)
        target.plan()
        return target

    def plan(self) -> DescribedPlan:
        """Return the plan for the request, with its justification; compute and write nothing."""
        from provenn.archive.plans import attach_names  # noqa: PLC0415 - see above
        from provenn.targets.planning import plan_request  # noqa: PLC0415 - see above

        database = self._archive.context.database

        def make(reading: Reading) -> DescribedPlan:
            plan = plan_request(reading, self.request)
            user_names = {} if plan.catalog is None else {plan.catalog.digest: "the target"}
            user_names |= {self.request.sources.digest: self.request.sources_name}
            return attach_names(plan, database, self.keep, user_names)

        return self._recall_plan(database, make)

    def count(self, *, check: bool = False, engine: EngineChoice = "auto") -> int:
        """Return the number of sources; count them only if the number is unknown. See `to_arrow` for the options."""
        return self._workshop().count(self.plan, check=check, engine=engine)

    def catalog(self, name: str | None = None) -> Catalog:
        """Define the request, with all newly created attributes, as a catalog, and put a name on it.

        Raises
        ------
        TargetError
            If values may be missing: then the request is no catalog.
        """
        definition, _ = self._get_pictured()
        context = self._archive.context
        context.write(catalog_store.add_catalogs, *self.plan().created)
        define_catalog(context, definition, name)
        return Catalog(self._archive, definition)

    def store(self, name: str | None = None) -> Catalog:
        """Compute the request, keep the result, and return it as a catalog."""
        catalog = self.catalog(name)
        catalog.store()
        return catalog

    def _workshop(self) -> Workshop:
        return self._archive.context.workshop

    @property
    def _keep(self) -> Keep:
        return self.keep

    def _get_context(self) -> Context:
        return self._archive.context

    def _get_sources(self) -> Definition:
        return self.request.sources

    def _get_pictured(self) -> tuple[Definition, str]:
        catalog = self.plan().catalog
        if catalog is None:
            raise TargetError(
                "a target with missing values cannot be defined as a catalog",
                hint=Hint(
                    'write it to a file, or pass missing="drop"',
                    command="write it with --output, or add --missing drop",
                ),
            )
        return (
            catalog,
            f"{self.request.sources_name} where {self.request.where}"
            if self.request.where
            else self.request.sources_name,
        )

    def _describe_export(self, follow: bool | str) -> ExportRequest:
        request = self.request
        name = self._archive.context.read(choose_followed_name, request.sources, follow)
        return ExportRequest(name, request.attributes, request.where, request.missing)

    def __repr__(self) -> str:
        where = f" where {self.request.where}" if self.request.where else ""
        return f"<Target {', '.join(self.request.attributes)} of {self.request.sources_name}{where}>"

    def _repr_html_(self) -> str | None:
        return render_card(lambda: make_target_card(self.request, self.keep, self.plan()._repr_html_()))
