"""One archive, used by many threads at once, as a server does."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from provenn.formats.opening import open_database
from tests.archive.samples import archive_on
from tests.waiting import LIMIT

THREADS = 50


@pytest.fixture
def survey(archive, stars):
    for number in range(8):
        stars.select(f"vmag < {number}", name=f"below {number}")
    stars.exclude("below 3", name="rest")
    return archive


def at_once(work, threads=THREADS):
    """Run work in threads that begin together; give their results in order."""
    together = Barrier(threads)

    def run(number):
        together.wait(LIMIT)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def questions(archive, number):
    one, other = f"below {number % 8}", f"below {(number + 3) % 8}"
    return (
        archive.compare(one, other, "rest").relations,
        [entry.names for entry in archive.search("vmag", sort="name")],
        archive.matches(attribute="plx"),
        [each.digest for each in archive.inside(one)],
        [each.digest for each in archive.apart_from("rest")],
        archive.relations(one, [other, "rest"]),
        str(archive.describe(other)),
    )


def test_many_threads_are_answered_as_one_is(survey):
    expected = [questions(survey, number) for number in range(8)]
    found = at_once(lambda number: [questions(survey, number + more) for more in range(2)])
    assert found == [[expected[(number + more) % 8] for more in range(2)] for number in range(THREADS)]


def test_threads_that_read_while_others_write_see_whole_states(survey):
    """Every reader finds as many catalogs below as were added at some moment, and never fewer than before."""

    def work(number):
        if number % 4 == 0:
            return [survey["stars"].select(f"dec > {number} AND vmag < {more}").digest for more in range(2)]
        counts = [len(survey.inside("stars")) for _ in range(3)]
        assert counts == sorted(counts)
        return counts

    before = len(survey.inside("stars"))
    found = at_once(work, 16)
    added = {digest for number in range(0, 16, 4) for digest in found[number]}
    after = len(survey.inside("stars"))
    assert after == before + len(added)
    assert all(before <= count <= after for number in range(16) if number % 4 for count in found[number])


def test_more_transactions_at_once_than_a_pool_usually_holds(survey):
    """Each thread keeps its transaction open until all have theirs."""
    all_open = Barrier(THREADS)

    def work(_number):
        with survey.context.database.reading():
            all_open.wait(LIMIT)
        return True

    assert all(at_once(work))


def test_a_reader_alone_serves_many_threads(survey):
    with archive_on(open_database(survey.place, read_only=True)) as reader:
        found = at_once(lambda _: len(reader.search()), 16)
    assert set(found) == {len(survey)}
