"""Commands that define: ingest and the verbs."""

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.cli.archive_session import Session


@pytest.mark.parametrize(
    ("typed", "kind", "told", "attributes"),
    [
        ("select stars 'dec > 0'", "SelectSources", "the sources of stars where dec > 0", 5),
        ("restrict stars bright", "RestrictSources", "the sources of stars that are also in bright", 5),
        ("exclude stars bright", "ExcludeSources", "the sources of stars that are not in bright", 5),
        (
            "sample stars 0.1 --seed 3",
            "SampleSources",
            "a sample of the sources of stars: a fraction of 0.1, with seed 3",
            5,
        ),
        ("keep stars plx vmag", "KeepAttributes", "stars, only its attributes hip, plx and vmag", 3),
        ("rename stars vmag=v", "RenameAttributes", "stars, with vmag renamed to v", 5),
        ("derive stars d='plx = 1'", "DeriveAttributes", "stars, with d = plx = 1", 6),
        (
            "combine bright near",
            "CombineAttributes",
            "the attributes of bright and near, for the sources common to all",
            6,
        ),
        ("concat bright near", "ConcatSources", "the sources of bright and near together", 5),
        (
            "crossmatch bright near --radius '0.1 arcmin' --left plx dec --right plx dec",
            "CrossMatch",
            "each source of bright with the nearest of near within 6 arcsec on the sky",
            12,
        ),
        (
            "crossmatch bright near --radius 1 --matches all --left plx dec --right plx dec --suffix _near",
            "CrossMatch",
            "all pairs of bright and near within 1 arcsec on the sky",
            12,
        ),
        (
            "crossmatch bright near --radius 1 --matches 3 --left plx dec --right plx dec",
            "CrossMatch",
            "each source of bright with the 3 nearest of near within 1 arcsec on the sky",
            12,
        ),
        (
            (
                "crossmatch bright near --radius 1 --min-radius 0.5 --left plx dec --right plx dec --frame fk5 icrs "
                "--epoch 2016 --left-epoch 2000 --left-motion 'plx dec' --right-motion ''"
            ),
            "CrossMatch",
            "each source of bright with the nearest of near from 0.5 arcsec to 1 arcsec on the sky at the epoch 2016",
            12,
        ),
        (
            "crossmatch bright near --radius 1 --matches mutual --left plx dec --right plx dec",
            "CrossMatch",
            "the sources of bright and near that are the nearest of each other within 1 arcsec on the sky",
            12,
        ),
        (
            "lookup bright near --on hip --attribute dist_pc",
            "LookupAttributes",
            "the sources of bright, with dist_pc of the partner in near that hip names",
            6,
        ),
        (
            "lookup bright near --on hip --attribute dist_pc --missing null --prefix near_",
            "LookupAttributes",
            "the sources of bright, with near_dist_pc of the partner in near that hip names; NULL without a partner",
            6,
        ),
        ("having stars bright --on hip", "HavingSources", "the sources of stars that hip of bright names", 5),
        ("without stars bright --on hip", "HavingSources", "the sources of stars that hip of bright does not name", 5),
        (
            "group stars --by hip --population object n='count(*)' mean='avg(vmag)'",
            "GroupSources",
            "the groups of the sources of stars with the same hip, with n = count(*) and mean = avg(vmag)",
            3,
        ),
        (
            "first stars --by hip --order 'plx DESC' --number 2",
            "FirstSources",
            "the first 2 sources of stars for each hip, by plx DESC",
            5,
        ),
    ],
)
def test_every_verb(survey: Session, typed, kind, told, attributes):
    found = survey.json(f"{typed} --name new")
    assert (found["name"], found["kind"], found["is"]) == ("new", kind, told)
    assert len(found["attributes"]) == attributes
    assert survey(f"{typed} --name new") == f"new: {told}\n", "the same definition is the same catalog"
    assert survey(typed) == f"{'both' if kind == 'CombineAttributes' else 'new'}: {told}\n", "and has its names"


def test_a_catalog_without_a_name_is_called_by_its_digest(survey: Session):
    word = survey("select stars 'dec > 0'").partition(":")[0]
    assert survey.json(f"show {word}")["digest"].startswith(word)
    assert survey(f"relate {word} stars") == f"subset: {word} lies inside stars\n"


def test_odd_names(survey: Session):
    survey("rename stars 'vmag=B-V' --name 'odd (one)'")
    survey("derive 'odd (one)' '2 x B-V=2 * `B-V`' --name odder")
    assert [one["name"] for one in survey.json("show odder")["attributes"]][-1] == "2 x B-V"
    survey("select 'odd (one)' '`B-V` < 6' --name blue")
    assert survey("relate blue bright") == "equal: blue has the same sources as bright\n"


def test_the_sources_that_occur_in_pairs(survey: Session):
    survey("crossmatch bright near --radius 2 --left plx dec --right plx dec --name pairs")
    told = "the sources of near that occur in pairs, on its right side"
    assert survey("matched pairs --side right --name found") == f"found: {told}\n"
    assert survey("relate found stars") == "subset: found lies inside stars\n"
    assert survey("matched pairs").endswith("the sources of bright that occur in pairs, on its left side\n")
    assert survey("unmatched pairs --side right --name lonely").startswith("lonely: ")
    assert survey("relate found lonely").startswith("disjoint")
    assert survey("prove 'found | lonely == near'").startswith("proved")
    assert "expected pairs of a cross-match" in survey.fails("matched bright")
    assert "expected pairs of a cross-match" in survey.fails("unmatched bright")
    match = "crossmatch bright near --left plx dec --right plx dec"
    assert "--unit err=arcsec" in survey.fails(f"{match} --radius plx --max-radius 5")
    survey("derive bright err=plx --unit err=mas --name circles")
    circles = match.replace("bright", "circles")
    assert "--max-radius '10 arcsec'" in survey.fails(f"{circles} --radius err")
    words = "each source of circles with the nearest of near within err, at most 5 arcsec, on the sky"
    assert survey(f"{circles} --radius err --max-radius 5").endswith(f"{words}\n")
    assert "got 'soon'" in survey.fails(f"{match} --radius 2 --epoch soon")
    assert "got 'here'" in survey.fails(f"{match} --radius 2 --frame here icrs")
    assert "--left-epoch 2000" in survey.fails(f"{match} --radius 2 --epoch 2016 --left-motion 'plx dec'")
    assert "--epoch 2016" in survey.fails(f"{match} --radius 2 --left-epoch 2000")
    assert "cannot compare: pairs holds star & star pairs, stars holds stars" in survey.fails("relate pairs stars")
    assert "up to 180 degrees" in survey.fails("crossmatch bright near --radius 0 --left plx dec --right plx dec")
    assert "best, all, mutual" in survey.fails(
        "crossmatch bright near --radius 1 --matches 0 --left plx dec --right plx dec"
    )
    assert "--left ra dec and --right ra dec" in survey.fails("crossmatch bright near --radius 2"), (
        "positions are not known"
    )


def test_concat_with_an_order(survey: Session):
    survey("derive stars d='1' --name one")
    survey("derive stars d='2' --name two")
    assert "several values of d" in survey.fails("concat one two")
    assert survey("concat one two --order first").endswith(
        "for a source in several, the first one provides the values\n"
    )


def test_a_calculator_by_name(survey: Session):
    import provenn  # noqa: PLC0415 - registered from Python, used from the command line

    with provenn.open(survey.folder) as archive:
        archive.calculator("distance", sql={"pc": "1000 / plx"})
    assert survey("derive stars --calculator distance --name d") == "d: stars, with pc = 1000 / plx\n"
    assert survey.json("derive stars -c pc")["attributes"][-1]["name"] == "pc"


# --- ingest ---


def test_csv_with_types_and_options(empty: Session, tmp_path):
    (tmp_path / "one.csv").write_text("hip;name\n1;Sirius\n")
    (tmp_path / "two.csv").write_text("hip;name\n2;\n")
    found = empty.json(
        f"ingest names '{tmp_path}/*.csv' -k hip -p star --schema name=string --schema hip=bigint --option sep=';'"
    )
    assert [(one["name"], one["type"]) for one in found["attributes"]] == [("hip", "bigint"), ("name", "string")]


def test_a_format_that_only_spark_knows(empty: Session, tmp_path):
    (tmp_path / "stars.orc").write_bytes(b"ORC")
    assert "without a schema" in empty.fails(f"ingest s '{tmp_path}/stars.orc' -k hip -p star --format orc")
    found = empty.json(f"ingest s '{tmp_path}/stars.orc' -k hip -p star --format orc --schema hip=bigint")
    assert found["is"] == f"the rows of {tmp_path}/stars.orc"


def test_several_key_columns(empty: Session, tmp_path):
    (tmp_path / "v.csv").write_text("night,number\n1,2\n")
    assert empty.json(f"ingest v '{tmp_path}/v.csv' -k night -k number -p visit")["key"] == ["night", "number"]


def test_what_stands_for_null_is_told_and_taken(empty, tmp_path):
    (tmp_path / "a.csv").write_text("hip,vmag\n1,null\n2,1.5\n")
    told = empty.fails(f"ingest a '{tmp_path}/a.csv' -k hip -p star")
    assert "would be text because of 'null'" in told
    assert "--null=null" in told
    found = empty.json(f"ingest a '{tmp_path}/a.csv' -k hip -p star --null=null")
    assert [one["type"] for one in found["attributes"]] == ["bigint", "double"]


def test_without_rebuild_only_the_name_moves(survey: Session, tmp_path):
    (tmp_path / "new.csv").write_text("hip,vmag\n1,2.0\n")
    before = survey.json("show bright")["digest"]
    survey(f"ingest stars '{tmp_path}/new.csv' -k hip -p star --no-rebuild")
    assert survey.json("show bright")["digest"] == before
    assert len(survey.json("log stars")) == 2


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("cut.fits", b"SIMPLE  =                    T", "cut.fits cannot be read as FITS"),
        ("cut.vot", b"<VOTABLE><RESOURCE><TABLE>", "cut.vot does not end like a VOTable"),
        (
            "sly.vot",
            b'<!DOCTYPE VOTABLE [<!ENTITY x SYSTEM "file:///etc/passwd">]><VOTABLE>&x;</VOTABLE>',
            "sly.vot declares a document type",
        ),
        ("cut.parquet", b"PAR1", "cut.parquet cannot be read as Parquet"),
    ],
)
def test_files_that_are_cut_off_or_sly_are_refused_in_words(stars: Session, tmp_path, name, content, problem):
    """And the name stays where it is."""
    before = stars.json("show stars")["digest"]
    (tmp_path / name).write_bytes(content)
    told = stars.fails(f"ingest stars '{tmp_path / name}' -k hip -p star --rebuild")
    assert problem in told
    assert "Traceback" not in told
    assert len(told.strip().splitlines()) > 1, "there is a hint"
    assert stars.json("show stars")["digest"] == before


def test_ingest_versions_of_a_delta_table(empty: Session, tmp_path):
    write_deltalake(tmp_path / "lake", pa.table({"id": [1, 2, 3]}))
    write_deltalake(tmp_path / "lake", pa.table({"id": [9]}), mode="overwrite")
    typed = f"ingest stars '{tmp_path}/lake' -k id -p star"
    assert f"1 row of {tmp_path}/lake, a Delta table, first seen in version 1" in empty(typed)
    old = empty.json(f"ingest old '{tmp_path}/lake' -k id -p star --version 0")
    assert old["is"] == f"3 rows of {tmp_path}/lake, a Delta table, first seen in version 0"
    assert "has no version 5" in empty.fails(f"{typed} --version 5")
    assert "use --version or --when" in empty.fails(f"{typed} --version 0 --when 2026-01-01")
    assert empty("refresh stars") == "stars: unchanged\n"
