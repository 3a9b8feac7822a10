"""The data of a catalog or a target: what a user gets when asking for them. Only here is anything computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from provenn.errors import TargetError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from astropy.table import Table
    from pyspark.sql import DataFrame  # for people who read the signature; nothing here imports it

    from provenn.archive.workshop import Workshop
    from provenn.spark.writing import Written
    from provenn.targets.plan import Plan
    from provenn.targets.running import Keep

__all__ = ["LIMIT", "Data"]

LIMIT = 2 * 10**9
"""How many bytes are brought into this process unless more are asked for."""

_LARGEST_WHOLE = 2**53
"""Up to here a double holds every whole number."""


class Data(ABC):
    """Something whose data can be computed."""

    __slots__ = ()

    @abstractmethod
    def _workshop(self) -> Workshop:
        """Where it is computed."""

    @abstractmethod
    def plan(self) -> Plan:
        """Return how it would be computed, and why that is enough. Nothing is computed for it."""

    @property
    @abstractmethod
    def _keep(self) -> Keep:
        """What of it is kept."""

    def to_spark(self, *, check: bool = False) -> DataFrame:
        """Return the data as a DataFrame of Spark, not yet computed; so nothing of them is kept.

        It belongs to a session with provenn's settings; that the files of its base catalogs do not change until it is
        computed is up to you.

        Parameters
        ----------
        check
            As for `to_arrow`.
        """
        return self._workshop().prepared(self.plan, check=check).frame

    def to_arrow(self, *, limit: int | None = LIMIT, check: bool = False) -> pa.Table:
        """Compute the data, as an Arrow table in this process. Metadata of its fields say unit, description and ucd.

        That the answer rests on declared facts is told by a `ProvennWarning`, once.

        Parameters
        ----------
        limit
            How many bytes it may be, about; None for any number.
        check
            Whether declared facts on which the answer would rest are checked on the data first, and not used: those
            that hold become observed facts, the others are suspended.

        Raises
        ------
        TooLargeError
            If it would be larger. `write` has no limit.
        """
        return self._workshop().collected(self.plan, self._keep, limit, check=check)

    def to_pandas(self, *, limit: int | None = LIMIT, check: bool = False) -> pd.DataFrame:
        """Compute the data, as a data frame of pandas in this process; `to_arrow` says what else there is to know.

        NULL is NaN in a column of numbers; only one of whole numbers that doubles would not hold is ``Int64`` then.
        """
        return _frame(self.to_arrow(limit=limit, check=check))

    def to_astropy(self, *, quantities: bool = False, limit: int | None = LIMIT, check: bool = False) -> Table:
        """Compute the data, as a table of astropy in this process; `to_arrow` says what else there is to know.

        Columns have their units and descriptions, and UCDs in ``info.meta["ucd"]``. What is NULL is masked; NaN is not.

        Parameters
        ----------
        quantities
            Whether it is a QTable, in which columns with a unit are quantities.
        limit, check
            As for `to_arrow`.
        """
        from provenn.catalogs.in_memory.to_astropy import astropy_table  # noqa: PLC0415 - it takes a while to import

        return astropy_table(self.to_arrow(limit=limit, check=check), quantities=quantities)

    def head(self, number: int = 10, *, check: bool = False) -> pd.DataFrame:
        """Compute a few sources, whichever come first. Nothing of them is kept.

        Parameters
        ----------
        number
            How many.
        check
            As for `to_arrow`.

        Raises
        ------
        TargetError
            If that is no number of sources.
        """
        try:
            most = index(number)
        except TypeError:
            most = -1
        if most < 0:
            raise TargetError(f"{number!r} is no number of sources", hint="head(10)")
        return _frame(self._workshop().first(self.plan, most, check=check))

    def write(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - Spark's word for it
        partition_by: Sequence[str] = (),
        single: bool | None = None,
        overwrite: bool = False,
        check: bool = False,
    ) -> Written:
        """Compute the data into files: Parquet, CSV, FITS, VOTable or ECSV. Nothing is there before all of it is.

        All but CSV say in the file which catalog it holds, what that is made from, and keywords such as EPOCH.

        Parameters
        ----------
        path
            Where; the suffix tells the format.
        format
            ``"parquet"``, ``"csv"``, ``"fits"``, ``"votable"`` or ``"ecsv"``, if the suffix does not tell.
        partition_by
            Attributes by whose values the files are put into folders.
        single
            Whether to write one file rather than a folder with many. By default, one file if the path has a suffix.
        overwrite
            Whether to replace what is there.
        check
            As for `to_arrow`.
        """
        options: dict[str, Any] = {"format": format, "partition_by": partition_by, "single": single}
        return self._workshop().written(self.plan, self._keep, path, check=check, overwrite=overwrite, **options)


def _frame(table: pa.Table) -> pd.DataFrame:
    """Return a data frame of pandas, which would make doubles of whole numbers beside NULLs."""
    import pandas as pd  # noqa: PLC0415 - they take a while to import
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    frame = table.to_pandas()
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type == pa.int64() and column.null_count:
            least, most = (one.as_py() or 0 for one in compute.min_max(column).values())
            if max(-least, most) > _LARGEST_WHOLE:
                frame[field.name] = column.to_pandas(types_mapper=lambda _: pd.Int64Dtype())
    return frame
