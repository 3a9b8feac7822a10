"""The laws of references: preimages and images of small random sets along small random functions, by brute force."""

import math
from collections.abc import Callable
from random import Random

import pytest

from provenn.catalogs.extent import Extent, everything, leaf
from provenn.catalogs.images import Image, Ranking, find_members, parse_image_label, parse_ranking_label
from provenn.catalogs.preimages import lift_atom, lift_extent, lift_set, lower_atom, lower_extent, split_group_parts
from provenn.catalogs.references import Reference, lift_identity, lift_label, split_identity, split_label
from provenn.catalogs.set_labels import is_criterion, is_derived_set
from provenn.criteria import Atom
from provenn.digests import content_digest

ODD = 'it\'s `a` [0], "b": é\\u0060 in ('
OBJECTS = Reference((f"d:{ODD}",), "object")
GALAXIES = Reference(("o:gal",), f"gal {ODD}")
PARENTS = Reference(("o:parent",), "object")
D, D2, O, O2, G = (content_digest("catalog", name) for name in ("D", "D2", "O", "O2", "G"))


class SmallWorld:
    """Detections with objects, objects with galaxies and parents; each object and galaxy may be in no catalog.

    Parameters
    ----------
    random
        Decides about all functions and sets.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        things = range(5)
        maybe = [None, *things]
        self.objects = {source: random.choice(maybe) for source in range(7)}
        self.galaxies = {source: random.choice(maybe) for source in things}
        self.parents = {source: random.choice(maybe) for source in things}
        self.mags = {source: random.choice([None, 0, 1, 2]) for source in range(7)}
        self.vmags = {source: random.choice([None, 0, 1, 2]) for source in things}
        self.sets = {label: {n for n in range(7 if label in (D, D2) else 5) if random.random() < 0.7}
                     for label in (D, D2, O, O2, G)}  # fmt: skip

    @property
    def detections(self) -> frozenset[int]:
        return frozenset(range(7))

    def draw_detections(self, depth: int = 2) -> Extent:
        """Draw a set of detections."""
        if depth == 0:
            part = self.random.choice([self.draw_objects(1), self.draw_objects(0)])
            return self.random.choice(
                [leaf(D), leaf(D2), leaf("`d:mag` < 1L"), leaf(f"`{OBJECTS.identities[0].replace('`', '``')}` < 3L"),
                 lift_extent(OBJECTS, part)]
            )  # fmt: skip
        return self.random.choice(_OPERATIONS)(self.draw_detections(depth - 1), self.draw_detections(depth - 1))

    def draw_objects(self, depth: int = 2) -> Extent:
        """Draw a set of objects."""
        if depth == 0:
            return self.random.choice(
                [leaf(O), leaf(O2), leaf("`o:vmag` < 1L"), leaf("`key:object:0` < 3L"), lift_extent(GALAXIES, leaf(G)),
                 lift_extent(PARENTS, leaf("`o:vmag` < 2L")), lift_extent(PARENTS, leaf(O2))]
            )  # fmt: skip
        return self.random.choice(_OPERATIONS)(self.draw_objects(depth - 1), self.draw_objects(depth - 1))

    def find_detections(self, extent: Extent) -> frozenset[int]:
        """Return the detections in an extent, read from the texts of its labels."""
        return frozenset(source for source in self.detections if self._holds(extent, self._detection_is_in, source))

    def find_objects(self, extent: Extent) -> frozenset[int]:
        """Return the objects in an extent."""
        return frozenset(source for source in range(5) if self._holds(extent, self._object_is_in, source))

    def _holds(self, extent: Extent, is_in: Callable[[str, int], bool], source: int) -> bool:
        here = frozenset([source])
        return bool(extent.evaluate(lambda label: here if is_in(label, source) else frozenset(), here))

    def _detection_is_in(self, label: str, source: int) -> bool:
        if label in self.sets:
            return source in self.sets[label]
        if label == "`d:mag` < 1L":
            return self.mags[source] is not None and self.mags[source] < 1
        partner = self.objects[source]
        if partner is None:
            return False
        for inner in _OBJECT_LABELS:  # a criterion on the key of the partner is one on the reference
            if label == lift_set(OBJECTS, inner):
                return self._object_is_in(inner, partner)
        raise AssertionError(label)

    def _object_is_in(self, label: str, source: int) -> bool:
        if label in self.sets:
            return source in self.sets[label]
        if label == "`key:object:0` < 3L":
            return source < 3
        if label in ("`o:vmag` < 1L", "`o:vmag` < 2L"):
            return self.vmags[source] is not None and self.vmags[source] < int(label[-2])
        if label == lift_label(GALAXIES, G):
            return self.galaxies[source] in self.sets[G]
        parent = self.parents[source]
        if label == lift_label(PARENTS, O2):
            return parent in self.sets[O2]
        if label == lift_set(PARENTS, "`o:vmag` < 2L"):
            return parent is not None and self._object_is_in("`o:vmag` < 2L", parent)
        image = parse_image_label(label)
        assert image is not None, label
        return source in self.images[label]

    images: dict[str, frozenset[int]]

    def point(self, sources: frozenset[int]) -> frozenset[int]:
        """Return the partners of detections."""
        return frozenset(partner for source in sources if (partner := self.objects[source]) is not None)


_OPERATIONS = (Extent.__and__, Extent.__or__, Extent.__sub__, Extent.__and__)
_OBJECT_LABELS = (
    *(O, O2, "`o:vmag` < 1L", "`key:object:0` < 3L"),
    *(lift_label(GALAXIES, G), lift_set(PARENTS, "`o:vmag` < 2L"), lift_label(PARENTS, O2)),
)
SEEDS = range(400)


def test_the_preimage_of_an_extent_holds_the_sources_whose_partner_is_in_it():
    """Preimages commute with all operations, because each leaf is lifted by itself; in some catalog, to be sure."""
    for seed in SEEDS:
        world = SmallWorld(Random(seed))
        extent = world.draw_objects(3) & (leaf(O) | leaf(O2))
        partners = world.find_objects(extent)
        preimage = {source for source in world.detections if world.objects[source] in partners}
        assert world.find_detections(lift_extent(OBJECTS, extent)) == preimage, seed


def test_preimages_commute_with_operations_by_construction():
    for seed in SEEDS[:100]:
        world = SmallWorld(Random(seed))
        one, other = world.draw_objects(), world.draw_objects()
        for operation in (Extent.__and__, Extent.__or__, Extent.__sub__, Extent.__xor__):
            lifted = operation(lift_extent(OBJECTS, one), lift_extent(OBJECTS, other))
            assert lift_extent(OBJECTS, operation(one, other)) == lifted


def test_the_image_of_an_extent_holds_the_partners_of_its_sources():
    """In canonical form, which takes unions apart and preimages out: f(X & P) = f(X) & Y if P is the preimage of Y."""
    for seed in SEEDS:
        world = SmallWorld(Random(seed))
        members = world.draw_detections(3)
        image = Image(OBJECTS, members)
        world.images = {part.label: world.point(world.find_detections(part.members)) for part in image.parts}
        assert world.find_objects(image.extent) == world.point(world.find_detections(members)), seed


def test_images_keep_unions_and_order_and_take_out_preimages():
    for seed in SEEDS[:100]:
        world = SmallWorld(Random(seed))
        one, other, partners = world.draw_detections(), world.draw_detections(), world.draw_objects(1)
        union = Image(OBJECTS, one | other).extent
        parts = Image(OBJECTS, one).extent | Image(OBJECTS, other).extent
        images = [Image(OBJECTS, extent) for extent in (one, other, one | other, one & other)]
        world.images = {
            part.label: world.point(world.find_detections(part.members)) for image in images for part in image.parts
        }
        assert world.find_objects(union) == world.find_objects(parts)
        common = Image(OBJECTS, one & other).extent
        assert world.find_objects(common) <= world.find_objects(Image(OBJECTS, one).extent)
    members = leaf(D) & leaf("`d:mag` < 1L")
    partners = leaf(O) & leaf("`o:vmag` < 1L")
    assert Image(OBJECTS, members & lift_extent(OBJECTS, partners)).extent == Image(OBJECTS, members).extent & partners
    assert Image(OBJECTS, members - lift_extent(OBJECTS, partners)).extent == Image(OBJECTS, members).extent - partners


def test_what_groups_have_in_common_is_the_same_for_all_members_of_a_group():
    for seed in SEEDS:
        world = SmallWorld(Random(seed))
        extent = world.draw_detections(3)
        common, rest = split_group_parts(OBJECTS.identities, extent)
        assert world.find_detections(common & rest) == world.find_detections(extent)
        held = world.find_detections(common)
        for one in world.detections:
            for other in world.detections:
                if world.objects[one] == world.objects[other] is not None:
                    assert (one in held) == (other in held), seed
        members = world.find_detections(find_members(OBJECTS.identities, extent))
        for partner in world.point(world.find_detections(extent)):
            group = {source for source in world.detections if world.objects[source] == partner}
            assert group & members == group & world.find_detections(extent), "equal members, equal value"


def test_a_lowered_extent_is_the_set_whose_preimage_was_given():
    lowered_sets = 0
    for seed in SEEDS:
        world = SmallWorld(Random(seed))
        extent = world.draw_detections(1)
        lowered = lower_extent(OBJECTS, extent)
        if lowered is not None:
            lowered_sets += 1
            partners, held = world.find_objects(lowered), world.find_detections(extent)
            for source in world.detections:
                if world.objects[source] is not None:
                    assert (source in held) == (world.objects[source] in partners), seed
    assert lowered_sets > len(SEEDS) / 20


def test_lifting_and_lowering_undo_each_other():
    for seed in SEEDS[:100]:
        extent = SmallWorld(Random(seed)).draw_objects(3)
        assert lower_extent(OBJECTS, lift_extent(OBJECTS, extent)) == extent
    atom = Atom("`o:vmag` < 1L", "`o:vmag`", 1, ())
    assert lower_atom(OBJECTS, lift_atom(OBJECTS, atom)) == atom
    assert lower_atom(OBJECTS, Atom("`d:mag` < 1L", "`d:mag`", 1, ())) is None


# --- identities and labels ---


@pytest.mark.parametrize("identity", ["o:vmag", f"o:{ODD}", "o:via:[", "0" * 64])
def test_an_attribute_is_read_back_from_its_identity(identity):
    lifted = lift_identity(OBJECTS, identity)
    assert split_identity(lifted) == (OBJECTS, identity)
    assert split_identity(identity) is None
    assert not set("`'") & set(lifted), "canonical SQL is searched for quotes"


@pytest.mark.parametrize("label", [O, "pointed [] from (0)", 'sample(1, "star") < 0.5', f"file({O}, {G})"])
def test_a_set_is_read_back_from_its_label(label):
    lifted = lift_label(OBJECTS, label)
    assert split_label(lifted) == (OBJECTS, label)
    assert split_label(label) is None
    assert is_derived_set(lifted)
    assert not is_criterion(lifted)


def test_paths_are_the_same_whichever_references_are_followed_first():
    first = Reference(("d:objid",), "object")
    second = Reference((lift_identity(first, "o:gal"),), GALAXIES.population)
    assert lift_identity(first, lift_identity(GALAXIES, "g:z")) == lift_identity(second, "g:z")
    assert lift_label(first, lift_label(GALAXIES, G)) == lift_label(second, G)
    third = Reference((lift_identity(second, "g:cluster"),), "cluster")
    inner = Reference(("g:cluster",), "cluster")
    assert lift_identity(third, "c:n") == lift_identity(first, lift_identity(GALAXIES, lift_identity(inner, "c:n")))


def test_the_key_of_the_partner_is_the_reference_itself():
    both = Reference(("d:night", "d:ccd"), "exposure")
    assert [lift_identity(both, key) for key in both.key] == ["d:night", "d:ccd"]
    assert lift_identity(OBJECTS, "key:star:0") != OBJECTS.identities[0], "a key of another population"


def test_a_composite_reference_that_is_read_partly_through_another_is_one_of_its_own():
    objects = Reference(("d:objid",), "object")
    mixed = Reference(("d:night", lift_identity(objects, "o:ccd")), "exposure")
    assert split_identity(lift_identity(mixed, "e:seeing")) == (mixed, "e:seeing")
    assert lower_extent(objects, lift_extent(mixed, leaf(O))) is None, "the partner alone does not know the night"
    whole = Reference((lift_identity(objects, "o:night"), lift_identity(objects, "o:ccd")), "exposure")
    inner = Reference(("o:night", "o:ccd"), "exposure")
    assert lift_identity(whole, "e:seeing") == lift_identity(objects, lift_identity(inner, "e:seeing"))


def test_references_in_other_orders_and_roles_differ():
    one, other = Reference(("d:a", "d:b"), "pair"), Reference(("d:b", "d:a"), "pair")
    assert lift_identity(one, "p:x") != lift_identity(other, "p:x")
    assert lift_label(one, O) != lift_label(other, O)
    assert Image(one, leaf(D)).label != Image(other, leaf(D)).label


# --- images and rankings ---


def test_every_group_has_a_first_source():
    by = OBJECTS.identities
    first = leaf(D) & leaf(Ranking(by, ("`d:mag` ASC NULLS FIRST",), 2, leaf(D)).atom.label)
    assert Image(OBJECTS, first).extent == Image(OBJECTS, leaf(D)).extent
    other = leaf(D) & leaf(Ranking(("d:night",), ("`d:mag` ASC NULLS FIRST",), 2, leaf(D)).atom.label)
    assert Image(OBJECTS, other).extent != Image(OBJECTS, leaf(D)).extent
    faint = first & leaf("`d:mag` < 1L")
    assert Image(OBJECTS, faint).extent != Image(OBJECTS, leaf(D) & leaf("`d:mag` < 1L")).extent, (
        "first of all, not of these"
    )


def test_labels_of_images_and_rankings_are_read_back():
    image = Image(OBJECTS, leaf(D))
    assert parse_image_label(image.label) == ("object", leaf(D).digest)
    ranking = Ranking(OBJECTS.identities, ("`d:mag` ASC NULLS FIRST",), 3, leaf(D))
    assert parse_ranking_label(ranking.atom.label) == (OBJECTS.identities, leaf(D).digest)
    assert ranking.atom.cut == 3
    for label in (image.label, ranking.atom.label):
        assert is_derived_set(label)
        assert not is_criterion(label)
        assert not set("`'") & set(label)


def test_the_first_of_a_part_hold_those_first_of_the_whole_that_are_in_the_part():
    """The law of rankings, by brute force: also for more than one source a group, NULL and equal values."""
    for seed in SEEDS[:200]:
        random = Random(seed)
        group = {source: random.choice([None, 0, 1]) for source in range(8)}
        value = {source: random.choice([None, 0, 1, math.inf]) for source in range(8)}
        whole = {source for source in range(8) if random.random() < 0.8}
        part = {source for source in whole if random.random() < 0.7}
        few, many = sorted(random.choices([1, 2, 3], k=2))

        def find_first(members: set[int], number: int) -> set[int]:
            kept = set()
            for one in {group[source] for source in members} - {None}:  # noqa: B023
                ordered = sorted((s for s in members if group[s] == one), key=lambda s: (value[s] or 0, s))  # noqa: B023
                kept |= set(ordered[:number])
            return kept

        assert find_first(whole, few) & part <= find_first(part, many)
        assert find_first(whole, few) <= find_first(whole, many)


def test_nothing_and_everything_have_images():
    nowhere = ~everything
    assert Image(OBJECTS, nowhere).parts[0].members == nowhere
    assert Image(OBJECTS, everything).extent.label == Image(OBJECTS, everything).label
