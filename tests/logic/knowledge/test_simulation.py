import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic.knowledge.graph import EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.simulation import GROUND, Simulation
from tests.logic.knowledge.test_graph import CHOICES, graphs

some = settings(max_examples=40, deadline=None)


def assert_possible(graph: SetGraph, simulation: Simulation) -> None:
    """Every simulated object is one that can be: in a part only if in its whole, in a meet if in both."""
    everything = simulation.everything
    for node in range(1, len(graph)):
        value = simulation.value(2 * node) & everything
        item = simulation.value(graph.left[node]) & everything
        if graph.right[node] == PART:
            assert not value & ~item
        else:
            assert value == item & simulation.value(graph.right[node]) & everything
        assert simulation.value(2 * node + 1) & everything == everything ^ value


@some
@given(graphs())
def test_simulated_objects_are_possible_objects(spelt):
    simulation = Simulation(spelt.graph)
    simulation.refresh()
    assert_possible(spelt.graph, simulation)


@some
@given(graphs(), st.lists(st.sampled_from(CHOICES), min_size=1, max_size=5))
def test_learned_objects_are_simulated_from_then_on(spelt, choices):
    graph = spelt.graph
    simulation = Simulation(graph)
    before = simulation.everything.bit_length()
    simulation.learn([spelt.object(choice) for choice in choices])
    assert simulation.everything.bit_length() == before + len(choices)
    for literal, contents in spelt.contents.items():
        for place, choice in enumerate(choices, before):
            assert simulation.value(literal) >> place & 1 == contents >> choice & 1
    graph.part(graph.meet(graph.part(EVERYTHING), graph.part(EVERYTHING)) ^ 1)
    simulation.refresh()
    assert_possible(graph, simulation)


@some
@given(graphs())
def test_the_first_object_is_in_no_part_and_the_second_in_all_it_can_be_in(spelt):
    graph = spelt.graph
    simulation = Simulation(graph)
    simulation.refresh()
    for literal in spelt.parts:
        whole = simulation.value(graph.left[literal >> 1])
        assert not simulation.value(literal) & GROUND
        assert simulation.value(literal) >> 1 & 1 == whole >> 1 & 1


def test_a_simulation_stops_learning_when_it_knows_enough():
    graph = SetGraph()
    part = graph.part(EVERYTHING) >> 1
    simulation = Simulation(graph)
    for _ in range(20):
        simulation.learn([{part}] * 1000)
    assert simulation.everything.bit_length() <= 8192


def test_deep_selections_hold_some_of_the_objects():
    graph = SetGraph()
    deep = EVERYTHING
    for _ in range(30):
        deep = graph.part(deep)
    simulation = Simulation(graph)
    simulation.refresh()
    assert np.bitwise_count(np.frombuffer(simulation.value(deep).to_bytes(32, "little"), np.uint8)).sum() > 1
