"""From a request to a plan: discover, create, rewrite. Nothing is computed, and nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from provenn.catalogs import Attribute, Base, Catalog, CombineAttributes, KeepAttributes, Schema, SelectSources, cone
from provenn.criteria import backquoted, names_in, order_facts, parse_criterion, split_alias
from provenn.errors import NotCoveredError, TargetError
from provenn.logic import Knowledge, subset
from provenn.store import catalog_store, counts, fragments, verifications
from provenn.store.concatenations import joined_below
from provenn.store.database import Reading
from provenn.store.facts import fact
from provenn.targets.known import known_of
from provenn.targets.literal import literal
from provenn.targets.naming import NameResolver
from provenn.targets.plan import Plan
from provenn.targets.providers import Provided, brought_together
from provenn.targets.rewriting import rewritten
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, Concat, Exclude, Fill, Step, Stored, is_key, walk

__all__ = ["Missing", "Request", "plan_catalog", "plan_request", "without_declared", "without_fragments"]

Missing = Literal["error", "null", "drop"]
"""What becomes of sources that are not proved to have an attribute: an error; they have none; they are left out."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    Parameters
    ----------
    sources
        The catalog whose sources are meant.
    attributes
        The attributes: names, or references such as ``DR1.z AS z_dr1``.
    where
        A criterion on the sources, or None.
    missing
        What becomes of sources that are not proved to have an attribute.
    called
        What the sources are called.
    """

    sources: Catalog
    attributes: tuple[str, ...]
    where: str | None = None
    missing: Missing = "error"
    called: str = ""


def plan_catalog(reading: Reading, catalog: Catalog, what: str) -> Plan:
    """Plan how to compute a catalog: all its attributes, for all its sources.

    Raises
    ------
    TargetError
        If its lineage is too deep.
    """
    provided = tuple(Provided(one.name, one, catalog, "it has it") for one in catalog.schema.attributes)
    with _deep_enough(what):
        asked = _Asked(what, catalog, literal(catalog), catalog.schema.attributes, provided)
        return _planned(asked, _scene(reading, asked))


def plan_request(reading: Reading, request: Request) -> Plan:
    """Plan how to answer a request.

    Raises
    ------
    TargetError
        If an attribute is not found, or may be several; or if the lineage is too deep.
    NotCoveredError
        If not all sources are proved to have an attribute, and that is to be an error.
    """
    with _deep_enough(request.called or request.sources.digest[:12]):
        return _plan_request(reading, request)


def _plan_request(reading: Reading, request: Request) -> Plan:
    what = request.called or request.sources.digest[:12]
    resolver = NameResolver(reading, request.sources, what)
    sources, deciding = _sources(request, resolver)
    provided = _requested(request, resolver)
    others = [one for one in provided if one.provider is not request.sources]
    _check_names(request, provided)
    catalog = _combined(request, sources, provided)
    if sources is not request.sources:
        what += f" where {' '.join((request.where or '').split())}"
    columns, created = _columns(request, provided), resolver.providers.created((*deciding, *provided))
    extra = (sources, *(one.provider for one in others))
    asked = _Asked(what, catalog, literal(catalog), columns, tuple(provided), created, extra)
    scene = _scene(reading, asked)
    _check_deciding(scene, request, sources, deciding)
    uncovered = [one for one in others if not scene.lies_in(sources.extent, one.provider.extent)]
    if uncovered and request.missing == "error":
        raise _not_covered(scene, sources, uncovered[0], request)
    if request.missing == "drop":
        scene.leaned.clear()  # which sources have it is seen in the data
    if uncovered and request.missing == "null":
        asked = replace(asked, catalog=None, before=_filled(sources, others, uncovered))
    return _planned(asked, scene)


@contextmanager
def _deep_enough(what: str) -> Iterator[None]:
    """Tell people that a lineage is deeper than Python can follow."""
    try:
        yield
    except RecursionError:
        raise TargetError(
            f"the lineage of {what} has too many steps, one after the other, to be planned",
            hint="say it in fewer steps, or export a catalog on the way and ingest that",
        ) from None


def _requested(request: Request, resolver: NameResolver) -> list[Provided]:
    """Return the attributes that are asked for, each once.

    Raises
    ------
    TargetError
        If two of them would have one name.
    """
    columns: dict[str, Provided] = {}
    for text in dict.fromkeys(request.attributes):
        column = resolver.resolve_request(text)
        if columns.setdefault(column.name, column).attribute.identity != column.attribute.identity:
            raise TargetError(
                f"two different attributes would be called {column.name}",
                hint=f"give one of them another name: {_reference(text)} AS {column.name}_2",
            )
    return [*columns.values()]


def _reference(text: str) -> str:
    """Return what is before AS in what was asked for."""
    return next((reference for reference, _ in split_alias(text)), text)


def _sources(request: Request, resolver: NameResolver) -> tuple[Catalog, list[Provided]]:
    """Return the sources that are asked for, as a catalog, and what others provide of what the criterion reads."""
    if request.where is None or not request.where.strip():
        return request.sources, []
    inputs = [resolver.resolve_input(name) for name in names_in(request.where)]
    others = [provided for provided in inputs if provided.provider is not request.sources]
    if not others:
        return SelectSources.of(request.sources, request.where), []
    more = brought_together((provided.provider, provided.attribute.identity, provided.name) for provided in others)
    assert more is not None, "there are others"  # noqa: S101 - for the type checker
    more = KeepAttributes.of(more, [provided.name for provided in others])
    return SelectSources.of(CombineAttributes.of(request.sources, more), request.where), others


def _check_deciding(scene: Scene, request: Request, sources: Catalog, deciding: Sequence[Provided]) -> None:
    """Make sure that sources which do not have what the criterion reads may be left out: it is not true for them.

    Raises
    ------
    NotCoveredError
        If it may be true for a source without that, and such sources are not to be dropped.
    """
    by_provider: dict[Catalog, list[str]] = {}
    for one in deciding:
        by_provider.setdefault(one.provider, []).append(one.name)
    for provider, names in by_provider.items():
        if request.missing == "drop" or scene.lies_in(request.sources.extent, provider.extent):
            continue
        where = request.where or ""
        if not _needs(where, sources.dependencies[0].schema, names):
            said = scene.inside(request.sources.extent, provider.extent)
            raise NotCoveredError(
                names[0],
                f"not all sources of {request.called or request.sources.digest[:12]} are proved to have {names[0]}, "
                f"and one that has it not may fulfil {' '.join(where.split())}",
                scene.known.knowledge.counterexample(said),
                hint=f"declare that they have it, if they do; or leave the others out: AND {backquoted(names[0])} "
                'IS NOT NULL, or missing="drop"',
            )


def _needs(where: str, schema: Schema, names: Sequence[str]) -> bool:
    """Whether a criterion is not true for a source that has none of some attributes."""
    known = {**schema, **{name: replace(schema[name], nullable=True) for name in names}}
    criterion = parse_criterion(where, known)
    one = parse_criterion(" OR ".join(f"{backquoted(name)} IS NOT NULL" for name in names), known)
    return Knowledge(order_facts([*criterion.atoms, *one.atoms])).entails(subset(criterion.true, one.true))


def _combined(request: Request, sources: Catalog, provided: Sequence[Provided]) -> Catalog:
    """Return a catalog of sources with all that is asked for, each attribute under the name that it is to have."""
    names = [one.name for one in provided]
    own = [one for one in provided if one.provider is request.sources]
    kept = [one for one in own if any(each == one.attribute for each in sources.schema.matching(one.name))]
    by_provider: dict[Catalog, list[Provided]] = {}
    for one in provided:
        if one not in kept:
            by_provider.setdefault(sources if one in own else one.provider, []).append(one)
    parts = [KeepAttributes.of(sources, [one.name for one in kept])]
    for provider, several in by_provider.items():
        part = brought_together((provider, one.attribute.identity, one.name) for one in several)
        assert part is not None, "there are several"  # noqa: S101 - for the type checker
        parts.append(KeepAttributes.of(part, [one.name for one in several]))
    return parts[0] if len(parts) == 1 else KeepAttributes.of(CombineAttributes.of(*parts), names)


def _filled(sources: Catalog, others: Sequence[Provided], uncovered: Sequence[Provided]) -> Step:
    """Return steps that give all sources, with NULL for what they do not have.

    What all of them have comes last, so that it is not computed for each part by itself.
    """
    step = literal(sources)
    by_extent: dict[str, list[Provided]] = {}
    for one in uncovered:
        by_extent.setdefault(one.provider.extent.digest, []).append(one)
    for several in by_extent.values():
        giving = _literals(several)
        missing = {one.attribute.identity: one.attribute for one in several}
        rest = Fill(Exclude(step, giving[0]), tuple(missing.values()))
        step = Concat.of([Combine((step, *giving)), rest], {**step.attributes, **missing}.values(), step.extent)
    covered = _literals([one for one in others if one not in uncovered])
    return Combine((step, *covered)) if covered else step


def _literals(provided: Sequence[Provided]) -> list[Step]:
    return [literal(one) for one in {one.provider.digest: one.provider for one in provided}.values()]


def _columns(request: Request, provided: Sequence[Provided]) -> tuple[Attribute, ...]:
    named = [replace(one.attribute, name=one.name) for one in provided]
    asked = {one.identity for one in named}
    key = [one for one in request.sources.schema.key if one.identity not in asked]
    return (*key, *named)


def _check_names(request: Request, provided: Sequence[Provided]) -> None:
    if not provided:
        raise TargetError("no attribute is asked for", hint="name at least one; the key comes with it")
    key = {one.name: one.identity for one in request.sources.schema.key}
    for one in provided:
        if key.get(one.name, one.attribute.identity) != one.attribute.identity:
            raise TargetError(
                f"{one.name} is the key of {request.called}, and another attribute",
                hint=f"give it another name: … AS {one.name}_2",
            )


def _not_covered(scene: Scene, sources: Catalog, one: Provided, request: Request) -> NotCoveredError:
    said = scene.inside(sources.extent, one.provider.extent)
    world = scene.known.knowledge.counterexample(said)
    return NotCoveredError(
        one.name,
        f"not all sources of {request.called or sources.digest[:12]} are proved to have {one.name}",
        world,
        hint='declare that they have it, if they do; or choose: missing="null" (no value), missing="drop" (no source)',
    )


def without_fragments(plan: Plan, lost: Collection[int]) -> Plan:
    """Return the plan that answers the same without some fragments."""
    scene = replace(plan.scene, fragments=tuple(one for one in plan.scene.fragments if one.fragment.id not in lost))
    after, applied = rewritten(plan.before, plan.needed, scene)
    return replace(plan, after=after, applied=applied, scene=scene)


def without_declared(plan: Plan) -> Plan:
    """Return the plan that answers the same without any declared fact, and without what is stored that leans on one."""
    scene = plan.scene.without_declared()
    after, applied = rewritten(plan.before, plan.needed, scene)
    return replace(plan, after=after, applied=applied, scene=scene)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be planned: the first half of a `Plan`, and the other catalogs that matter."""

    what: str
    catalog: Catalog | None
    before: Step
    columns: tuple[Attribute, ...]
    provided: tuple[Provided, ...]
    created: tuple[Catalog, ...] = ()
    others: tuple[Catalog, ...] = ()

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(one.identity for one in self.columns if not is_key(one.identity))


def _scene(reading: Reading, asked: _Asked) -> Scene:
    """Return what is known of what is asked for, and of what is stored of it."""
    own = [*([] if asked.catalog is None else [asked.catalog]), *asked.others]
    lineage = cone(*own)
    stored = _stored(reading, asked.before, asked.needed, lineage)
    catalogs = (*lineage, *(one.catalog for one in stored))
    known = known_of(reading, *catalogs)
    held = {one.id for one in known.facts}
    leaned_on = {number for one in stored for number in one.fragment.facts} - held
    known = replace(known, facts=(*known.facts, *(fact(reading, number) for number in sorted(leaned_on))))
    declared = {one.id for one in known.facts if one.origin == "declared"}
    certain = [one for one in stored if declared.isdisjoint(one.fragment.facts)]
    return Scene(known, catalogs, tuple(stored), _rows(reading, catalogs, certain))


def _planned(asked: _Asked, scene: Scene) -> Plan:
    covering = tuple(scene.leaned)
    scene.learn(asked.before)
    after, applied = rewritten(asked.before, asked.needed, scene)
    return Plan(
        asked.what,
        asked.catalog,
        asked.provided,
        asked.created,
        asked.columns,
        asked.before,
        after,
        applied,
        scene,
        covering=covering,
    )


def _stored(reading: Reading, before: Step, needed: frozenset[str], lineage: Sequence[Catalog]) -> list[Stored]:
    """Return the fragments that may serve: those that hold an attribute which is asked for, or needed at any step."""
    given = set[str]().union(*(step.attributes for step in walk(before)))
    wanted = needed | (given - _columns_of(lineage))
    joined = joined_below(reading, [identity for identity in wanted if not is_key(identity)])
    found = fragments.with_attributes(reading, wanted | joined)
    catalogs = catalog_store.get_all(reading, sorted({one.catalog for one in found})) if found else {}
    return [Stored(one, catalogs[one.catalog]) for one in found]


def _columns_of(lineage: Sequence[Catalog]) -> set[str]:
    """Return the identities of what base catalogs hold: it is only worth looking for if it is asked for."""
    return {one.identity for base in lineage if isinstance(base, Base) for one in base.schema.attributes}


def _rows(reading: Reading, catalogs: Sequence[Catalog], stored: Sequence[Stored]) -> dict[str, int]:
    """Return how many sources extents have, by digest, where that is known, whatever was declared."""
    digests = [one.digest for one in catalogs]
    known = counts.known(reading, digests) | verifications.verified(reading, digests)
    found = {one.extent.digest: known[one.digest] for one in catalogs if one.digest in known}
    return found | {one.extent.digest: one.fragment.rows for one in stored}
