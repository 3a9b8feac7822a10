"""What several processes saw, with failures all the while, can be explained by one order of their operations."""

import itertools
import random

import pytest

from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.soundness.checking import find_problems
from tests.database.databases import InPostgreSQL, InSQLite
from tests.database.histories.checker import UNKNOWN, Operation, explain_history, is_linearisable
from tests.database.histories.recording import recorded
from tests.database.histories.specifications import SPECIFICATIONS, is_explained


def on_name(*history):
    return is_linearisable([Operation(*change) for change in history], SPECIFICATIONS["name"], None)


# --- the checker itself ---


def test_operations_one_after_the_other_must_see_each_other():
    assert on_name(("a", "assign", "x", 0, 1, "ok"), ("b", "find", "", 2, 3, "x"))
    assert not on_name(("a", "assign", "x", 0, 1, "ok"), ("b", "find", "", 2, 3, None))


def test_operations_at_the_same_time_may_come_in_any_order():
    for answer in (None, "x"):
        assert on_name(("a", "assign", "x", 0, 5, "ok"), ("b", "find", "", 2, 3, answer))
    assert not on_name(("a", "assign", "x", 0, 5, "ok"), ("b", "find", "", 2, 3, "y"))


def test_what_was_seen_once_is_not_unseen():
    write, see, miss = ("a", "assign", "x", 0, 9, "ok"), ("b", "find", "", 1, 2, "x"), ("b", "find", "", 3, 4, None)
    assert on_name(write, see)
    assert on_name(write, miss)
    assert not on_name(write, see, miss)


def test_of_two_that_want_a_name_one_is_refused():
    first, second = ("a", "assign", "x", 0, 9, "ok"), ("b", "assign", "y", 1, 8, "CatalogNameError")
    assert on_name(first, second)
    assert not on_name(first, ("b", "assign", "y", 1, 8, "ok"))
    assert not on_name(("a", "assign", "x", 0, 9, "CatalogNameError"), second)


def test_an_operation_whose_answer_was_lost_may_have_happened_late_or_never():
    lost = Operation.lost("a", "assign", "x", 0)
    for seen in ([None, None], [None, "x"], ["x", "x"]):
        finds = [Operation("b", "find", "", 2 * at, 2 * at + 1, answer) for at, answer in enumerate(seen, 1)]
        assert is_linearisable([lost, *finds], SPECIFICATIONS["name"], None)
    finds = [Operation("b", "find", "", 2, 3, "x"), Operation("b", "find", "", 4, 5, None)]
    assert not is_linearisable([lost, *finds], SPECIFICATIONS["name"], None)
    assert not is_linearisable([Operation("b", "find", "", -2, -1, "x"), lost], SPECIFICATIONS["name"], None), (
        "not before it was called"
    )


def test_declarations_that_contradict_each_other_are_not_both_held():
    def on_facts(*history):
        return is_linearisable([Operation(*change) for change in history], SPECIFICATIONS["facts"], frozenset())

    first, two = ("a", "declare", "empty", 0, 9, "ok"), ("b", "declare", "nonempty", 1, 8, "ok")
    assert not on_facts(first, two)
    assert on_facts(first, two, ("c", "retract", "empty", 2, 3, "ok"))
    assert not on_facts(first, ("b", "list", "", 10, 11, []))


def brute_force(history, apply, first):
    """Whether any order, with any of the lost operations left out, explains all answers."""
    known = [change for change in history if change.answer != UNKNOWN]
    lost = [change for change in history if change.answer == UNKNOWN]
    for number in range(len(lost) + 1):
        for some in itertools.combinations(lost, number):
            for order in itertools.permutations([*known, *some]):
                pairs = itertools.combinations(order, 2)
                if any(later.answered < earlier.called for earlier, later in pairs):
                    continue
                state = first
                for catalog in order:
                    ((answer, state),) = apply(state, catalog.kind, catalog.argument)
                    if catalog.answer not in (UNKNOWN, answer):
                        break
                else:
                    return True
    return False


def test_the_checker_agrees_with_brute_force_on_random_histories():
    chance, verdicts = random.Random(7), []
    for _ in range(1500):
        history = []
        for process in range(chance.randint(1, 5)):
            called, kind = chance.randrange(8), chance.choice(["find", "assign", "move", "remove"])
            argument = chance.choice("xy")
            if chance.random() < 0.2:
                history.append(Operation.lost(str(process), kind, argument, called))
                continue
            answers = [None, "x", "y"] if kind == "find" else ["ok", "CatalogNameError", "UnknownCatalogError"]
            answered = called + chance.choice([0.5, 1.5, 3.5])
            history.append(Operation(str(process), kind, argument, called, answered, chance.choice(answers)))
        verdict = is_linearisable(history, SPECIFICATIONS["name"], None)
        assert verdict == brute_force(history, SPECIFICATIONS["name"], None), explain_history(history)
        verdicts.append(verdict)
    assert 200 < sum(verdicts) < 1300, "both kinds are tried"


# --- what was recorded ---


def check_histories(place, folder, seed, rounds):
    """Record histories and check each; return how many operations there were, and how many lost their answer."""
    histories = recorded(place, folder, workers=4, rounds=rounds, seed=seed)
    for target, history in histories.items():
        assert is_explained(target, history), f"{target}\n{explain_history(history)}"
    with open_database(place) as database:
        assert [
            problem
            for problem in find_problems(database, DataFolder.of(folder), deep=True)
            if problem.state == "damage"
        ] == []
    everything = [change for history in histories.values() for change in history]
    return len(everything), sum(item.answer == UNKNOWN for item in everything)


class HistoriesContract:
    def test_names_declarations_and_fragments_are_linearisable(self, place, tmp_path):
        operations, lost = check_histories(place, tmp_path, 1, 25)
        assert operations > 50
        assert lost > 0

    @pytest.mark.campaign
    @pytest.mark.parametrize("seed", range(2, 12))
    def test_longer_histories_are_linearisable(self, place, tmp_path, seed):
        operations, lost = check_histories(place, tmp_path, seed, 120)
        assert operations > 200
        assert lost > 0


class TestSQLite(InSQLite, HistoriesContract):
    pass


class TestPostgreSQL(InPostgreSQL, HistoriesContract):
    pass
