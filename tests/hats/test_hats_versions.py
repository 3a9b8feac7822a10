"""Folders in HATS that change: a refresh takes them whole or not at all."""

from pathlib import Path

import pytest
from pyarrow import parquet

import provenn
from provenn.errors import BaseFilesError
from tests.catalogs.skies import write_hats


def state_parts(folder: Path) -> None:
    """Write how many rows and which parts a folder has."""
    parts = sorted(folder.rglob("Npix=*"))
    pixels = [f"{path.parts[-3].removeprefix('Norder=')},{path.stem.removeprefix('Npix=')}" for path in parts]
    (folder / "partition_info.csv").write_text("\n".join(["Norder,Npix", *pixels]))
    rows = sum(parquet.read_metadata(path).num_rows for path in parts)
    (folder / "hats.properties").write_text(f"dataproduct_type=object\nhats_nrows={rows}\n")


@pytest.mark.parametrize("folder", ["sky", "a [1] *"])
def test_a_refresh_takes_no_folder_with_missing_parts_or_rows(tmp_path: Path, folder):
    place = tmp_path / folder
    write_hats(place)
    with provenn.open(tmp_path / "survey") as archive:
        sky = archive.ingest("sky", place, key="source_id", population="star")
        part = max(place.rglob("Npix=*"))
        rows = parquet.read_metadata(part).num_rows
        part.unlink()
        with pytest.raises(BaseFilesError, match="parts are missing, such as Norder=1"):
            archive.refresh("sky")
        assert archive["sky"].digest == sky.digest
        state_parts(place)
        archive.refresh("sky")
        assert archive["sky"].digest != sky.digest
        assert archive["sky"].count() == 200 - rows
