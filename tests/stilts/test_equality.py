"""On real stars, provenn and STILTS have the same results: selections, joins, cross-matches."""

import numpy as np
import pandas as pd
import pytest

SELECTIONS = {  # SQL, and what it is in STILTS
    "vmag < 6": "vmag < 6",
    "plx > 10 AND dec < -30": "plx > 10 && dec < -30",
    "ra >= 350 OR ra < 10": "ra >= 350 || ra < 10",
    "vmag BETWEEN 2 AND 3": "vmag >= 2 && vmag <= 3",
    "bv IS NULL": "NULL_bv",
    "NOT (vmag < 9) AND bv IS NOT NULL": "vmag >= 9 && !NULL_bv",
    "pmra * pmra + pmdec * pmdec > 1000000": "pmra * pmra + pmdec * pmdec > 1000000",
    "abs(dec) > 85 AND (hip % 2 = 1 OR vmag < 4)": "abs(dec) > 85 && (hip % 2 == 1 || vmag < 4)",
}


def same(ours: pd.DataFrame, theirs: pd.DataFrame, *key: str) -> None:
    """Compare all values of two tables; the rows are in no order, and a number is the same to the last bit."""
    names = list(ours.columns)
    left, right = (item[names].sort_values(list(key), ignore_index=True) for item in (ours, theirs))
    assert len(left) == len(right)
    for name in names:
        if pd.api.types.is_numeric_dtype(left[name]):
            np.testing.assert_array_equal(left[name].to_numpy(float), right[name].to_numpy(float), err_msg=name)
        else:
            assert left[name].where(left[name].notna(), "").tolist() == right[name].fillna("").astype(str).tolist(), (
                name
            )


def test_all_of_hipparcos_is_read_back(sky, exported, stilts):
    same(sky["hipparcos"].to_pandas(), stilts("tpipe", f"in={exported['hipparcos']}"), "hip")


def test_selections_have_the_same_sources(sky, exported, stilts):
    """All in one go: STILTS notes for each star which selections it is in."""
    columns = [f"cmd=addcol in_{place} '{theirs}'" for place, theirs in enumerate(SELECTIONS.values())]
    noted = stilts("tpipe", f"in={exported['hipparcos']}", *columns)
    for place, ours in enumerate(SELECTIONS):
        expected = set(noted.loc[noted[f"in_{place}"].astype(str).str.lower() == "true", "hip"])
        assert expected, "it is no empty comparison"
        assert set(sky["hipparcos"].select(ours).keep().to_pandas()["hip"]) == expected, ours


def test_a_selection_has_the_same_values(sky, exported, stilts):
    theirs = stilts("tpipe", f"in={exported['hipparcos']}", "cmd=select 'vmag < 6 && plx > 10'")
    ours = sky["hipparcos"].select("vmag < 6 AND plx > 10").to_pandas()
    assert len(ours) > 1000
    same(ours, theirs, "hip")


@pytest.mark.parametrize(("other", "rows"), [("names", 4_870), ("first", 115_280)])
def test_joins_have_the_same_values(sky, exported, stilts, other, rows):
    """Hipparcos with the names of its stars, and with the entries of BigSky."""
    theirs = stilts(
        "tmatch2",
        f"in1={exported['hipparcos']}",
        f"in2={exported[other]}",
        "matcher=exact",
        "values1=hip",
        "values2=hip",
        "join=1and2",
        "find=best",
        "suffix1=",
    )
    ours = sky["hipparcos"].combine(other).to_pandas()
    assert len(ours) == rows
    same(ours, theirs, "hip")


@pytest.mark.parametrize(
    ("part", "pairs"), [("dec > 60", 7_000), pytest.param("dec > -90", 110_000, marks=pytest.mark.campaign)]
)
def test_cross_matches_have_the_same_pairs(sky, exported, stilts, part, pairs):
    """Every pair within 2 arcsec; and for each star of Hipparcos around the pole the nearest entry of BigSky."""
    matches = {}
    for find, where in (("all", part), ("best1", "dec > 60")):
        matches[find] = stilts(
            "tmatch2",
            f"in1={exported['hipparcos']}",
            f"icmd1=select '{where}'; keepcols 'hip ra dec'",
            f"in2={exported['bigsky']}",
            "matcher=sky",
            "params=2",
            "values1=ra dec",
            "values2=ra dec",
            "join=1and2",
            f"find={find}",
        )
    chosen = sky["hipparcos"].select(part)
    ours = chosen.crossmatch("bigsky", 2, matches="all").keep("hip", "star", "separation").to_pandas()
    theirs = matches["all"].rename(columns={"Separation": "separation"})[["hip", "star", "separation"]]
    both = ours.merge(theirs, on=["hip", "star"], how="outer", suffixes=("", "_theirs"), indicator=True)
    differing = both[both["_merge"] != "both"]
    assert (abs(differing[["separation", "separation_theirs"]].max(axis=1) - 2) < 1e-6).all(), "but at the border"
    np.testing.assert_allclose(both["separation"].dropna(), both["separation_theirs"].dropna(), atol=1e-6)
    assert len(ours) > pairs
    polar = sky["hipparcos"].select("dec > 60")
    best = polar.crossmatch("bigsky", 2).keep("hip", "star", "separation").to_pandas()
    nearest = best.merge(matches["best1"], on="hip", how="outer", suffixes=("", "_theirs"))
    assert len(nearest) == len(best) == len(matches["best1"])
    np.testing.assert_allclose(nearest["separation"], nearest["Separation"], atol=1e-6)
    alike = nearest["star"] == nearest["star_theirs"]
    assert alike.mean() > 0.999, "entries at one place are as near as each other"
