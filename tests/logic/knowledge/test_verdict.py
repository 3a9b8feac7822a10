from provenn.logic import Verdict


def test_a_verdict_is_its_answer_and_carries_the_reason():
    verdict = Verdict("holds", "it was seen")
    assert verdict == "holds"
    assert isinstance(verdict, str)
    assert {"holds": 1}[verdict] == 1
    assert verdict.reason == "it was seen"
