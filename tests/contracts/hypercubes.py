"""What every representation of hypercubes must do, spelt out on sets of integers."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.logic.hypercubes import Hypercubes

checked = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.differing_executors])


def values(regions: int, most: int = 30) -> st.SearchStrategy[set[int]]:
    return st.sets(st.integers(0, 2**regions - 1), max_size=most)


def inhabits(hypercube: int, region: int) -> bool:
    return bool(hypercube >> region & 1)


def moved(hypercube: int, targets: list[int | None]) -> int:
    return sum(1 << target for target in {targets[i] for i in range(len(targets)) if inhabits(hypercube, i)} - {None})


def maps(regions: int, most: int) -> st.SearchStrategy[list[int | None]]:
    return st.lists(st.one_of(st.none(), st.integers(0, most - 1)), min_size=regions, max_size=regions)


class HypercubesContract:
    """Subclass, name the representation and the most regions it is to be tried with."""

    of: ClassVar[Callable[[int, Iterable[int]], Hypercubes]]
    build_all: ClassVar[Callable[..., Hypercubes]]
    most: ClassVar[int]

    def made(self, regions: int, numbers: Iterable[int]) -> Hypercubes:
        return type(self).of(regions, numbers)

    @checked
    @given(data=st.data())
    def test_it_holds_each_hypercube_once_in_ascending_order(self, data):
        regions = data.draw(st.integers(0, self.most))
        numbers = data.draw(st.lists(st.integers(0, 2**regions - 1)))
        result = self.made(regions, numbers)
        assert list(result) == sorted(set(numbers))
        assert len(result) == len(set(numbers))
        assert result.regions == regions

    @checked
    @given(free=st.integers(0, 6), inhabited=st.integers(0, 6))
    def test_every_hypercube_is_counted_through(self, free, inhabited):
        expected = [number for number in range(2 ** (free + inhabited)) if number >> free == 2**inhabited - 1]
        assert list(type(self).build_all(free, inhabited)) == expected

    @checked
    @given(data=st.data())
    def test_operators_are_those_of_sets(self, data):
        regions = data.draw(st.sampled_from([0, 1, 3, self.most]))
        few = st.sampled_from(sorted(data.draw(values(regions))) or [0])
        left, right = data.draw(st.sets(few)), data.draw(st.sets(few))
        first, other = self.made(regions, left), self.made(regions, right)
        assert list(first & other) == sorted(left & right)
        assert list(first | other) == sorted(left | right)
        assert list(first - other) == sorted(left - right)
        assert list(first ^ other) == sorted(left ^ right)

    def test_operators_agree_with_sets_on_many_hypercubes(self):
        left, right = {7 * i % 2**20 for i in range(150_000)}, {11 * i % 2**20 for i in range(150_000)}
        first, other = self.made(20, left), self.made(20, right)
        assert set(first & other) == left & right
        assert set(first | other) == left | right
        assert set(first - other) == left - right
        assert set(first ^ other) == left ^ right

    @checked
    @given(data=st.data())
    def test_what_any_hypercube_inhabits_and_what_meets_a_mask(self, data):
        regions = data.draw(st.integers(0, self.most))
        numbers, mask = data.draw(values(regions)), data.draw(st.integers(0, 2**regions - 1))
        result = self.made(regions, numbers)
        assert [inhabits(result.find_inhabited(), i) for i in range(regions)] == [
            any(inhabits(number, i) for number in numbers) for i in range(regions)
        ]
        assert list(result.select_meeting(mask)) == sorted(number for number in numbers if number & mask)
        assert list(result.select_meeting(mask, keep=False)) == sorted(
            number for number in numbers if not number & mask
        )

    @checked
    @given(data=st.data())
    def test_carrying_joins_regions_with_the_same_target(self, data):
        regions, targets_count = data.draw(st.integers(0, self.most)), data.draw(st.integers(1, self.most))
        numbers, targets = data.draw(values(regions)), data.draw(maps(regions, targets_count))
        carried = self.made(regions, numbers).move_regions(targets, targets_count)
        assert carried.regions == targets_count
        assert list(carried) == sorted({moved(number, targets) for number in numbers})

    @checked
    @given(data=st.data())
    def test_matching_keeps_what_is_among_the_others_when_carried(self, data):
        regions, targets_count = data.draw(st.integers(0, self.most)), data.draw(st.integers(1, self.most))
        numbers, targets = data.draw(values(regions)), data.draw(maps(regions, targets_count))
        images = sorted({moved(number, targets) for number in numbers} | data.draw(values(targets_count)))
        others = set(data.draw(st.lists(st.sampled_from(images), unique=True))) if images else set()
        lost = [i for i in range(regions) if targets[i] is None]
        among = {
            number
            for number in numbers
            if moved(number, targets) in others and not any(inhabits(number, i) for i in lost)
        }
        result = self.made(regions, numbers)
        assert list(result.select_matching(targets, self.made(targets_count, others))) == sorted(among)
        assert list(result.select_matching(targets, self.made(targets_count, others), keep=False)) == sorted(
            numbers - among
        )

    @checked
    @given(data=st.data())
    def test_matching_along_the_identity_is_the_plain_operator(self, data):
        regions = data.draw(st.integers(0, self.most))
        numbers, others = data.draw(values(regions)), data.draw(values(regions))
        first, other = self.made(regions, numbers), self.made(regions, others | set(list(numbers)[::2]))
        assert list(first.select_matching(range(regions), other)) == list(first & other)
        assert list(first.select_matching(range(regions), other, keep=False)) == list(first - other)

    @checked
    @given(data=st.data())
    def test_lifts_are_all_hypercubes_that_lie_above_and_they_are_counted_before(self, data):
        """Independent of how: all hypercubes over the fibres, of which those are kept that fall back on one given."""
        sizes = data.draw(st.lists(st.integers(0, 3), max_size=5).filter(lambda some: sum(some) <= 9))
        total = sum(sizes)
        order = data.draw(st.permutations(range(total)))
        fibres = [list(order[sum(sizes[:i]) : sum(sizes[: i + 1])]) for i in range(len(sizes))]
        numbers = data.draw(values(len(sizes)))
        home = {region: i for i, fibre in enumerate(fibres) for region in fibre}
        above = [number for number in range(2**total) if moved(number, [home[i] for i in range(total)]) in numbers]
        result = self.made(len(sizes), numbers)
        lifted = result.lift_hypercubes(fibres, total)
        assert list(lifted) == above
        assert lifted.regions == total
        assert result.count_lifts(sizes) == len(above)

    def test_the_number_of_lifts_is_exact_however_large(self):
        everything = self.made(self.most, [2**self.most - 1, 1])
        assert everything.count_lifts([2] * self.most) == 3**self.most + 3
        assert everything.count_lifts(range(self.most)) == 0
        assert everything.count_lifts([1, *[100] * (self.most - 1)]) == (2**100 - 1) ** (self.most - 1) + 1

    def test_lifting_may_lead_beyond_64_regions(self):
        """Fifty regions, of which two are inhabited, are split in two each."""
        result = self.made(50, [1 << 49 | 1])
        lifted = result.lift_hypercubes([[i, 50 + i] for i in range(50)], 100)
        methods = [[1 << i, 1 << 50 + i, 1 << i | 1 << 50 + i] for i in (0, 49)]
        assert list(lifted) == sorted(item | other for item, other in product(*methods))
