"""References that must lead somewhere: the unverified lookups of a plan, and the sources without a partner.

A lookup with ``missing="error"`` has the sources of its parent with a partner. When data are first used, a run verifies
that all sources of the parent have a partner, as for keys, and records an observed fact: until then, nothing rests on
the claim.
"""

from __future__ import annotations

from provenn.catalogs import Catalog, cone, verbs
from provenn.catalogs.catalog import PartnerLookup
from provenn.database.transactions import Reading
from provenn.targets.literal import build_step
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_steps
from provenn.targets.planning_problem import PlanningProblem
from provenn.targets.reference_steps import Lookup, Partnered
from provenn.targets.steps import walk_steps

__all__ = ["find_unverified_lookups", "plan_missing_partners"]


def find_unverified_lookups(plan: Plan) -> list[PartnerLookup]:
    """Return the lookups in a plan whose sources must have a partner each, but are not proved to have partners."""
    followed = {
        step.reference.identities if isinstance(step, Lookup) else step.own
        for step in walk_steps(plan.after)
        if isinstance(step, Lookup | Partnered)
    }
    if not followed:
        return []
    requested: list[Catalog] = [attribute.provider for attribute in plan.provided]
    requested += [] if plan.catalog is None else [plan.catalog]
    return [
        lookup
        for catalog in cone(*requested)
        if (lookup := catalog.find_lookup()) is not None
        and lookup.requires_partners
        and lookup.reference.identities in followed
        and not plan.scene.lies_in(lookup.parent.extent, lookup.extent)
    ]


def plan_missing_partners(reading: Reading, lookup: PartnerLookup, what: str) -> Plan:
    """Return the plan of the sources of a lookup's parent that have no partner, with their references."""
    parent, reference = lookup.parent, lookup.reference
    names = lookup.find_names()
    partnered = verbs.lookup(parent, lookup.other, on=names, attributes=[], missing="drop")
    catalog = verbs.keep(verbs.exclude(parent, partnered), names)
    key = tuple(attribute.identity for attribute in lookup.other.schema.key)
    step = Partnered(build_step(parent), build_step(lookup.other), reference.identities, key, False, catalog.extent)
    return plan_steps(reading, PlanningProblem(what, catalog, step, catalog.schema.attributes, ()))
