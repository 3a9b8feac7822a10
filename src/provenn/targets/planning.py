"""From a request to a plan: discover, create, rewrite. Planning computes no data and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal

from provenn.catalogs import Attribute, Catalog, Schema, verbs
from provenn.criteria import (
    DefinedAttribute,
    backquoted,
    derive_term_facts,
    names_in,
    order_facts,
    parse_criterion,
    split_alias,
)
from provenn.database.transactions import Reading
from provenn.errors import NotCoveredError, TargetError
from provenn.hints import Hint
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Knowledge, subset
from provenn.targets.literal import build_step
from provenn.targets.naming import NameResolver
from provenn.targets.plan import Plan
from provenn.targets.planning_problem import PlanningProblem, build_scene
from provenn.targets.providers import ProvidedAttribute, combine_providers
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.scene import Scene
from provenn.targets.sizes import check_plan_size
from provenn.targets.steps import Combine, Concat, Exclude, Fill, PlanStep

__all__ = ["Missing", "Request", "plan_catalog", "plan_request", "plan_steps", "requires_attributes"]

Missing = Literal["error", "null", "drop"]
"""How to treat sources that are not proved to have an attribute: raise an error, give NULL, or leave them out."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for attributes of sources.

    Parameters
    ----------
    sources
        The catalog of the requested sources.
    attributes
        The requested attributes: names, or references such as ``DR1.z AS z_dr1``.
    where
        A criterion on the sources, or None.
    missing
        How to treat sources that are not proved to have an attribute.
    sources_name
        The name of the sources in messages.
    """

    sources: Catalog
    attributes: tuple[str, ...]
    where: str | None = None
    missing: Missing = "error"
    sources_name: str = ""


def plan_catalog(reading: Reading, catalog: Catalog, what: str, supposed: Sequence[Fact] = ()) -> Plan:
    """Plan how to compute a catalog: all attributes of all sources.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog, stored or not.
    what
        Its name in messages.
    supposed
        Facts that the archive does not hold yet. A plan with such facts is shown, and never run.

    Raises
    ------
    TargetError
        If the lineage is too deep.
    """
    provided = tuple(
        ProvidedAttribute(attribute.name, attribute, catalog, "it has it") for attribute in catalog.schema.attributes
    )
    with _translate_recursion_error(what):
        problem = PlanningProblem(what, catalog, build_step(catalog), catalog.schema.attributes, provided)
        return _build_plan(problem, build_scene(reading, problem, supposed))


def plan_steps(reading: Reading, problem: PlanningProblem) -> Plan:
    """Plan how to compute a catalog by literal steps that are given.

    Raises
    ------
    TargetError
        If the lineage is too deep.
    """
    with _translate_recursion_error(problem.what):
        return _build_plan(problem, build_scene(reading, problem))


def plan_request(reading: Reading, request: Request) -> Plan:
    """Plan how to answer a request.

    Raises
    ------
    TargetError
        If a requested attribute is unknown or ambiguous, or if the lineage is too deep.
    NotCoveredError
        If a source is not proved to have an attribute, and the request asks for an error.
    """
    with _translate_recursion_error(request.sources_name or request.sources.digest[:12]):
        return _plan_request(reading, request)


def _plan_request(reading: Reading, request: Request) -> Plan:
    what = request.sources_name or request.sources.digest[:12]
    resolver = NameResolver(reading, request.sources, what)
    sources, criterion_inputs = _select_sources(request, resolver)
    provided = _resolve_attributes(request, resolver)
    foreign = [attribute for attribute in provided if attribute.provider is not request.sources]
    _check_names(request, provided)
    if sources is not request.sources:
        what += f" where {' '.join((request.where or '').split())}"
    created = resolver.providers.find_created((*criterion_inputs, *provided))

    def build_problem(provided: Sequence[ProvidedAttribute], created: tuple[Catalog, ...]) -> PlanningProblem:
        catalog, columns = _combine_attributes(request, sources, provided), _list_columns(request, provided)
        others = (sources, *(attribute.provider for attribute in provided if attribute.provider is not request.sources))
        return PlanningProblem(what, catalog, build_step(catalog), columns, tuple(provided), created, others)

    problem = build_problem(provided, created)
    scene = build_scene(reading, problem)
    _check_criterion_coverage(scene, request, sources, criterion_inputs)
    uncovered = [attribute for attribute in foreign if not scene.lies_in(sources.extent, attribute.provider.extent)]
    looked_up = [attribute for attribute in uncovered if attribute.provider.find_lookup() is not None]
    if request.missing == "error" and looked_up:
        provided = [
            _require_partner(attribute, sources) if attribute in looked_up else attribute for attribute in provided
        ]
        required = tuple(attribute.provider for attribute in provided if _is_required_lookup(attribute.provider))
        problem = build_problem(provided, (*created, *required))
        scene = build_scene(reading, problem)
        uncovered = [attribute for attribute in uncovered if attribute not in looked_up]
    if uncovered and request.missing == "error":
        raise _make_coverage_error(scene, sources, uncovered[0], request)
    if request.missing == "drop":
        scene.used_statements.clear()  # the data decide which sources have the attribute
    if uncovered and request.missing == "null":
        problem = replace(problem, catalog=None, before=_fill_missing(sources, foreign, uncovered))
    return _build_plan(problem, scene)


def _require_partner(attribute: ProvidedAttribute, sources: Catalog) -> ProvidedAttribute:
    """Return an attribute of partners of some sources; each is verified to have a partner before data are used."""
    lookup = attribute.provider.find_lookup()
    return attribute if lookup is None else replace(attribute, provider=lookup.require_partners(sources))


def _is_required_lookup(catalog: Catalog) -> bool:
    lookup = catalog.find_lookup()
    return lookup is not None and lookup.requires_partners


@contextmanager
def _translate_recursion_error(what: str) -> Iterator[None]:
    """Raise a TargetError if a lineage is deeper than Python's recursion limit."""
    try:
        yield
    except RecursionError:
        raise TargetError(
            f"the lineage of {what} has too many consecutive steps to be planned",
            hint="define it in fewer steps, or export an intermediate catalog and ingest that",
        ) from None


def _resolve_attributes(request: Request, resolver: NameResolver) -> list[ProvidedAttribute]:
    """Return the requested attributes, each once.

    Raises
    ------
    TargetError
        If two different attributes would have the same name.
    """
    columns: dict[str, ProvidedAttribute] = {}
    for text in dict.fromkeys(request.attributes):
        column = resolver.resolve_request(text)
        if columns.setdefault(column.name, column).attribute.identity != column.attribute.identity:
            raise TargetError(
                f"two different attributes would be called {column.name}",
                hint=f"give one of them another name: {_strip_alias(text)} AS {column.name}_2",
            )
    return [*columns.values()]


def _strip_alias(text: str) -> str:
    """Return the part of a requested reference before AS."""
    return next((reference for reference, _ in split_alias(text)), text)


def _select_sources(request: Request, resolver: NameResolver) -> tuple[Catalog, list[ProvidedAttribute]]:
    """Return the requested sources as a catalog, and the criterion inputs from foreign catalogs."""
    if request.where is None or not request.where.strip():
        return request.sources, []
    inputs = [resolver.resolve_input(name) for name in names_in(request.where)]
    foreign = [attribute for attribute in inputs if attribute.provider is not request.sources]
    if not foreign:
        return verbs.select(request.sources, request.where), []
    addition = combine_providers(
        (attribute.provider, attribute.attribute.identity, attribute.name) for attribute in foreign
    )
    assert addition is not None, "foreign inputs exist"  # noqa: S101 - for the type checker
    addition = verbs.keep(addition, [attribute.name for attribute in foreign])
    return verbs.select(verbs.combine(request.sources, addition), request.where), foreign


def _check_criterion_coverage(
    scene: Scene, request: Request, sources: Catalog, criterion_inputs: Sequence[ProvidedAttribute]
) -> None:
    """Check that sources without the criterion's inputs may be left out: the criterion is not true for them.

    Raises
    ------
    NotCoveredError
        If the criterion may be true for a source without an input, and the request does not drop these sources.
    """
    by_provider: dict[Catalog, list[str]] = {}
    for attribute in criterion_inputs:
        by_provider.setdefault(attribute.provider, []).append(attribute.name)
    for provider, names in by_provider.items():
        if request.missing == "drop" or scene.lies_in(request.sources.extent, provider.extent):
            continue
        where = request.where or ""
        if not requires_attributes(where, sources.dependencies[0].schema, names):
            statement = scene.state_inside(request.sources.extent, provider.extent)
            raise NotCoveredError(
                names[0],
                f"not all sources of {request.sources_name or request.sources.digest[:12]} are proved to have "
                f"{names[0]}, and a source without it may satisfy {' '.join(where.split())}",
                scene.known.knowledge.counterexample(statement),
                hint=_make_cover_hint(f"exclude the others: AND {backquoted(names[0])} IS NOT NULL, or ", "drop"),
            )


def requires_attributes(where: str, schema: Schema, names: Sequence[str]) -> bool:
    """Return whether a criterion is not true for a source that has none of the named attributes."""
    attributes = {**schema, **{name: replace(schema[name], nullable=True) for name in names}}
    criterion = parse_criterion(where, attributes)
    any_present = parse_criterion(" OR ".join(f"{backquoted(name)} IS NOT NULL" for name in names), attributes)
    atoms = [*criterion.atoms, *any_present.atoms]
    known = {
        attribute.identity: DefinedAttribute(attribute.identity, attribute.type, attribute.nullable)
        for attribute in attributes.values()
    }
    reduced = derive_term_facts(atoms, known.get)
    reductions = (fact.statement for fact in reduced.facts)
    facts = [*reductions, *reduced.relations, *order_facts([*atoms, *reduced.atoms])]
    return Knowledge(facts, open_universe=False).entails(subset(criterion.true, any_present.true))


def _combine_attributes(request: Request, sources: Catalog, provided: Sequence[ProvidedAttribute]) -> Catalog:
    """Return a catalog of the sources with all requested attributes under their requested names."""
    names = [attribute.name for attribute in provided]
    own = [attribute for attribute in provided if attribute.provider is request.sources]
    kept = [
        attribute
        for attribute in own
        if any(candidate == attribute.attribute for candidate in sources.schema.matching(attribute.name))
    ]
    by_provider: dict[Catalog, list[ProvidedAttribute]] = {}
    for attribute in provided:
        if attribute not in kept:
            by_provider.setdefault(sources if attribute in own else attribute.provider, []).append(attribute)
    parts = [verbs.keep(sources, [attribute.name for attribute in kept])]
    for provider, group in by_provider.items():
        part = combine_providers((provider, attribute.attribute.identity, attribute.name) for attribute in group)
        assert part is not None, "the group is not empty"  # noqa: S101 - for the type checker
        parts.append(verbs.keep(part, [attribute.name for attribute in group]))
    return parts[0] if len(parts) == 1 else verbs.keep(verbs.combine(*parts), names)


def _fill_missing(
    sources: Catalog, foreign: Sequence[ProvidedAttribute], uncovered: Sequence[ProvidedAttribute]
) -> PlanStep:
    """Return steps with all sources, and with NULL for missing attributes.

    Attributes of all sources come last, so that these are computed once and not for each part.
    """
    step = build_step(sources)
    by_extent: dict[str, list[ProvidedAttribute]] = {}
    for attribute in uncovered:
        by_extent.setdefault(attribute.provider.extent.digest, []).append(attribute)
    for group in by_extent.values():
        provider_steps = _build_provider_steps(group)
        missing = {attribute.attribute.identity: attribute.attribute for attribute in group}
        rest = Fill(Exclude(step, provider_steps[0]), tuple(missing.values()))
        step = Concat.of([Combine((step, *provider_steps)), rest], {**step.attributes, **missing}.values(), step.extent)
    covered = _build_provider_steps([attribute for attribute in foreign if attribute not in uncovered])
    return Combine((step, *covered)) if covered else step


def _build_provider_steps(provided: Sequence[ProvidedAttribute]) -> list[PlanStep]:
    """Return the literal step of each provider."""
    providers = {attribute.provider.digest: attribute.provider for attribute in provided}
    return [build_step(provider) for provider in providers.values()]


def _list_columns(request: Request, provided: Sequence[ProvidedAttribute]) -> tuple[Attribute, ...]:
    """Return the columns of the result: the key, then the requested attributes."""
    columns = [replace(attribute.attribute, name=attribute.name) for attribute in provided]
    identities = {attribute.identity for attribute in columns}
    key = [attribute for attribute in request.sources.schema.key if attribute.identity not in identities]
    return (*key, *columns)


def _check_names(request: Request, provided: Sequence[ProvidedAttribute]) -> None:
    """Refuse a request without attributes, or with a column named like the key."""
    if not provided:
        raise TargetError("no attributes requested", hint="name at least one; the key is included")
    key = {attribute.name: attribute.identity for attribute in request.sources.schema.key}
    for attribute in provided:
        if key.get(attribute.name, attribute.attribute.identity) != attribute.attribute.identity:
            raise TargetError(
                f"{attribute.name} is both the key of {request.sources_name} and another attribute",
                hint=f"give it another name: … AS {attribute.name}_2",
            )


def _make_coverage_error(
    scene: Scene, sources: Catalog, attribute: ProvidedAttribute, request: Request
) -> NotCoveredError:
    """Return the error for an attribute that some source may lack, with a counterexample."""
    statement = scene.state_inside(sources.extent, attribute.provider.extent)
    world = scene.known.knowledge.counterexample(statement)
    return NotCoveredError(
        attribute.name,
        f"not all sources of {request.sources_name or sources.digest[:12]} are proved to have {attribute.name}",
        world,
        hint=_make_cover_hint("", "null", "drop"),
    )


_MISSING: Final = {"null": "keep the others without a value", "drop": "leave the others out"}


def _make_cover_hint(otherwise: str, *choices: str) -> Hint:
    """Return the hint for an attribute that some sources may lack, with the values of `missing` that help."""
    start = f"declare that they have it, if they do; or {otherwise}"
    return Hint(
        start + ", or ".join(f'{_MISSING[choice]} (missing="{choice}")' for choice in choices),
        command=start + ", or ".join(f"{_MISSING[choice]} (--missing {choice})" for choice in choices),
        page=start + ", or ".join(_MISSING[choice] for choice in choices),
    )


def _build_plan(problem: PlanningProblem, scene: Scene) -> Plan:
    """Rewrite the literal steps of a problem, and return the plan."""
    covering = tuple(scene.used_statements)
    scene.note_definitions(problem.before)
    after, applied = rewrite_plan(problem.before, problem.needed, scene)
    check_plan_size(after, problem.what)
    return Plan(
        problem.what,
        problem.catalog,
        problem.provided,
        problem.created,
        problem.columns,
        problem.before,
        after,
        applied,
        scene,
        coverage=covering,
    )
