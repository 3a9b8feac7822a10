"""Random histories of requests: each answer is right, and no calculator is called for what is stored."""

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.catalogs import Catalog, KeepAttributes, SelectSources, cone
from provenn.catalogs.restoring import facts_of
from provenn.targets.keeping import KeptPart, find_parts_to_keep, find_parts_to_store
from provenn.targets.literal import build_step
from provenn.targets.plan import Plan
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.steps import FragmentScan
from tests.catalogs.samples import Rows, Table, base
from tests.targets.scenes import needed, scene_of, stored
from tests.targets.simulated import (
    Sky,
    by_identity,
    calculate_table,
    concatenate_tables,
    random_days,
    random_number,
    random_sky,
)


class History:
    """An archive in memory: what was asked for, and what was stored of it.

    Parameters
    ----------
    sky
        The catalogs.
    """

    def __init__(self, sky: Sky) -> None:
        self.sky = sky
        self.fragments: list[FragmentScan] = []

    def plan(self, catalog: Catalog) -> Plan:
        """Plan a catalog with all that is stored."""
        scene = scene_of(catalog, fragments=self.fragments, facts=self.sky.facts)
        before = build_step(catalog)
        scene.note_definitions(before)
        after, applied = rewrite_plan(before, needed(catalog), scene)
        assert len(applied) < 60, "it comes to an end by itself"
        return Plan("", catalog, (), (), catalog.schema.attributes, before, after, applied, scene)

    def ask(self, catalog: Catalog, rows: Rows, keep: str) -> None:
        """Ask for a catalog, keep what is to be kept, and check all of it."""
        plan, done = self.plan(catalog), set[int]()
        while left := [one for one in self._parts(plan, keep) if one.step.signature not in done]:
            self._store(left[0], keep)
            done.add(left[0].step.signature)
            whole, plan = left[0].step is plan.after, self.plan(catalog)
            if whole and keep in ("store", "earlier"):
                break
        found = self.sky.carry_out(plan.after, plan.needed)
        # A set that is defined by a calculated value may be computed once more to leave it out, if nothing is kept.
        self._check_calls(once=keep != "never")
        if keep not in ("never", "earlier"):
            assert not _by_row(plan), "all is kept"
        expected = by_identity(catalog, rows)
        wanted = {one.identity for one in catalog.schema.attributes}
        assert {key: {one: row[one] for one in wanted} for key, row in found.items()} == expected

    def _parts(self, plan: Plan, keep: str) -> list[KeptPart]:
        if keep == "earlier":  # as version 0.1 kept it: what was asked for, and no other output
            return [] if plan.empty else [KeptPart(plan.after, plan.catalog, plan.needed)]
        return find_parts_to_store(plan, plan.catalog) if keep == "store" else find_parts_to_keep(plan, keep)

    def _store(self, part: KeptPart, keep: str) -> None:
        rows = self.sky.carry_out(part.step, part.identities)
        self._check_calls(once=keep != "earlier")
        for one in cone(part.catalog):
            self.sky.note_definitions(
                facts_of(one.kind, one.digest, [each.digest for each in one.dependencies], one.parameters())[1]
            )
        assert set(rows) == self.sky.sources(part.catalog.extent), "the fragment has the sources of its catalog"
        for key, row in rows.items():
            assert all(row[one] == self.sky.values[one][key] for one in part.identities), "and their values"
        number = len(self.fragments) + 1
        fragment = stored(part.catalog, sorted(part.identities), number=number, rows=len(rows))
        self.sky.contents[number] = {key: {one: row[one] for one in fragment.attributes} for key, row in rows.items()}
        self.fragments.append(fragment)

    def _check_calls(self, *, once: bool = True) -> None:
        """No calculator row by row was called for a source of which all that was needed is stored; or twice."""
        known = self.sky.stored(self.fragments)
        for (outputs, key), times in self.sky.called.items():
            assert not all((one, key) in known for one in outputs), "it is stored"
            assert times == 1 or not once, "it is computed once"
        self.sky.called = Counter()


def _by_row(plan: Plan) -> bool:
    return any(not one.is_catalog_wide for one in plan.calculations)


def test_what_is_stored_serves_members_that_are_selected_by_a_stored_value():
    """Y and z of all stars are stored: y of a concatenation with the stars of some z is read, not calculated."""
    rng = Random(3)
    stars, others = (
        Table(base(tag), {key: {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)} for key in keys})
        for tag, keys in (("stars", range(6)), ("others", range(4, 10)))
    )
    with_z, with_y = calculate_table(stars, "z"), calculate_table(stars, "y")
    low = {key: row for key, row in with_z.rows.items() if row["z"] is not None and row["z"] < 5}
    chosen = Table(SelectSources.of(with_z.catalog, "z < 5"), low)
    both = concatenate_tables(chosen, others)
    asked = calculate_table(both, "y")
    history = History(Sky([stars, others, with_z, with_y, chosen, both, asked]))
    for table in (with_z, with_y, asked):
        history.ask(table.catalog, table.rows, "always")


KEEP = ("worthwhile", "worthwhile", "earlier", "earlier", "always", "store", "never")


def random_history(rng: Random) -> tuple[Sky, list[tuple[Catalog, Rows, str]]]:
    """A sky, and what is asked of it, one after the other."""
    sky = rng.choice([random_sky, random_days])(rng)
    costly = [one for one in sky.tables if {"z", "ez", "y", "ey"}.intersection(one.catalog.schema.names)]
    requests = []
    for _ in range(rng.randint(3, 8)):
        one = rng.choice(costly or sky.tables)
        catalog, rows = one.catalog, one.rows
        if rng.random() < 0.5:
            names = [name for name in catalog.schema.names if name in ("z", "ez", "y", "ey", "w")]
            catalog = KeepAttributes.of(catalog, rng.sample(names, rng.randint(0, len(names))))
            rows = {key: {name: row[name] for name in catalog.schema.names} for key, row in rows.items()}
        requests.append((catalog, rows, rng.choice(KEEP)))
    return sky, requests


@pytest.mark.parametrize(
    "examples", [pytest.param(40, id="quick"), pytest.param(20000, id="campaign", marks=pytest.mark.campaign)]
)
def test_answers_are_right_and_nothing_that_is_stored_is_computed_again(examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        sky, requests = random_history(rng)
        history = History(sky)
        for catalog, rows, keep in requests:
            history.ask(catalog, rows, keep)

    check_one()
