import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from provenn.cli import app
from provenn.logic import Knowledge, Relationship, World, statement
from tests.display.svg import parsed, tagged
from tests.strategies import statements

EXAMPLE = ["--given", "B < A", "--given", "C == A", "--given", "D == B & C"]
SET_LAW = "B - (C ^ D) == (B - (C | D)) | (B & C & D)"


def prove(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["prove", *arguments])


def answer(*arguments: str) -> dict:
    return json.loads(prove("--json", *arguments).stdout)


def facts_file(folder: Path, content: str | bytes) -> str:
    file = folder / "some.facts"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(file)


# --- the three answers, and their exit statuses ---


def test_proved_shows_the_facts_it_follows_from_with_exit_status_0(golden):
    result = prove(*EXAMPLE, "--given", "nonempty(E)", "B == D")
    assert result.exit_code == 0
    golden("tests/golden/prove-proved.txt", result.stdout)


def test_not_proved_shows_a_possible_world_with_exit_status_1(golden):
    result = prove("--given", "bright <= stars", "--given", "near <= stars", "near <= bright")
    assert result.exit_code == 1
    golden("tests/golden/prove-not-proved.txt", result.stdout)


def test_refuted_shows_why_and_where_with_exit_status_1(golden):
    result = prove("--given", "B < A", "A <= B")
    assert result.exit_code == 1
    golden("tests/golden/prove-refuted.txt", result.stdout)


def test_contradictory_facts_prove_nothing_and_the_minimal_conflict_is_told_with_exit_status_2():
    result = prove(*EXAMPLE, "--given", "A < B", "B == D")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.split("\n")[:3] == ["provenn: the facts contradict each other:", "  B < A", "  A < B"]


def test_the_universe_is_open_unless_it_is_closed():
    assert prove("outside(A, B)").exit_code == 0
    assert prove("--closed", "outside(A, B)").exit_code == 1
    assert "open universe" in prove("outside(A, B)").stdout


def test_what_needs_no_facts():
    assert "whatever the sets are" in prove(SET_LAW).stdout


@settings(max_examples=60, deadline=None)
@given(st.lists(statements("ABC", parts=2), max_size=3), statements("ABC", parts=2), st.booleans())
def test_the_answer_is_that_of_explicit_hypercubes_and_the_world_bears_it_out(facts, question, is_open):
    """Against `Relationship`: proved, refuted or not; a world obeys the facts and not the question."""
    known = Relationship.of(*facts, *(["outside(A, B, C)"] if is_open else []), labels="ABC")
    given = [word for fact in facts for word in ("--given", str(fact))]
    result = prove("--json", *([] if is_open else ["--closed"]), *given, "--", str(question))
    found = json.loads(result.stdout)
    if known.kind == "contradiction":
        assert (result.exit_code, found["error"]["kind"]) == (2, "ContradictionError")
        return
    expected = "proved" if known.entails(question) else "refuted" if known.entails(~question) else "not proved"
    assert (result.exit_code, found["answer"]) == (int(expected != "proved"), expected)
    if expected == "proved":
        assert found["world"] is None
    else:
        world = World(frozenset(map(frozenset, found["world"]["regions"])))
        assert not world.satisfies(question)
        assert all(map(world.satisfies, facts))
    if expected == "not proved":
        assert found["explanation"] is None
    else:
        assert {fact["statement"] for fact in found["explanation"]["facts"]} <= {str(fact) for fact in facts}


# --- JSON ---


def test_the_schema_of_an_answer(tmp_path):
    file = facts_file(tmp_path, "# a comment\nC == A\n")
    assert answer("--given", "B <= A", "--facts", file, "B <= C") == {
        "statement": "B <= C",
        "answer": "proved",
        "reason": "it is true in every world that the facts allow",
        "open_universe": True,
        "facts": 2,
        "explanation": {
            "facts": [
                {"statement": "B <= A", "file": None, "line": None},
                {"statement": "C == A", "file": file, "line": 2},
            ],
            "open_universe": False,
            "chain": [{"statement": "B <= C", "from": ["B <= A", "C == A"], "open_universe": False}],
        },
        "world": None,
    }
    found = answer("--closed", "--given", "B < A", "B == A")
    assert (found["answer"], found["open_universe"], found["world"]) == ("refuted", False, {"regions": [["A"]]})


def test_the_schema_of_an_error():
    result = prove("--json", "--given", "A < B", "--given", "B < A", "A == B")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"] == {
        "kind": "ContradictionError",
        "message": "the facts contradict each other:\n  A < B\n  B < A",
        "hint": "retract or correct one of them",
        "conflict": ["A < B", "B < A"],
        "open_universe": False,
    }
    assert "contradict" in result.stderr
    assert set(answer("A ==")["error"]) == {"kind", "message", "hint"}


# --- files ---


def test_a_file_may_have_comments_empty_lines_a_byte_order_mark_and_the_line_ends_of_windows(tmp_path):
    content = b'\xef\xbb\xbf# facts\r\n\r\n  "a # b" <= A  # quotes keep a #\r\nC == "a # b" # and \'so on\r\n'
    assert prove("--facts", facts_file(tmp_path, content), "C <= A").exit_code == 0


def test_several_files_and_given_facts_come_together(tmp_path):
    (tmp_path / "one").write_text("B <= A")
    (tmp_path / "two").write_text("C <= B\nB <= A\n")
    found = answer("-f", str(tmp_path / "one"), "-f", str(tmp_path / "two"), "-g", "D <= C", "D <= A")
    assert [Path(fact["file"]).name if fact["file"] else None for fact in found["explanation"]["facts"]] == [
        None,
        "one",
        "two",
    ]


def test_a_dash_is_the_standard_input():
    result = CliRunner().invoke(app, ["prove", "--facts", "-", "C <= A"], input="B <= A\nC <= B\n")
    assert result.exit_code == 0
    assert "B <= A   (standard input, line 1)" in result.stdout


def test_a_standard_input_that_is_closed_is_an_error():
    code = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", code, "-m", "provenn", "prove", "--facts", "-", "A == B"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("provenn: cannot read standard input")


def test_a_syntax_error_names_file_line_and_column_and_marks_the_place(tmp_path):
    file = facts_file(tmp_path, "# one\nB <= A\nC <= (B  # never closed\n")
    result = prove("--facts", file, "C <= A")
    assert (result.exit_code, result.stdout) == (2, "")
    first, shown, marked, _ = result.stderr.split("\n", 3)
    assert first == f"provenn: {file}, line 3: this parenthesis is never closed, at column 6"
    assert marked.index("^") == shown.index("(")


def test_a_contradiction_names_the_lines(tmp_path):
    file = facts_file(tmp_path, "B < A\nnonempty(C)\nA < B\n")
    result = prove("--facts", file, "C <= A")
    assert result.exit_code == 2
    assert f"B < A   ({file}, line 1)\n  A < B   ({file}, line 3)\n" in result.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"B <= A\nC <= \xff\n", "line 2 is not UTF-8: byte 6 is 0xff"),
        ("B <= A\n".encode("utf-16"), "line 1 is not UTF-8"),
        (b"B <= A\x00\n", "line 1: '\\x00' has no meaning here"),
        (b"\x1b[31mB <= A\n", "␛[31mB <= A"),
    ],
)
def test_a_file_that_is_no_text_is_told_so_and_cannot_steer_the_terminal(tmp_path, content, told):
    result = prove("--facts", facts_file(tmp_path, content), "C <= A")
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert "\x1b" not in result.stderr


def test_a_file_that_is_not_there_or_is_a_folder_is_told_so(tmp_path):
    for file in (tmp_path / "missing", tmp_path):
        result = prove("--facts", str(file), "C <= A")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"provenn: cannot read {file}: ")
        assert answer("--facts", str(file), "C <= A")["error"]["kind"] == "FileError"


def test_thousands_of_facts(tmp_path):
    """A tree of 8 000 selections and 2 000 intersections: a proof through twelve of them, and a refuting world."""
    lines = [f"S{i} <= S{i // 2}  # selection" for i in range(2, 8001)]
    lines += [f"J{i} == S{i + 4000} & S{i + 5000}" for i in range(2000)]
    file = facts_file(tmp_path, "\n".join(lines))
    found = answer("--facts", file, "J5 <= S5")
    assert found["answer"] == "not proved"
    found = answer("--facts", file, "J1000 <= S2")
    assert (found["answer"], found["facts"]) == ("proved", 9999)
    used = found["explanation"]["facts"]
    assert all(lines[fact["line"] - 1].split("  #")[0] == fact["statement"] for fact in used)
    assert Knowledge(fact["statement"] for fact in used).entails("J1000 <= S2")


# --- pictures ---


def test_a_proof_is_drawn_as_the_relationship_of_its_sets(tmp_path):
    file = tmp_path / "proved.svg"
    result = prove(*EXAMPLE, "--svg", str(file), "B == D")
    assert (result.exit_code, result.stderr) == (0, f"wrote {file}\n")
    assert result.stdout.startswith("proved: B == D\n")
    # in an open universe B == D leaves two hypercubes: B and D hold nothing, or something
    assert len(tagged(parsed(file.read_text(encoding="utf-8")), "circle")) == 2 * 4


def test_sets_that_no_fact_mentions_are_drawn_too(tmp_path):
    file = tmp_path / "proved.svg"
    assert prove("--svg", str(file), "A & B <= A").exit_code == 0
    assert len(tagged(parsed(file.read_text(encoding="utf-8")), "circle")) == 2**3 * 4


def test_a_refuting_world_is_drawn_as_venn_diagram_and_hypercube(golden):
    result = prove("--given", "bright <= stars", "--given", "near <= stars", "near <= bright", "--svg", "-")
    assert result.exit_code == 1
    assert parsed(result.stdout).get("role") == "img"
    golden("docs/pictures/world.svg", result.stdout)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 7, 100])
def test_a_picture_can_be_had_of_any_number_of_sets(count):
    union = " | ".join(["{}", *(f"S{i}" for i in range(count))])
    for question in (f"X <= {union}", f"{union} <= ({union})", f"X & ({union}) == X"):
        assert parsed(prove(question, "--svg", "-").stdout).get("role") == "img"


# --- a budget ---


def test_a_budget_that_runs_out_is_not_proved_and_says_so():
    result = prove("--budget", "0", "--given", "E <= B", SET_LAW)
    assert result.exit_code == 1
    assert result.stdout == "not proved: B - (C ^ D) == B - (C | D) | B & C & D\n\nThe budget of 0 s ran out.\n"
    assert answer("--budget", "0", SET_LAW)["world"] is None
    assert parsed(prove("--budget", "0", SET_LAW, "--svg", "-").stdout).get("role") == "img"


def test_a_budget_that_suffices_changes_nothing():
    assert prove("--budget", "60", SET_LAW).exit_code == 0
    assert answer("--budget", "60", "A <= B")["world"] is not None


# --- wrong things typed ---


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("A == B", "C == D"),
        ("--nonsense", "A == B"),
        ("--given",),
        ("--facts",),
        ("--budget", "soon", "A == B"),
        ("--budget", "-1", "A == B"),
        ("--budget", "nan", "A == B"),
        ("--budget", "inf", "A == B"),
        ("",),
        ("   ",),
        ("A",),
        ("A = B",),
        ("A == B ==",),
        ("A <= (B",),
        ("A == B; C == D",),
        ("nonempty()",),
        ("disjoint(A)",),
        ("lambda: A",),
        ("A.b == C",),
        ("A[0] == C",),
        ("1 == 1",),
        ('"" == A',),
        ("--given", "A = B", "A == B"),
        ("--svg", "/nowhere/at/all.svg", "A == B"),
        ("not " * 5000 + "A == B",),
    ],
)
def test_bad_input_has_exit_status_2_and_no_stack_trace(arguments):
    result = prove(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)


def test_names_of_any_characters_are_shown_harmlessly():
    result = prove("--given", '"\x1b[2J" <= "naïve ✓"', '"naïve ✓" <= "\x1b[2J"')
    assert result.exit_code == 1
    assert "\x1b[2J" not in result.stdout
    assert "something is in naïve ✓ only" in result.stdout


@pytest.mark.parametrize(
    "harm", ["__import__('os').system('touch harm')", "open('harm', 'w')", "exec('open(\"harm\")')"]
)
def test_nothing_is_executed(harm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in ([harm], ["--given", harm, "A == B"], ["--facts", facts_file(tmp_path, harm), "A == B"]):
        result = prove(*arguments)
        assert result.exit_code == 2
        assert "functions cannot be called" in result.stderr or "has no meaning" in result.stderr
    assert not (tmp_path / "harm").exists()
    assert prove(f'"{harm.translate({34: 39})}" == A').exit_code == 1, "in quotes it is the name of a set"


def test_a_question_is_read_before_anything_is_proved():
    assert statement("A == B").labels == ("A", "B")
    assert prove("--given", "A < A", "A ==").stderr.startswith("provenn: the statement ends too early")
