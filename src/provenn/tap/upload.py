"""Uploaded tables: VOTables that come with a request, as catalogs for its query alone. Nothing of them is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError, ExpansionError, ProvennError, TapError
from provenn.gate.entrances import entrance

__all__ = ["convert_uploads"]

_POPULATION = "row of an uploaded table"


def convert_uploads(paths: Mapping[str, Path], folder: Path) -> dict[str, Base]:
    """Return the catalogs of uploaded tables by the names in queries, such as ``tap_upload.mine``.

    Parameters
    ----------
    paths
        The files with the VOTables, by the names of the tables.
    folder
        The folder of the job, which gets the rows as Parquet.

    Raises
    ------
    TapError
        If a file is not a VOTable, or claims more than it holds.
    """
    return {f"tap_upload.{name}".lower(): convert_upload(name, path, folder) for name, path in paths.items()}


@entrance("uploaded VOTable", "expansion", "types")
def convert_upload(name: str, path: Path, folder: Path) -> Base:
    """Return the catalog of an uploaded table: its rows have no key but their positions.

    Raises
    ------
    TapError
        If the file is not a VOTable, or claims more than it holds.
    """
    import pyarrow as pa  # noqa: PLC0415 - they take a while to import
    from pyarrow import parquet  # noqa: PLC0415

    from provenn.files.votable_columns import read_votable_columns  # noqa: PLC0415
    from provenn.spark.tables.votable_rows import read_votable_batches  # noqa: PLC0415

    label = f"the uploaded table {name}"
    size = path.stat().st_size
    converted = folder / f"{name}.parquet"
    try:
        with path.open("rb") as stream:
            contents = read_votable_columns(stream, label, {}, size)
        with path.open("rb") as stream:
            tables = list(read_votable_batches(stream, contents.columns, label, "0", size))
        table = pa.concat_tables(tables) if tables else pa.table({})
        parquet.write_table(_read_moments(table, _find_moments(path)), converted)
        files = Files.at(converted, format="parquet")
        described = {column.name: column for column in contents.columns}
        columns = (
            replace(
                column,
                unit=described[column.name].unit,
                description=described[column.name].description,
                ucd=described[column.name].ucd,
            )
            for column in files.columns
        )
        return Base.of(replace(files, columns=tuple(columns)), key=None, population=_POPULATION)
    except TapError:
        raise
    except ExpansionError as error:  # whoever uploads a table cannot change what the gate of the server lets pass
        hint = "state lengths of arrays that fit the values, or leave out compression"
        raise TapError(error.message.replace(str(converted), label), hint=hint) from error
    except ProvennError as error:
        raise TapError(error.message.replace(str(converted), label), hint=error.hint) from error
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise TapError(f"{label} cannot be read as VOTable: {error}") from BaseFilesError(str(error))


def _find_moments(path: Path) -> list[bool]:
    """Return for each field of the first table of a checked VOTable whether its texts are moments."""
    moments: list[bool] = []
    for event, element in ET.iterparse(path, ("start",)):  # noqa: S314 - `read_votable_columns` refuses entities
        del event
        tag = element.tag.rpartition("}")[2]
        if tag == "FIELD":
            moments.append(element.get("xtype") in ("timestamp", "adql:TIMESTAMP"))
        elif tag == "DATA":
            break
    return moments


def _read_moments(table: Any, moments: Sequence[bool]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a table whose texts with moments are moments; a column with another text stays as it is."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    import pyarrow.compute as pc  # noqa: PLC0415

    for position, is_moment in enumerate(moments[: table.num_columns]):
        column = table.column(position)
        if is_moment and column.type == pa.string():
            try:
                values = pc.utf8_rtrim(column, characters="Z").cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                continue
            table = table.set_column(position, table.schema.names[position], values)
    return table
