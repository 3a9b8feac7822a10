"""Plans, told: what is reused, computed and skipped, and why; as text and as a picture. Nothing is computed."""

import importlib
import re
import sys
from collections.abc import Callable

import pytest

import provenn
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog
from provenn.words.described_plan import DescribedPlan
from tests.display.svg import parsed
from tests.targets.sky import paper, pretend_stored


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        yield opened


@pytest.fixture
def catalogs(archive, tmp_path):
    return paper(archive, tmp_path)


@pytest.fixture
def compared(golden: Callable[[str, str], None]) -> Callable[[str, Plan], None]:
    """Compare a plan with a golden file."""
    return lambda name, plan: golden(f"tests/golden/plan-{name}.txt", f"{plan}\n")


def flat(plan: Plan) -> str:
    """A plan on one line, without the lines of its trees."""
    return re.sub(r"[\s│]+", " ", plan.text(60))


def test_the_papers_example_has_no_join_and_calculates_for_b_alone(catalogs, compared, golden):
    plan = catalogs["D"].plan()
    compared("paper", plan)
    golden("tests/golden/plan-paper.svg", plan.svg())
    assert "skip: join on id (D)" in str(plan)
    assert "D == B" in [str(statement) for reason in plan.reasons for statement in reason.statements]


def test_the_proof_that_b_has_the_sources_of_d_is_that_of_the_paper(catalogs):
    first = catalogs["D"].plan().reasons[0]
    assert [line.partition("  (")[0] for line in first.proof] == ['B == A & "g < 18"', "C == A", "D == B & C"]
    assert first.proof[0].endswith("(B: the sources of A where g < 18)")


def test_what_is_partly_stored_is_partly_reused(archive, catalogs, compared):
    inner = catalogs["A"].select("g < 16").derive("photo_z")
    pretend_stored(inner, ["g", "r", "z"], 120)
    plan = archive.target("B", ["r", "z"]).plan()
    compared("partial", plan)
    assert "partial reuse (120 of ~" in plan.svg()


def test_the_picture_in_the_tutorial(archive, tmp_path, monkeypatch, golden):
    (tmp_path / "redshifts.py").write_text("def photo_z(batch): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "redshifts", None)  # so that it is forgotten afterwards
    del sys.modules["redshifts"]
    catalogs = paper(archive, tmp_path, importlib.import_module("redshifts").photo_z)
    pretend_stored(catalogs["B"].select("g < 16").combine(catalogs["C"]), ["z"], 130)
    golden("docs/pictures/plan.svg", archive.target("B", ["z"]).plan().svg())


def test_what_is_stored_for_more_sources_is_reused_whole(archive, catalogs, compared):
    pretend_stored(catalogs["A"].select("g < 20").derive("photo_z"), ["g", "z"], 700)
    plan = archive.target("B", ["z"]).plan()
    compared("whole", plan)
    assert not plan.calculations


@pytest.mark.usefixtures("catalogs")
def test_what_is_proved_to_be_empty_is_skipped(archive, compared):
    plan = archive.target("B", ["z"], where="g > 19").plan()
    compared("empty", plan)
    assert plan.empty
    assert "compute:" not in str(plan)


def test_a_member_of_a_union_that_adds_nothing_is_skipped(catalogs, compared):
    a, b = catalogs["A"], catalogs["B"]
    compared("union", b.concat(a.select("g < 17", name="bluest"), a.select("g > 21", name="faint"), name="U").plan())


def test_an_attribute_that_nobody_asks_for_is_not_calculated(catalogs, compared):
    plan = catalogs["D"].keep("r", name="few").plan()
    compared("unneeded", plan)
    assert "skip: calculate z" in str(plan)


@pytest.mark.usefixtures("catalogs")
def test_a_target_says_what_had_to_be_created_and_what_it_would_keep(archive):
    archive.calculator("colour", sql={"colour": "g - r"})
    text = str(archive.target("B", ["z", "colour"], where="dec > 0").plan())
    assert text.startswith("z, colour of B where dec > 0\n")
    assert "A with colour, which gives colour: newly defined" in text
    assert "sources, as a fragment (keep: worthwhile)" in text
    assert "Kept" not in str(archive.target("B", ["z"], keep="never").plan())


def test_fragments_are_told_by_number_and_who_stored_them(archive, catalogs):
    pretend_stored(catalogs["D"], ["z"], 300)
    plan = archive.target("B", ["z"]).plan()
    output = flat(plan)
    assert re.search(r"reuse: read id, z from fragment #1, stored \d{4}-\d\d-\d\d by ada for D", output)


def test_conditions_are_told_as_they_were_written_and_otherwise_by_their_parts(catalogs):
    a = catalogs["A"]
    either = a.select("g < 16 or r > 20").select("dec between 0 and 10").plan()
    assert "select (g < 16 or r > 20) and dec between 0 and 10" in flat(either)
    assert "select not (g < 18)" in str(a.exclude("B").plan())
    assert "select a sample of 0.25 with seed 3" in str(a.sample(0.25, seed=3).plan())


def test_a_string_that_looks_like_a_number_with_a_suffix_is_told_as_it_is(catalogs):
    typed = catalogs["A"].derive(spect="concat('5', 'D')").select("spect = '5D'", name="typed")
    text = flat(catalogs["A"].derive(spect="concat('5', 'D')").exclude(typed).plan())
    assert "not (spect < '5D')" in text or "spect < '5D'" in text
    assert "'5'" not in text.replace("concat('5', 'D')", "")


@pytest.mark.usefixtures("catalogs")
def test_values_that_are_missing_are_told(archive, tmp_path):
    (tmp_path / "seen.csv").write_text("id,line\n1,2.0\n")
    archive.ingest("seen", tmp_path / "seen.csv", key="id", population="galaxy")
    output = archive.target("A", ["seen.line"], missing="null").plan().text(60)
    assert "compute: no value for line" in output
    assert "line: read from seen; the rest without a value" in output


def test_a_deep_or_shared_plan_stays_short(catalogs):
    catalog = catalogs["A"]
    for n in range(120):
        catalog = catalog.derive({f"x{n}": f"g + {n}"})
    text = str(catalog.plan())
    assert "more steps" in text
    assert len(text.splitlines()) < 400


def test_an_estimate_is_marked_and_a_number_that_nobody_knows_is_not_told(archive, catalogs, tmp_path):
    assert "at most 1,000 sources, ~390" in str(catalogs["B"].plan())
    assert "1,000 sources" in str(catalogs["B"].plan())
    (tmp_path / "few.csv").write_text("id,x\n1,2.0\n")
    few = archive.ingest("few", tmp_path / "few.csv", key="id", population="star")
    assert "sources" not in str(few.select("x > 1").plan()).partition("Attributes")[0].replace("requested sources", "")


def test_a_plan_shows_itself_in_a_notebook_with_proofs_that_unfold(catalogs):
    html = catalogs["D"].plan()._repr_html_()
    assert html.count("<svg") == 1
    assert "<summary>D == B: it has the same sources</summary>" in html
    assert parsed(html).tag == "div"


def test_without_an_archive_digests_are_told(archive, catalogs):
    definition = catalogs["D"].definition
    with archive.context.database.reading() as reading:
        plan = DescribedPlan.of(plan_catalog(reading, definition, "D"))
    assert definition.digest[:12] in str(plan)
    assert plan.reasons[0].proof[0].endswith("(definition)")


def test_a_plan_can_be_told_when_the_archive_is_closed(tmp_path):
    with provenn.open(tmp_path / "other") as archive:
        plan = paper(archive, tmp_path)["D"].plan()
    assert "D == B" in str(plan)


def test_facts_that_a_plan_leans_on_are_cited_with_who_declared_them(archive, catalogs):
    south = catalogs["A"].select("r > 15", name="south")
    archive.declare("disjoint(B, south)", reason="seen on plates")
    plan = catalogs["B"].restrict(south, name="both").plan()
    assert plan.empty
    (argument,) = [reason for reason in plan.reasons if reason.rule == "empty_branches"]
    assert any("fact #1, declared by ada: seen on plates" in line for line in argument.proof)
