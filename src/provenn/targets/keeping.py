"""The parts of a plan to keep: all calculator outputs, for all sources in the calls.

The rows of a calculation become a separate fragment, together with further attributes that are needed at this step, and
with the attributes by which the plan selects sources: then the fragment alone tells the sources of a narrower request.
Later steps of the plan, for example a selection by the result or a match, do not change the outputs. So no later
request calls a calculator again for the same source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import contains
from typing import Literal

from provenn.catalogs import Attribute, Catalog, cone, list_joined_bases
from provenn.catalogs.extent import union
from provenn.catalogs.images import Image
from provenn.catalogs.references import Reference
from provenn.criteria import AttributeIdentity
from provenn.targets.fragment_homes import Referring, add_attributes, define_sources
from provenn.targets.plan import Plan
from provenn.targets.reference_steps import Partnered
from provenn.targets.steps import (
    Calculate,
    Concat,
    Derive,
    Fill,
    FragmentScan,
    PlanStep,
    Scan,
    Select,
    find_condition_attributes,
    find_key,
    walk_steps,
)
from provenn.targets.supplies import build_key_step

__all__ = ["Keep", "KeptPart", "find_parts_to_keep", "find_parts_to_store"]

Keep = Literal["always", "worthwhile", "never"]
"""Which results to keep: all results, results of Python calculators only, or none."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A step with rows to keep.

    Parameters
    ----------
    step
        The step.
    catalog
        A catalog with the same sources.
    identities
        The identities of the kept attributes without the key; the catalog has all of these attributes.
    """

    step: PlanStep
    catalog: Catalog
    identities: frozenset[AttributeIdentity]

    @property
    def computed(self) -> dict[AttributeIdentity, Attribute]:
        """The calculator outputs by identity, or else all kept attributes: concurrent runs wait for these."""
        outputs = {output.identity: output for step in _find_calculations(self.step) for output in step.outputs}
        attributes = self.catalog.schema.by_identity
        return outputs or {identity: attributes[identity] for identity in self.identities}


def find_parts_to_keep(plan: Plan, keep: Keep) -> list[KeptPart]:
    """Return the parts of a plan to keep, inputs first.

    Stored parts are not included. NULL for a missing attribute is not a value, and is not kept.
    """
    if keep == "never" or plan.empty:
        return []
    finder = _PartFinder(plan)
    steps = list(finder.find_costly_steps(plan.after, plan.needed))
    parts = finder.build_parts(steps)
    if parts or plan.catalog is None or _is_stored(plan.after) or (keep == "worthwhile" and not steps):
        return parts
    return [KeptPart(plan.after, plan.catalog, plan.needed)]


def find_parts_to_store(plan: Plan, catalog: Catalog) -> list[KeptPart]:
    """Return the parts to keep when the whole result is stored for a catalog; the result comes last."""
    finder, outputs = _PartFinder(plan), _find_outputs(plan.after)
    extended = add_attributes(catalog, sorted(outputs), finder.find_known_catalogs(plan.after))
    identities = frozenset(extended.schema.by_identity.keys() & (plan.needed | outputs))
    return [
        *finder.build_parts(finder.find_lost_steps(plan.after, plan.needed)),
        KeptPart(plan.after, extended, identities),
    ]


_NeededStep = tuple[PlanStep, frozenset[AttributeIdentity]]
"""A step, with the identities of the attributes needed of it."""


class _PartFinder:
    """Finds the parts of a plan to keep."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.catalogs = {catalog.digest: catalog for catalog in cone(*plan.scene.catalogs)}

    @cached_property
    def selecting(self) -> frozenset[AttributeIdentity]:
        """The attributes by which the plan selects sources: kept, so that a narrower request needs no join."""
        selections = (step for step in walk_steps(self.plan.after) if isinstance(step, Select))
        return frozenset().union(*(find_condition_attributes(step.condition) for step in selections))

    def find_costly_steps(self, step: PlanStep, needed: frozenset[AttributeIdentity]) -> Iterator[_NeededStep]:
        """Yield the steps with calculator outputs, inputs first.

        A derivation or calculation carries the outputs of the input along; so does a disjoint union.
        """
        union_step = self._choose_union(step) if isinstance(step, Concat) else None
        if union_step is not None or isinstance(step, Derive | Calculate):
            yield from self.find_lost_steps(step, needed)
            if union_step is not None or _find_calculations(step):
                yield union_step or step, needed
        else:
            for input_step, read in zip(step.inputs, step.reads(needed), strict=True):
                yield from self.find_costly_steps(input_step, read)

    def find_lost_steps(self, step: PlanStep, needed: frozenset[AttributeIdentity]) -> Iterator[_NeededStep]:
        """Yield the steps below a step whose calculator outputs the step does not carry along."""
        while isinstance(step, Derive | Calculate):
            (needed,) = step.reads(needed)
            step = step.input
            if not isinstance(step, Derive | Calculate):
                yield from self.find_costly_steps(step, needed)
                return
        for position, (input_step, read) in enumerate(zip(step.inputs, step.reads(needed), strict=True)):
            is_carried = isinstance(step, Concat) and self._carries(step, position)
            yield from (
                self.find_lost_steps(input_step, read) if is_carried else self.find_costly_steps(input_step, read)
            )

    def _choose_union(self, step: Concat) -> Concat | None:
        """Return the union to keep for the calculated members of a union; None if each member is kept by itself.

        Often the members are all sources outside a fragment. If no catalog has exactly these sources, for example
        because only a match tells the sources apart, the whole union is kept: its stored sources are then stored twice,
        and no source is calculated twice.
        """
        joined = self._join_calculated_members(step)
        calculated = [position for position, member in enumerate(step.members) if _find_calculations(member)]
        parts = [joined] if joined is not None else [step.members[position] for position in calculated]
        if all(self._has_home(part) for part in parts) or not all(
            self._carries(step, position) for position in calculated
        ):
            return joined
        return step if self._has_home(step) else joined

    def _has_home(self, step: PlanStep) -> bool:
        """Return whether a catalog can be made with the sources of a step."""
        return step is self.plan.after or self._define_home(step, self.find_known_catalogs(step)) is not None

    def _join_calculated_members(self, step: Concat) -> Concat | None:
        """Return the union of all members with calculator outputs.

        None if there are fewer than two such members, or if the union does not carry all outputs.
        """
        positions = [position for position, member in enumerate(step.members) if _find_calculations(member)]
        if len(positions) < 2 or not all(self._carries(step, position) for position in positions):
            return None
        if len(positions) == len(step.members):
            return step
        columns = tuple(
            (attribute, tuple(identities[position] for position in positions)) for attribute, identities in step.columns
        )
        members = tuple(step.members[position] for position in positions)
        return Concat(members, columns, True, union(member.extent for member in members))

    def _carries(self, step: Concat, position: int) -> bool:
        """Return whether a union has all calculator outputs of a member, and so can serve the member."""
        outputs = _find_outputs(step.members[position])
        serving = {
            identities[position]
            for attribute, identities in _list_full_columns(step)
            if attribute.identity == identities[position] or self._serves(attribute)
        }
        return step.is_disjoint and bool(outputs) and outputs <= serving

    def _serves(self, attribute: Attribute) -> bool:
        """Return whether a stored attribute in pieces can serve each member; see `provenn.targets.supplies`."""
        return all(
            build_key_step(self.catalogs[piece.member]) is not None and self._serves(piece.attribute)
            for piece in attribute.all_pieces
        )

    def build_parts(self, steps: Iterable[_NeededStep]) -> list[KeptPart]:
        """Return the storable parts among some steps, each once."""
        parts = {step.signature: self._build_part(step, needed) for step, needed in steps}
        return [part for part in parts.values() if part is not None]

    def _build_part(self, step: PlanStep, needed: frozenset[AttributeIdentity]) -> KeptPart | None:
        """Return the part for a step, or None if no catalog can be made with its sources."""
        known = self.find_known_catalogs(step)
        sources = self.plan.catalog if step is self.plan.after else self._define_home(step, known)
        if sources is None:
            return None
        missing = {
            attribute.identity
            for descendant in walk_steps(step)
            if isinstance(descendant, Fill)
            for attribute in descendant.missing
        }
        useful, outputs = needed.union(self.selecting).intersection(step.attributes), _find_outputs(step)
        wanted = sorted((useful | outputs) - missing)
        catalog = add_attributes(sources, wanted, known)
        if not catalog.schema.by_identity.keys() >= outputs:
            catalog = add_attributes(self._find_equal_catalog(step, known) or sources, wanted, known)
        kept = frozenset(catalog.schema.by_identity.keys() & set(wanted))
        return KeptPart(step, catalog, kept) if kept >= outputs else None

    def _find_equal_catalog(self, step: PlanStep, known: Sequence[Catalog]) -> Catalog | None:
        """Return a catalog with a calculator output, and with the sources of a step as the data show; None without one.

        The plan may leave out a member that has all sources, while the attribute is defined for the sources of all.
        """
        scene, outputs = self.plan.scene, _find_outputs(step)
        having = (catalog for catalog in known if not outputs.isdisjoint(catalog.schema.by_identity))
        return next(
            (catalog for catalog in having if scene.is_certain(scene.state_equal(step.extent, catalog.extent))), None
        )

    def _define_home(self, step: PlanStep, known: Sequence[Catalog]) -> Catalog | None:
        """Return a catalog with the sources of a step, if possible one made from the base catalogs of the request.

        The files of another version of these may be gone, and a fragment is not stored if files of its catalog are.
        """
        lineage = {catalog.digest for catalog in ([] if self.plan.catalog is None else cone(self.plan.catalog))}
        lineage |= {scan.base.digest for scan in walk_steps(step) if isinstance(scan, Scan)}
        own = [catalog for catalog in known if catalog.digest in lineage]
        referring = self._find_referring(step)
        home = define_sources(step.extent, own, referring)
        if home is not None or not any(
            list_joined_bases(catalog) is not None for catalog in own if catalog.dependencies
        ):
            return home or define_sources(step.extent, known, referring)
        scene = self.plan.scene
        return next(
            (catalog for catalog in own if scene.is_proved(scene.state_equal(step.extent, catalog.extent))), None
        )

    def _find_referring(self, step: PlanStep) -> dict[str, Referring]:
        """Return the catalogs that refer to sources of a step and so limit it, by the label of their partners."""
        referring: dict[str, Referring] = {}
        for partnered in walk_steps(step):
            partners = self.find_known_catalogs(partnered) if isinstance(partnered, Partnered) else ()
            if not isinstance(partnered, Partnered) or not partners:
                continue
            reference = Reference(partnered.others, partners[0].population.name)
            for image in Image(reference, partnered.other.extent).parts:
                members = define_sources(image.members, self.find_known_catalogs(partnered.other), referring)
                attributes = {} if members is None else members.schema.by_identity
                if members is not None and attributes.keys() >= set(reference.identities):
                    names = tuple(attributes[identity].name for identity in reference.identities)
                    referring[image.label] = Referring(members, names)
        return referring

    def find_known_catalogs(self, step: PlanStep) -> list[Catalog]:
        """Return the catalogs of the plan with the same population as a step; those of the request first."""
        key = set(find_key(step.attributes))
        requested = (
            {} if self.plan.catalog is None else {catalog.digest: catalog for catalog in cone(self.plan.catalog)}
        )
        scanned = {scan.base.digest: scan.base for scan in walk_steps(step) if isinstance(scan, Scan)}
        return [
            catalog
            for catalog in (requested | scanned | self.catalogs).values()
            if {attribute.identity for attribute in catalog.schema.key} == key
        ]


def _find_calculations(step: PlanStep) -> list[Calculate]:
    """Return the calculations whose outputs a step carries along for all rows of their calls."""
    if isinstance(step, Concat) and step.is_disjoint:
        return [calculation for member in step.members for calculation in _find_calculations(member)]
    calculations: list[Calculate] = []
    while isinstance(step, Derive | Calculate):
        calculations += [step] if isinstance(step, Calculate) else []
        step = step.input
    return calculations


def _find_outputs(step: PlanStep) -> set[AttributeIdentity]:
    """Return the identities under which a step has calculator outputs."""
    if not (isinstance(step, Concat) and step.is_disjoint):
        return {output.identity for calculation in _find_calculations(step) for output in calculation.outputs}
    member_outputs = [_find_outputs(member) for member in step.members]
    return {
        attribute.identity
        for attribute, identities in _list_full_columns(step)
        if any(map(contains, member_outputs, identities))
    }


def _list_full_columns(step: Concat) -> list[tuple[Attribute, tuple[AttributeIdentity, ...]]]:
    """Return the columns of a union that all members have; a member from a fragment may have only what is needed."""
    return [
        (attribute, identities)
        for attribute, identities in step.columns
        if all(identity in member.attributes for member, identity in zip(step.members, identities, strict=True))
    ]


def _is_stored(step: PlanStep) -> bool:
    """Return whether a step only reads fragments unchanged."""
    return isinstance(step, FragmentScan) or (isinstance(step, Concat) and all(map(_is_stored, step.members)))
