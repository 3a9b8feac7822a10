"""The data of a catalog or a target. Only the methods of this module compute data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from provenn.archive.export_records import ExportPlace, follow_export, identify_content
from provenn.archive.wrong_calls import explain_wrong_calls
from provenn.errors import TargetError
from provenn.files.listing import make_absolute

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from astropy.table import Table
    from pyspark.sql import DataFrame  # for people who read the signature; nothing here imports it

    from provenn.archive.context import Context
    from provenn.archive.workshop import Workshop
    from provenn.catalogs import Catalog as Definition
    from provenn.data.followed_exports import ExportRequest
    from provenn.database.transactions import Database, Reading
    from provenn.spark.writing import WrittenFiles
    from provenn.targets.engine_choice import EngineChoice
    from provenn.targets.keeping import Keep
    from provenn.targets.plan_memory import PlanMemory
    from provenn.words.described_plan import DescribedPlan

__all__ = ["LIMIT", "Data", "make_frame"]

LIMIT = 2 * 10**9
"""The largest result in bytes that is collected into this process by default."""

_LARGEST_WHOLE = 2**53
"""A double represents every whole number up to this one."""


@explain_wrong_calls
class Data(ABC):
    """An object with computable data: a catalog or a target."""

    __slots__ = ("_plans",)

    _plans: PlanMemory[DescribedPlan]

    @abstractmethod
    def _workshop(self) -> Workshop:
        """Return the workshop for computing the data."""

    @abstractmethod
    def plan(self) -> DescribedPlan:
        """Return the plan for the data, with its justification; compute nothing."""

    def _recall_plan(self, database: Database, make: Callable[[Reading], DescribedPlan]) -> DescribedPlan:
        """Return the last plan; plan anew if the archive has changed since."""
        from provenn.targets.plan_memory import PlanMemory  # noqa: PLC0415 - most commands plan nothing

        if not hasattr(self, "_plans"):
            self._plans = PlanMemory()
        return self._plans.recall(database, make)

    @property
    @abstractmethod
    def _keep(self) -> Keep:
        """The results to keep."""

    @abstractmethod
    def _get_context(self) -> Context:
        """Return the context of the archive."""

    @abstractmethod
    def _get_sources(self) -> Definition:
        """Return the catalog of the sources."""

    @abstractmethod
    def _describe_export(self, follow: bool | str) -> ExportRequest:
        """Return the request followed by an export."""

    def to_spark(self, *, check: bool = False) -> DataFrame:
        """Return the data as a Spark DataFrame, not yet computed, so that no result is kept.

        The DataFrame belongs to a session with provenn's settings. The caller must ensure that the files of its base
        catalogs do not change until the DataFrame is computed. `Archive.adopt` recognises it in other DataFrames.

        Parameters
        ----------
        check
            As for `to_arrow`.
        """
        from provenn.spark.plan_reading_leaves import MARK  # noqa: PLC0415 - most commands compute nothing

        frame, catalog = self._workshop().prepare_data(self.plan, check=check).frame, self.plan().catalog
        return frame if catalog is None else frame.alias(f"{MARK}{catalog.digest}")

    def to_arrow(self, *, limit: int | None = LIMIT, check: bool = False, engine: EngineChoice = "auto") -> pa.Table:
        """Compute the data as an Arrow table in this process; field metadata hold unit, description and UCD.

        An answer that rests on declared facts issues a `ProvennWarning`, once.

        Parameters
        ----------
        limit
            The approximate limit of the size in bytes; None for no limit.
        check
            Whether to check the declared facts of the answer on the data first, and not use them: confirmed facts
            become observed facts, and the others are suspended.
        engine
            ``"auto"`` to read without Spark where that is quicker and gives exactly the same answer, or ``"spark"``.

        Raises
        ------
        TooLargeError
            If the data exceed the limit. `write` has no limit.
        """
        return self._workshop().collect_table(self.plan, self._keep, limit, check=check, engine=engine)

    def to_pandas(
        self, *, limit: int | None = LIMIT, check: bool = False, engine: EngineChoice = "auto"
    ) -> pd.DataFrame:
        """Compute the data as a pandas DataFrame in this process; see `to_arrow` for limits and warnings.

        NULL is NaN in a numeric column; only a column of whole numbers too large for doubles becomes ``Int64`` then.
        """
        return make_frame(self.to_arrow(limit=limit, check=check, engine=engine))

    def to_astropy(
        self,
        *,
        quantities: bool = False,
        limit: int | None = LIMIT,
        check: bool = False,
        engine: EngineChoice = "auto",
    ) -> Table:
        """Compute the data as an astropy table in this process; see `to_arrow` for limits and warnings.

        Columns have their units and descriptions, and UCDs in ``info.meta["ucd"]``. NULL is masked; NaN is not.

        Parameters
        ----------
        quantities
            Whether to return a QTable, in which columns with a unit are quantities.
        limit, check, engine
            As for `to_arrow`.
        """
        from provenn.files.in_memory.to_astropy import convert_to_astropy  # noqa: PLC0415 - it takes a while to import

        return convert_to_astropy(self.to_arrow(limit=limit, check=check, engine=engine), quantities=quantities)

    def head(self, number: int = 10, *, check: bool = False, engine: EngineChoice = "auto") -> pd.DataFrame:
        """Compute a few arbitrary sources; no result is kept.

        Parameters
        ----------
        number
            The number of sources.
        check, engine
            As for `to_arrow`.

        Raises
        ------
        TargetError
            If the number is invalid.
        """
        return make_frame(self.collect_first_rows(number, check=check, engine=engine))

    def collect_first_rows(self, number: int, *, check: bool = False, engine: EngineChoice = "auto") -> pa.Table:
        """Compute a few arbitrary sources as an Arrow table; see `head`."""
        try:
            most = index(number)
        except TypeError:
            most = -1
        if most < 0:
            raise TargetError(f"expected a number of sources, got {number!r}", hint="for example head(10)")
        return self._workshop().collect_first_rows(self.plan, most, check=check, engine=engine)

    def write(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - Spark's word for it
        partition_by: Sequence[str] = (),
        single: bool | None = None,
        overwrite: bool = False,
        check: bool = False,
        follow: bool | str = False,
        pixel_rows: int | None = None,
        margin: float | str | None = None,
        on: Sequence[str] | None = None,
        layer: str | PathLike[str] | None = None,
    ) -> WrittenFiles:
        """Compute the data into files: Parquet, CSV, FITS, VOTable, ECSV or HATS. The files appear only when complete.

        All formats but CSV record the catalog, its lineage, and keywords such as EPOCH in the file.

        Parameters
        ----------
        path
            The file or folder to write; the suffix determines the format.
        format
            ``"parquet"``, ``"csv"``, ``"fits"``, ``"votable"``, ``"ecsv"`` or ``"hats"``, if the suffix does not
            determine it.
        partition_by
            The attributes whose values determine the folders of the files.
        single
            Whether to write one file rather than a folder with many. By default, one file if the path has a suffix.
        overwrite
            Whether to replace existing files.
        check
            As for `to_arrow`.
        follow
            Whether `Archive.refresh` writes the files anew when the catalog with this name has changed; or the name to
            follow, if the catalog has several. `Archive.exports` lists such files.
        pixel_rows
            For HATS: the most sources of a part of the sky; by default a million.
        margin
            For HATS: the width of a margin, a second catalog with the sources around each part: a number of arcseconds,
            or text such as ``"10 arcsec"``. By default there is none.
        on
            For HATS: the names of the attributes of right ascension and declination, if they are not found by UCD or
            usual name.
        layer
            For HATS: the folder of a core in HATS with the same sources. Only the attributes that the core lacks are
            written, in the parts and the order of the core; `Archive.ingest` takes core and layers together.

        Raises
        ------
        CatalogNameError
            If the export is to follow a catalog without a name, or the catalog does not have the name now.
        StoreError
            If the files exist and `overwrite` is false; or if they are not on this machine, and are to be followed.
        """
        options: dict[str, Any] = {"format": format, "partition_by": list(partition_by), "single": single}
        sky_options: dict[str, Any] = {
            "pixel_rows": pixel_rows,
            "margin": margin,
            "on": None if on is None else [on] if isinstance(on, str) else list(on),
        }
        sky_options["layer"] = None if layer is None else make_absolute(layer)
        options |= {name: value for name, value in sky_options.items() if value is not None}
        place, request = None, None
        if follow:
            place = ExportPlace.of(self._get_context(), path)
            request = self._describe_export(follow)
        content = identify_content(self.plan(), self._get_sources()) if follow else ""
        written = self._workshop().write_files(self.plan, self._keep, path, check=check, overwrite=overwrite, **options)
        if place is not None and request is not None:
            follow_export(self._get_context(), place, request, options=options, content=content, written=written)
        return written


def make_frame(table: pa.Table) -> pd.DataFrame:
    """Return a pandas DataFrame; prevent pandas from turning large whole numbers beside NULLs into doubles."""
    import pandas as pd  # noqa: PLC0415 - they take a while to import
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    try:
        frame = table.to_pandas()
    except ValueError:  # dates outside the years 1 to 9999, which Python lacks
        frame = table.to_pandas(date_as_object=False)
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type == pa.int64() and column.null_count:
            least, most = (value.as_py() or 0 for value in compute.min_max(column).values())
            if max(-least, most) > _LARGEST_WHOLE:
                frame[field.name] = column.to_pandas(types_mapper=lambda _: pd.Int64Dtype())
    return frame
