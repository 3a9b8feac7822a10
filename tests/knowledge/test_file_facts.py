"""What files state of themselves: every relation that is proved from it holds on the rows, whoever wrote the files."""

import math
import random
import re
from collections import Counter
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from tempfile import mkdtemp

import cdshealpix
import numpy as np
import pyarrow as pa
import pytest
from astropy.table import MaskedColumn, Table
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn import sky
from provenn.catalogs import Base, Catalog, ConcatSources, Files, cone, verbs
from provenn.errors import CriterionError
from provenn.files.column_bounds import BOUNDS
from provenn.knowledge.consequences import TracedKnowledge, build_knowledge
from provenn.logic import disjoint, empty, equal, subset
from provenn.targets.known import build_definition
from provenn.targets.steps import Scan, walk_steps
from provenn.transfer.portable_files import select_portable_notes
from tests.catalogs.skies import write_hats
from tests.criteria.oracle import constants, criteria, labelled, witnesses
from tests.targets.scenes import planned

STORED = {
    "tinyint": [pa.int8()],
    "smallint": [pa.int16()],
    "int": [pa.int32()],
    "bigint": [pa.int64()],
    "float": [pa.float32()],
    "double": [pa.float64()],
    "decimal(5,2)": [pa.decimal128(5, 2)],
    "string": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    "boolean": [pa.bool_()],
    "date": [pa.date32(), pa.date64()],
    "timestamp": [pa.timestamp("us", "UTC"), pa.timestamp("us", "Asia/Tokyo")],
}
"""The types of Arrow in which columns of a type are written."""


def know(*catalogs: Catalog, footers: bool = True) -> TracedKnowledge:
    """What is known of catalogs, with or without what their files state."""
    definitions = [build_definition(catalog) for catalog in cone(*catalogs)]
    for definition in definitions:
        if not footers:
            definition.notes.pop(BOUNDS, None)
    return build_knowledge(definitions)


def write(place: Path, *, types=None, **columns) -> Path:
    """Write a file with the key `id` and other columns."""
    place.mkdir(parents=True, exist_ok=True)
    size = len(next(iter(columns.values())))
    columns = {"id": range(1, size + 1)} | columns
    arrays = {key: pa.array(values, (types or {}).get(key)) for key, values in columns.items()}
    parquet.write_table(pa.table(arrays), place / "a.parquet")
    return place


def ingest(place: Path, **options) -> Base:
    return Base.of(Files.at(place, **options), key="id", population="star")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stated")


@st.composite
def drawn_bases(draw, place: Path):
    """Bases whose values lie near the constants of criteria, each in a range of its own; the criteria; and the rows."""
    kinds = draw(st.lists(st.sampled_from(list(STORED)), min_size=1, max_size=2))
    columns = dict(zip("xy", kinds, strict=False))
    trees = draw(st.lists(criteria(*columns.items(), between_columns=True, max_leaves=3), min_size=1, max_size=3))
    near = [pair for tree in trees for pair in constants(tree)]
    stored = {name: draw(st.sampled_from(STORED[kind])) for name, kind in columns.items()}
    bases, rows, key = [], [], 0
    for number in range(draw(st.integers(1, 2))):
        own: dict[int, dict] = {}
        for file in range(draw(st.integers(1, 2))):
            size = draw(st.sampled_from([5, 4, 3, 2, 1, 0]))
            values = {name: draw_values(draw, kind, near, name, size) for name, kind in columns.items()}
            ids = range(key, key + size)
            key += size
            own |= {one: {name: values[name][row] for name in columns} for row, one in enumerate(ids)}
            plain = {name: pa.string() if pa.types.is_dictionary(kind) else kind for name, kind in stored.items()}
            arrays = {name: pa.array(values[name], plain[name]).cast(kind) for name, kind in stored.items()}
            table = pa.table({"id": pa.array(ids, pa.int64()), **arrays})
            (place / str(number)).mkdir(exist_ok=True)
            parquet.write_table(
                table,
                place / str(number) / f"{file}.parquet",
                row_group_size=draw(st.integers(1, 3)),
                write_statistics=draw(st.sampled_from([True, True, True, False, ["x"]])),
            )
        bases.append(ingest(place / str(number)))
        rows.append(own)
    return bases, trees, rows


def draw_values(draw, kind: str, near: list, name: str, size: int) -> list:
    """Draw values from a part of the witnesses of a column."""
    possible = witnesses(kind, [value for column, value in near if column == name])
    seed = draw(st.integers(0, 2**16))
    random.Random(seed).shuffle(possible)
    chosen = possible[: draw(st.integers(1, 3))]
    if kind in ("float", "double") and draw(st.booleans()):
        chosen.append(math.nan)
    return draw(st.lists(st.sampled_from(chosen), min_size=size, max_size=size))


def test_what_is_proved_from_footers_holds_on_the_rows(folder):
    """Random files and criteria: NULL, NaN, zeros of both signs, infinities, all types, files without statistics."""
    proofs: Counter[str] = Counter()

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def examine_files(data) -> None:
        bases, trees, rows = data.draw(drawn_bases(Path(mkdtemp(dir=folder))))
        sets: dict[str, set[int]] = {base.digest: set(own) for base, own in zip(bases, rows, strict=True)}
        assume(len(sets) == len(bases))
        catalogs: list[Catalog] = list(bases)
        if len(bases) == 2:
            catalogs.append(ConcatSources.of(*bases, overlap="first"))
            sets[catalogs[-1].digest] = set().union(*rows)
        values = {key: row for own in rows for key, row in own.items()}
        for catalog in tuple(catalogs):
            for tree in trees:
                with suppress(CriterionError):
                    catalogs.append(verbs.select(catalog, tree.sql()))
                    sources = {key for key in sets[catalog.digest] if tree.truth(values[key]) is True}
                    sets[catalogs[-1].digest] = sources
        traced, blind = know(*catalogs), know(*catalogs, footers=False).knowledge
        assert traced.knowledge.consistent
        for base, own in zip(bases, rows, strict=True):
            proofs["facts"] += check_facts(traced, base, own)
        claims = {empty(digest): not sources for digest, sources in sets.items()}
        for (digest, sources), (other, other_sources) in permutations(sets.items(), 2):
            claims[subset(digest, other)] = sources <= other_sources
            claims[disjoint(digest, other)] = not sources & other_sources
        for claim, is_true in claims.items():
            if traced.knowledge.entails(claim):
                assert is_true, f"{claim} is proved, and false"
                proofs["by footers"] += not blind.entails(claim)

    examine_files()
    assert proofs["facts"] > 50, "the facts must be there to be wrong"
    assert proofs["by footers"] > 100


def check_facts(known: TracedKnowledge, base: Base, rows: dict[int, dict]) -> int:
    """Compare each fact that the files of a base state with its rows; return how many facts there are."""
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    values = {key: {"id": key, **row} for key, row in rows.items()}

    def hold(label: str) -> frozenset[int]:
        if label == base.digest:
            return frozenset(rows)
        inside = labelled(re.sub("`([^`]*)`", lambda found: f"`{names[found[1]]}`", label))
        return frozenset(key for key, row in values.items() if inside(row))

    stated = [
        claim
        for fact, origin in zip(known.knowledge.facts, known.origins, strict=True)
        if origin.kind in ("footers", "folders") and origin.catalog == base.digest
        for claim in fact.claims()
    ]
    for claim in stated:
        assert not claim.inhabited
        assert not claim.region.evaluate(hold, frozenset(), frozenset(rows)), f"a source is in {claim.region}"
    return len(stated)


# --- what is stated, one trap at a time ---


def holds(base: Base, statement, *criteria_texts: str) -> bool:
    """Whether a statement about a base and its selections is proved."""
    selections = [verbs.select(base, text) for text in criteria_texts]
    return know(base, *selections).knowledge.entails(statement(base.digest, *(one.digest for one in selections)))


def is_whole(base: Base, text: str) -> bool:
    return holds(base, equal, text)


def is_empty(base: Base, text: str) -> bool:
    return holds(base, lambda _, selection: empty(selection), text)


def test_a_selection_is_the_whole_or_nothing(tmp_path):
    """Integers, dates, texts and truth values: the lowest and the highest value decide."""
    base = ingest(write(tmp_path, n=[3, 5, 9], name=["Altair", "Mira", "Vega"], good=[True, True, True]))
    assert is_whole(base, "n <= 9")
    assert is_whole(base, "n BETWEEN 3 AND 9")
    assert is_empty(base, "n < 3")
    assert is_empty(base, "n + 1 > 10")
    assert is_whole(base, "name >= 'Altair'")
    assert is_empty(base, "name > 'Vega'")
    assert is_whole(base, "good")
    assert is_whole(base, "id < 4")
    assert not is_whole(base, "n < 9")
    assert not is_empty(base, "n = 9")
    assert not is_empty(base, "n = 4"), "what lies between is not stated"


def test_nan_is_above_every_bound(tmp_path):
    """Writers leave NaN out of statistics: a bound says nothing of it, except below it."""
    base = ingest(write(tmp_path, x=[1.5, float("nan"), 9.5]))
    assert is_empty(base, "x < 1.5")
    assert not is_empty(base, "x > 30"), "NaN is the largest number"
    assert is_empty(base, "x > 30 AND NOT isnan(x)")
    assert not is_whole(base, "x < 12")
    assert is_whole(base, "x < 12 OR isnan(x)")
    assert not is_empty(base, "isnan(x)")


def test_nulls_are_in_no_selection(tmp_path):
    """A column with NULLs has no whole selection; without any value it has none at all."""
    types = {"none": pa.int64()}
    base = ingest(write(tmp_path, n=[1, None, 3], none=[None, None, None], types=types))
    assert not is_whole(base, "n < 5")
    assert is_whole(base, "n < 5 OR n IS NULL")
    assert is_empty(base, "n > 5")
    assert is_empty(base, "none IS NOT NULL")
    assert is_empty(base, "none < 7")
    assert is_whole(base, "none IS NULL")


def test_zeros_of_both_signs_are_equal(tmp_path):
    base = ingest(write(tmp_path, x=[-0.0, 1.0], y=[0.0, -1.0]))
    assert is_empty(base, "x < 0")
    assert not is_empty(base, "x = 0")
    assert not is_empty(base, "y = -0.0D")
    assert is_empty(base, "y > 0 AND NOT isnan(y)")


def test_unsigned_and_decimal_columns_are_ordered_as_numbers(tmp_path):
    """Their stored bits, read as signed integers, have another order."""
    types = {"u": pa.uint64(), "w": pa.uint32(), "d": pa.decimal128(20, 2), "e": pa.decimal128(9, 2)}
    decimals = pa.array([-125, 350], pa.int64()).cast(pa.decimal128(20, 0)).to_pylist()
    base = ingest(write(tmp_path, u=[2**63 + 5, 7], w=[2**31 + 3, 1], d=decimals, e=decimals, types=types))
    assert is_empty(base, "u < 7")
    assert is_whole(base, f"u <= {2**63 + 5}")
    assert not is_empty(base, f"u > {2**63}")
    assert is_whole(base, f"w <= {2**31 + 3}")
    assert not is_empty(base, f"w > {2**31}")
    for column in "de":
        assert is_whole(base, f"{column} >= -125")
        assert is_empty(base, f"{column} > 350")
        assert not is_empty(base, f"{column} < -124.99")
        assert not is_empty(base, f"{column} > 349.99")


def test_moments_of_every_unit_are_bounded_in_microseconds(tmp_path):
    """Seconds are written as milliseconds; nanoseconds are cut to microseconds, and so are not bounded."""
    types = {unit: pa.timestamp(unit, "UTC") for unit in ("s", "ms", "us", "ns")} | {"day": pa.date64()}
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    moments = {unit: [1_700_000_000 * size, 1_800_000_000 * size] for unit, size in second.items()}
    base = ingest(write(tmp_path, **moments, day=[0, 86_400_000], types=types))
    for unit in ("s", "ms", "us"):
        assert is_empty(base, f"{unit} < '2023-11-14 22:13:20'"), unit
        assert not is_empty(base, f"{unit} <= '2023-11-14 22:13:20'"), unit
        assert is_whole(base, f"{unit} <= '2027-01-15 08:00:00'"), unit
        assert not is_whole(base, f"{unit} < '2027-01-15 08:00:00'"), unit
    assert not is_empty(base, "ns < '2020-01-01'")
    assert is_whole(base, "day BETWEEN '1970-01-01' AND '1970-01-02'")
    assert is_empty(base, "day > '1970-01-02'")


def test_old_days_and_moments_in_96_bits_are_not_bounded(tmp_path):
    """Spark may shift days before the Gregorian calendar; the order of moments in 96 bits is not defined."""
    base = ingest(write(tmp_path / "old", day=[-200_000, 0], types={"day": pa.date32()}))
    assert not is_empty(base, "day > '2000-01-01'")
    table = pa.table({"id": [1, 2], "t": pa.array([0, 10**6], pa.timestamp("us"))})
    parquet.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    base = ingest(tmp_path / "t.parquet")
    assert not is_empty(base, "t > '2000-01-01'")


def test_a_long_text_may_be_cut_off(tmp_path):
    """A long text bounds what begins with it; one beyond a limit, or cut off within a character, bounds nothing."""
    base = ingest(write(tmp_path / "long", name=["b" * 20, "c" * 20]))
    assert is_empty(base, "name < 'b'")
    assert is_empty(base, "name > 'd'")
    assert not is_empty(base, f"name > '{'c' * 20}'"), "the highest text may be cut off"
    assert is_empty(base, f"name >= '{'c' * 19}d'")
    base = ingest(write(tmp_path / "longer", name=["b" * 5_000, "c"]))
    assert not is_empty(base, "name > 'd'")


def test_silence_is_no_bound(tmp_path):
    """A single row group without statistics, in one of several files, says that any value may occur."""
    write(tmp_path, n=[1, 2])
    assert is_empty(ingest(tmp_path), "n > 5")
    parquet.write_table(pa.table({"id": [3], "n": [3]}), tmp_path / "b.parquet", write_statistics=False)
    assert not is_empty(ingest(tmp_path), "n > 5")
    assert not is_whole(ingest(tmp_path), "n IS NOT NULL")


def test_only_the_content_of_files_is_believed(tmp_path):
    """Nothing follows for files that are known by their metadata, read with options, or known from elsewhere."""
    write(tmp_path, n=[1, 2])
    assert not is_empty(ingest(tmp_path, trust="metadata"), "n > 5")
    assert not is_empty(ingest(tmp_path, options={"datetimeRebaseMode": "LEGACY"}), "n > 5")
    base = ingest(tmp_path)
    assert select_portable_notes(base.notes()).keys().isdisjoint({BOUNDS})
    selection = verbs.select(base, "n > 5")
    definitions = [build_definition(catalog) for catalog in cone(selection)]
    for definition in definitions:
        if BOUNDS in definition.notes:
            seal, *bounds = definition.notes[BOUNDS]
            definition.notes[BOUNDS] = [seal, *([name, text.replace("3", "9")] for name, text in bounds)]
    assert not build_knowledge(definitions).knowledge.entails(empty(selection.digest)), "a changed note proves nothing"


def test_masked_columns_are_not_bounded(tmp_path):
    """A mask decides what is NULL, and the value below it is no value."""
    table = Table({"id": [1, 2, 3]})
    table["n"] = MaskedColumn([5, 999, 7], mask=[False, True, False])
    table["whole"] = [1, 2, 3]
    table.write(tmp_path / "a.parquet")
    base = ingest(tmp_path / "a.parquet")
    assert not is_whole(base, "n IS NOT NULL")
    assert not is_empty(base, "n < 0")
    assert is_empty(base, "whole < 0")


# --- parts of the data ---


def test_bases_with_other_keys_are_disjoint(tmp_path):
    """Two files, two ranges of the key: no source is in both; and selections by key find their member."""
    first = ingest(write(tmp_path / "1", id=[1, 5], n=[1, 2]))
    second = ingest(write(tmp_path / "2", id=[6, 9], n=[1, 2]))
    both = ConcatSources.of(first, second, overlap="first")
    low = verbs.select(both, "id < 6")
    known = know(both, low).knowledge
    assert known.entails(disjoint(first.digest, second.digest))
    assert known.entails(equal(low.digest, first.digest))
    third = ingest(write(tmp_path / "3", id=[5, 6], n=[1, 2]))
    assert not know(first, third).knowledge.entails(disjoint(first.digest, third.digest))


def test_folders_state_the_values_of_partition_columns(tmp_path):
    """Each day is a base of its own; a day of all is the base of that day."""
    days = []
    for number, day in enumerate(["2026-11-15", "2026-11-16", "2026-11-17"]):
        write(tmp_path / str(number) / f"day={day}", id=[10 * number, 10 * number + 1], n=[1, 2])
        days.append(ingest(tmp_path / str(number)))
    whole = ConcatSources.of(*days, overlap="first")
    selection = verbs.select(whole, "day = '2026-11-16'")
    known = know(whole, selection)
    assert known.knowledge.entails(equal(selection.digest, days[1].digest))
    kinds = {origin.kind for _, origin in known.because(subset(selection.digest, days[1].digest))}
    assert "folders" in kinds
    write(tmp_path / "odd" / "name=M%C3%A1", id=[1], n=[1])
    odd = ingest(tmp_path / "odd")
    assert not is_empty(odd, "name < 'M'"), "programs differ in how they spell other characters"
    write(tmp_path / "missing" / "day=__HIVE_DEFAULT_PARTITION__", id=[1], n=[1])
    missing = ingest(tmp_path / "missing")
    assert is_whole(missing, "day IS NULL")


def test_parts_of_the_data_without_selected_sources_are_not_read(tmp_path):
    """A selection of a day reads the files of that day alone, and says why."""
    days = []
    for number in range(12):
        write(tmp_path / str(number) / f"day=2026-11-{number + 10}", id=[10 * number, 10 * number + 1], n=[1, 2])
        days.append(ingest(tmp_path / str(number)))
    whole = ConcatSources.of(*days, overlap="first")
    plan, rules = planned(verbs.select(whole, "day = '2026-11-16' AND n > 1"))
    assert [step.base for step in walk_steps(plan) if isinstance(step, Scan)] == [days[6]]
    assert "11 of the 12 members of the union have no such sources" in {rule.because for rule in rules}


def test_a_member_that_another_member_overrules_is_read(tmp_path):
    """A source in two members has the values of the first: without the first, the second would be asked."""
    first = ingest(write(tmp_path / "1", id=[1, 2], n=[1, 1]))
    second = ingest(write(tmp_path / "2", id=[2, 3], n=[7, 7]))
    both = ConcatSources.of(first, second, overlap="first")
    plan, _ = planned(verbs.select(both, "n > 5"))
    assert len([step for step in walk_steps(plan) if isinstance(step, Scan)]) == 2


# --- pixels of the sky ---


@pytest.fixture(scope="module")
def southern(tmp_path_factory) -> tuple[Base, pa.Table]:
    """A catalog in HATS of four pixels of order 1, and its rows."""
    place = tmp_path_factory.mktemp("hats") / "sky"
    table = write_hats(place, rows=400)
    kept = {40, 41, 42, 43}
    for file in place.rglob("Npix=*.parquet"):
        if int(file.stem.removeprefix("Npix=")) not in kept:
            file.unlink()
    (place / "partition_info.csv").write_text("\n".join(["Norder,Npix", *(f"1,{pixel}" for pixel in kept)]))
    properties = (place / "hats.properties").read_text()
    (place / "hats.properties").write_text(re.sub("hats_nrows=.*\n", "", properties))
    pixels = np.asarray(table["_healpix_29"]) >> 56
    base = Base.of(Files.at(place), key="source_id", population="star")
    return base, table.filter(pa.array(np.isin(pixels, list(kept))))


def test_regions_away_from_the_pixels_of_a_catalog_have_none_of_its_sources(southern):
    """Random cones, boxes and MOCs: what is proved empty is empty, and much of the sky is."""
    base, rows = southern
    draw = np.random.default_rng(3)
    ra, dec = np.asarray(rows["ra"]), np.asarray(rows["dec"])
    deep = np.asarray(rows["_healpix_29"])
    empty_regions = {"in_cone": 0, "in_box": 0, "in_moc": 0}
    for _ in range(40):
        centre, height, radius = draw.uniform(0, 360), draw.uniform(-90, 90), draw.uniform(1, 20)
        cell = int(draw.integers(0, 12 * 4**3))
        low, high = max(-90, height - radius), min(90, height + radius)
        regions = {
            "in_cone": (
                f"in_cone(ra, dec, {centre}, {height}, {radius})",
                separation(ra, dec, centre, height) <= radius,
            ),
            "in_box": (
                f"in_box(ra, dec, {centre}, {centre + radius}, {low}, {high})",
                ((ra - centre) % 360 <= radius) & (dec >= low) & (dec <= high),
            ),
            "in_moc": (f"in_moc(ra, dec, '3/{cell}')", deep >> 52 == cell),
        }
        for function, (text, inside) in regions.items():
            if is_empty(base, text):
                assert not inside.any(), text
                empty_regions[function] += 1
    assert min(empty_regions.values()) > 10, empty_regions


def test_what_touches_a_pixel_is_not_far():
    """A program may round a position at the edge of a pixel to the other side."""
    pixels = sky.moc("1/40-43")
    far = {pixel for pixel in range(48) if sky.is_far(pixels, sky.moc(f"1/{pixel}"))}
    assert len(far) > 12, "pixels on the other side of the sky are far"
    assert far.isdisjoint(cdshealpix.nested.neighbours([40, 41, 42, 43], 1).ravel().tolist())
    (ra,), (dec,) = (angle.deg for angle in cdshealpix.nested.healpix_to_lonlat([40], 1))
    assert not sky.is_far(pixels, sky.cone(ra, dec, 1e-6))
    assert sky.is_far(pixels, sky.cone((ra + 180) % 360, -dec, 1))


def separation(ra: np.ndarray, dec: np.ndarray, centre: float, height: float) -> np.ndarray:
    """The angles between positions and a centre, in degrees."""
    one, other = np.radians(dec), np.radians(height)
    cosine = np.sin(one) * np.sin(other) + np.cos(one) * np.cos(other) * np.cos(np.radians(ra - centre))
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))
