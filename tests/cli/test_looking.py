"""Commands that look: ls, show, lineage, relate, prove, facts."""

import json

import pytest

from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.display.svg import parsed


def test_ls_is_a_table_of_what_has_a_name(survey: Session):
    survey("keep stars hip")
    lines = survey("ls").splitlines()
    assert lines[0].split() == ["name", "class", "population", "attributes", "since", "by"]
    assert [line.split()[:4] for line in lines[1:]] == [
        ["both", "CombineAttributes", "star", "6"],
        ["near", "DeriveAttributes", "star", "6"],
        ["bright", "SelectSources", "star", "5"],
        ["stars", "Base", "star", "5"],
    ]
    assert len(survey("ls --all").splitlines()) == 6
    assert [line.split()[0] for line in survey("ls VMAG").splitlines()] == ["name", "bright"]
    assert [one["names"] for one in survey.json("ls --kind Base -p star")] == [["stars"]]
    assert survey("ls --most 1").splitlines()[-1].startswith("… and more")
    assert survey("ls -p galaxy").startswith("no named catalogs\nhint: ")


def test_show_in_plain_words(survey: Session):
    survey("declare 'nonempty(bright)' --reason seen")
    assert survey("show bright").splitlines()[:3] == [
        "bright: the sources of stars where vmag < 6",
        "  one row is   star, known by hip",
        "  sources      in stars and vmag < 6",
    ]
    found = survey.json("show bright")
    assert set(found) == {
        *("name", "names", "digest", "kind", "is", "made_from", "population", "key", "attributes", "sources"),
        *("definition", "facts", "unproved", "created_at", "created_by", "known_by", "caveats", "metadata"),
        *("news", "not_understood"),
    }
    said = dict.fromkeys(("unit", "ucd", "description"), "")
    assert found["attributes"][0] == {"name": "hip", "type": "bigint", "nullable": False, **said}
    assert found["definition"] == ['bright == stars & "vmag < 6"']
    assert found["facts"][0]["reason"] == "seen"
    assert survey.json(f"show {found['digest'][:8]}")["digest"] == found["digest"]


def test_lineage_goes_as_deep_as_is_asked(survey: Session):
    assert survey("lineage both --depth 0") == (
        "both: the attributes of bright and near, for the sources common to all …\n"
    )
    steps = survey.json("lineage both")
    assert [one["name"] for one in steps] == ["both", "near", "bright", "stars"]
    assert steps[0]["made_from"] == [steps[2]["digest"], steps[1]["digest"]]


def test_relate_for_programs_and_as_a_picture(survey: Session, tmp_path):
    assert survey.json("relate near both") == {
        "left": "near",
        "right": "both",
        "summary": "superset",
        "statement": "near >= both",
        "reasons": [
            {
                "statement": "both == bright & near",
                "because": "both: the attributes of bright and near, for the sources common to all",
            }
        ],
        "chain": [
            {
                "line": 1,
                "statement": "both == bright & near",
                "because": "both: the attributes of bright and near, for the sources common to all",
                "inferred": False,
                "from": [],
            },
            {"line": 2, "statement": "near >= both", "because": "from 1", "inferred": True, "from": [1]},
        ],
        "rests_on": [],
        "caveats": [],
        "closest": [],
        "witnesses": [],
        "labels": ["near", "both"],
        "hypercubes": [
            [[True, False], [False, False]],
            [[True, False], [True, False]],
            [[True, False], [False, True]],
            [[True, False], [True, True]],
        ],
    }
    file = tmp_path / "relation.svg"
    assert survey(f"relate near both --svg '{file}'") == "superset: near covers both\n"
    parsed(file.read_text())
    parsed(survey("relate near both --svg -"))
    assert survey("relate near near --why") == "equal: near has the same sources as near, whatever they are\n"


def test_why_shows_rows_that_tell_catalogs_apart(survey: Session):
    survey("select stars 'vmag < 7' --name wider")
    line = "possible: a row with vmag = 6 would be in wider and not in bright"
    assert survey("relate bright wider --why").splitlines()[-1] == f"  {line}"
    assert "possible" not in survey("relate bright wider")
    (witness,) = survey.json("relate bright wider --why")["witnesses"]
    assert witness == {
        "values": {"vmag": "6"},
        "inside": ["wider"],
        "outside": ["bright"],
        "words": line.removeprefix("possible: "),
    }


def test_different_populations_are_not_compared(survey: Session, tmp_path):
    survey(f"ingest galaxies '{write_parquet(tmp_path / 'g.parquet', {'pgc': [1]})}' -k pgc -p galaxy")
    assert "stars holds stars, galaxies holds galaxies" in survey.fails("relate stars galaxies")


# --- prove ---


def test_prove_in_an_archive(survey: Session):
    told = survey("prove 'bright == both'").splitlines()
    assert told[:3] == ["proved: bright == both", "", "It is true in every world that the facts allow, because"]
    assert told[3] == '  bright == stars & "vmag < 6"   bright: the sources of stars where vmag < 6'
    unknown = survey.run("prove 'bright == stars'")
    assert (unknown.exit_code, unknown.stdout.splitlines()[0]) == (1, "not proved: bright == stars")
    assert "A possible world in which it is false" in unknown.stdout
    refuted = survey.run("prove 'stars < bright'")
    assert (refuted.exit_code, refuted.stdout.splitlines()[0]) == (1, "refuted: stars < bright")


def test_prove_for_programs(survey: Session):
    found = survey.json("prove 'bright <= stars'")
    assert found == {
        "statement": "bright <= stars",
        "answer": "proved",
        "reason": "it is true in every world that the facts allow",
        "explanation": {
            "facts": [
                {
                    "statement": 'bright == stars & "vmag < 6"',
                    "because": "bright: the sources of stars where vmag < 6",
                }
            ],
            "chain": [
                {
                    "line": 1,
                    "statement": 'bright == stars & "vmag < 6"',
                    "because": "bright: the sources of stars where vmag < 6",
                    "inferred": False,
                    "from": [],
                },
                {"line": 2, "statement": "bright <= stars", "because": "from 1", "inferred": True, "from": [1]},
            ],
        },
        "rests_on": [],
        "caveats": [],
        "closest": [],
        "witnesses": [],
        "world": None,
    }
    unknown = survey.json("prove 'bright == stars'")
    assert (unknown["explanation"], unknown["world"]) == (None, {"regions": [[], ["stars"]]})
    assert unknown["closest"] == ["bright <= stars"]
    assert [(one["inside"], one["outside"]) for one in unknown["witnesses"]] == [(["stars"], ["bright"])]
    assert "a row with vmag = " in survey.run("prove 'bright == stars'").stdout


def test_facts_may_be_given_on_top(survey: Session, tmp_path):
    assert survey.run("prove 'nonempty(stars)'").exit_code == 1
    assert "nonempty(bright)               given" in survey("prove --given 'nonempty(bright)' 'nonempty(stars)'")
    (tmp_path / "f.facts").write_text("nonempty(both)  # seen\n")
    assert survey(f"prove --facts '{tmp_path / 'f.facts'}' 'nonempty(near)'")
    told = survey.fails("prove --given 'stars < bright' 'nonempty(stars)'")
    assert '  bright == stars & "vmag < 6"\n  stars < bright\n' in told


def test_without_the_archive_names_mean_any_sets(survey: Session):
    assert survey("prove --no-archive --given 'B <= A' 'B <= A'").startswith("proved")
    assert survey.run("prove --no-archive 'bright == both'").exit_code == 1
    assert survey.run("prove --no-archive --closed 'outside(A)'").exit_code == 1


@pytest.mark.parametrize("question", ["bright == both", "bright == stars", "near == stars or bright == stars"])
def test_prove_draws_its_answer(survey: Session, question):
    parsed(survey.run(f"prove '{question}' --svg -").stdout)


def test_a_budget_that_ran_out_is_told(survey: Session, monkeypatch):
    monkeypatch.setattr("provenn.archive.questions.monotonic", iter([0.0, 10.0]).__next__)
    found = json.loads(survey.run("prove 'bright == stars' --budget 5 --json").stdout)
    assert (found["answer"], found["reason"], found["world"]) == ("not proved", "the budget ran out", None)


def test_lineage_as_a_picture_and_the_other_way(survey: Session, tmp_path):
    file = tmp_path / "lineage.svg"
    assert survey(f"lineage both --svg '{file}'") == ""
    assert "The lineage around both" in file.read_text()
    assert "bright" not in survey("lineage stars --svg - --depth 0")
    assert "The lineage around stars" in survey("lineage stars --svg - --direction up")
    parsed(survey("lineage stars --svg - --most 2"))
    assert survey("lineage bright --direction down").splitlines() == [
        "bright: the sources of stars where vmag < 6",
        "└── both: the attributes of bright and near, for the sources common to all",
    ]
    both = survey("lineage bright --direction both --depth 1").splitlines()
    assert both[1].startswith("└── stars: ")
    assert both[2:4] == ["", "and made from it"]


def test_lineage_the_other_way_for_programs(survey: Session):
    found = survey.json("lineage bright --direction down --most 2")
    assert [one["name"] for one in found] == ["bright", "both"]
    assert found[1]["made_from"] == [found[0]["digest"]]
    assert (found[0]["more_above"], found[1]["more_above"], found[0]["more_below"]) == (1, 1, 0)
    assert found[0]["stored"] == 0


def test_lineage_has_three_directions(survey: Session):
    result = survey.run("lineage bright --direction sideways")
    assert result.exit_code == 2
    assert "sideways" in result.stderr


def test_ls_by_attribute_and_owner_in_another_order(survey: Session):
    def listed(options: str) -> list[str]:
        return [line.split()[0] for line in survey(f"ls {options}").splitlines()[1:]]

    assert listed("--sort oldest") == ["stars", "bright", "near", "both"]
    assert listed("--sort name") == ["both", "bright", "near", "stars"]
    assert listed("--attribute DIST") == ["both", "near"]
    assert listed("--owner ada --kind Base") == ["stars"]
    assert survey("ls --owner grace").startswith("no named catalogs\n")
    survey.fails("ls --sort size")


def test_compare_for_people_for_programs_and_as_a_picture(survey: Session):
    said = survey("compare bright near both --why").splitlines()
    assert sorted(said) == sorted(
        [  # which reason comes first is up to digests
            "bright lies inside near, because",
            '  bright == stars & "vmag < 6"   bright: the sources of stars where vmag < 6',
            "  near == stars                  near: stars, with dist_pc = 1000 / plx",
            "bright has the same sources as both, because",
            '  bright == stars & "vmag < 6"   bright: the sources of stars where vmag < 6',
            "  near == stars                  near: stars, with dist_pc = 1000 / plx",
            "  both == bright & near          both: the attributes of bright and near, for the sources common to all",
            "near covers both, because",
            "  both == bright & near   both: the attributes of bright and near, for the sources common to all",
            "  outside: must hold something",
            "  in both only: must be empty",
            "  in near only: unknown, at most 6 sources",
            "  in near and both only: must be empty",
            "  in bright only: must be empty",
            "  in bright and both only: must be empty",
            "  in bright and near only: must be empty",
            "  in bright, near and both: unknown, at most 5 sources",
        ]
    )
    told = survey.json("compare bright near")
    assert set(told) == {"names", "digests", "regions", "rests_on", "relations", "hypercubes"}
    assert told["regions"][2] == {
        "inside": [True, False],
        "words": "in bright only",
        "state": "empty",
        "low": 0,
        "high": 0,
    }
    assert told["relations"][0]["summary"] == "subset"
    assert parsed(survey("compare bright near --svg -"))
    assert "two or three catalogs can be compared, not 1" in survey.fails("compare bright")


def test_nothing_was_run_yet(survey: Session):
    assert survey("runs").startswith("no runs\n")
    assert survey.json("runs bright") == []


def test_bounds_are_told_with_their_proof(survey: Session):
    assert survey("bounds 'bright - both'").splitlines() == [
        "bright - both has no sources",
        "  at least 0",
        "  at most 0: |bright - both| = 0",
    ]
    assert "the sources of stars where vmag < 6" in survey("bounds bright --why")
    found = survey.json("bounds bright")
    assert (found["low"], found["high"], found["complete"]) == (0, 5, True)
    assert found["counts"] == [
        {"set": 'stars & "vmag IS NOT NULL"', "low": 0, "high": 5, "because": "the NULLs of vmag in its files"}
    ]
    assert "did you mean bright" in survey.fails("bounds 'brigth - both'")
    assert "a set is expected" in survey.fails("bounds 'bright <= both'")
