"""The Boolean laws of set theory, proved from nothing; and statements that look like laws, refuted by a world.

Many are theorems of the SET domain of the TPTP problem library, in its words or close to them.
"""

import pytest

from provenn.logic import Knowledge, statement

LAWS = """
    B & B == B
    B | B == B
    B & C == C & B
    B | C == C | B
    B ^ C == C ^ B
    (B & C) & D == B & (C & D)
    (B | C) | D == B | (C | D)
    (B ^ C) ^ D == B ^ (C ^ D)
    B & (B | C) == B
    B | (B & C) == B
    B & (C | D) == (B & C) | (B & D)
    B | (C & D) == (B | C) & (B | D)
    B & (C ^ D) == (B & C) ^ (B & D)
    ~(B & C) == ~B | ~C
    ~(B | C) == ~B & ~C
    ~~B == B
    B - (C & D) == (B - C) | (B - D)
    B - (C | D) == (B - C) & (B - D)
    (B - C) - D == B - (C | D)
    B - (C - D) == (B - C) | (B & D)
    (B | C) - D == (B - D) | (C - D)
    (B & C) - D == B & (C - D)
    B - (C ^ D) == (B - (C | D)) | (B & C & D)
    B ^ C == (B | C) - (B & C)
    B ^ C == (B - C) | (C - B)
    B ^ B == {}
    B ^ {} == B
    B & {} == {}
    B | {} == B
    B - {} == B
    {} - B == {}
    B - B == {}
    B | ~B == ~{}
    {} <= B
    B <= B
    B & C <= B
    B <= B | C
    B - C <= B
    disjoint(B - C, C)
    disjoint(B & C, B ^ C)
    not (B <= C and C <= D) or B <= D
    not (B <= C and C <= B) or B == C
    not (B <= C and D <= C) or B | D <= C
    not (B <= C and B <= D) or B <= C & D
    not B <= C or B & D <= C & D
    not B <= C or B | D <= C | D
    not B <= C or D - C <= D - B
    not (B <= C and disjoint(C, D)) or disjoint(B, D)
    not (overlapping(B, C) and C <= D) or overlapping(B, D)
    not (B < C and C < D) or B < D
    not (nonempty(B) and B <= C) or nonempty(C)
    not (B < C and C == D) or B != D
    (B <= C and B & C == B) or (not B <= C and not B & C == B)
    (B <= C and B | C == C) or (not B <= C and not B | C == C)
    (B <= C and empty(B - C)) or (not B <= C and nonempty(B - C))
    (disjoint(B, C) and B - C == B) or (overlapping(B, C) and B - C != B)
    empty(B) or nonempty(B)
    B == {} or overlapping(B, B)
    outside(B, C) or B | C == ~{}
"""

NON_LAWS = """
    B == C
    B <= C
    B <= C or C <= B
    disjoint(B, C) or B <= C or C <= B
    B - C == C - B
    (B - C) - D == B - (C - D)
    B | (C - D) == (B | C) - D
    not B & D == C & D or B == C
    not B | D == C | D or B == C
    not (overlapping(B, C) and overlapping(C, D)) or overlapping(B, D)
    not (disjoint(B, C) and disjoint(C, D)) or disjoint(B, D)
    not B <= C or B < C
    not (B != C and C != D) or B != D
    nonempty(B)
    B & C == {} or nonempty(D)
    B ^ C == B | C
    not B <= C | D or (B <= C or B <= D)
"""


def _lines(text):
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("law", _lines(LAWS))
@pytest.mark.parametrize("open_universe", [True, False])
def test_a_law_of_sets_is_proved_from_nothing(law, open_universe):
    known = Knowledge(open_universe=open_universe)
    assert known.entails(law)
    assert known.judge(law) == "holds"
    assert known.counterexample(law) is None
    why = known.explain(law)
    assert why is not None
    assert why.facts == ()
    assert not why.open_universe


@pytest.mark.parametrize("message", _lines(NON_LAWS))
@pytest.mark.parametrize("open_universe", [True, False])
def test_what_is_no_law_is_refuted_by_a_world(message, open_universe):
    known = Knowledge(open_universe=open_universe)
    assert known.judge(message) == "unknown"
    assert known.explain(message) is None
    world = known.counterexample(message)
    assert world is not None
    assert not world.satisfies(statement(message))
    assert (frozenset() in world.regions) >= open_universe


@pytest.mark.parametrize("message", ["outside(B, C)", "B != ~{}", "nonempty(~B)", "not C | D == ~{}"])
def test_the_open_universe_proves_that_no_set_holds_everything(message):
    why = Knowledge().explain(message)
    assert why is not None
    assert why.open_universe
    assert Knowledge(open_universe=False).judge(message) == "unknown"
