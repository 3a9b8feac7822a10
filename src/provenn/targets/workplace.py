"""The interface between a run and its archive: where the run computes, and who receives reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from provenn.catalogs import Base
from provenn.catalogs.roots import Roots
from provenn.database.transactions import Database
from provenn.files.data_folder import DataFolder
from provenn.knowledge.stored_facts import Fact
from provenn.targets.checking import CheckedFact
from provenn.targets.plan import Plan

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline

__all__ = ["DataPlace", "Workplace"]

P_contra = TypeVar("P_contra", bound=Plan, contravariant=True)


class DataPlace(Protocol):
    """Where a run reads and computes."""

    @property
    def database(self) -> Database:
        """The metadata of the archive."""

    @property
    def folder_if_known(self) -> DataFolder | None:
        """The folder of the archive's data, or None if no folder was ever set."""

    def pipeline(self) -> Pipeline:
        """Return the pipeline that brings data from files to results; start it at the first call."""

    @property
    def roots(self) -> Roots | None:
        """The folders in which files of base catalogs may lie; None for all folders."""

    def check_bases(self, bases: Iterable[Base], /) -> None:
        """Check that the files or tables of base catalogs are unchanged."""

    def report_suspended_facts(self, facts: Sequence[Fact], /) -> None:
        """Announce the suspension of declared facts contradicted by data."""


class Workplace(DataPlace, Protocol[P_contra]):
    """Where a run reads and computes, and to whom it reports."""

    latest_run: int | None
    """The number of the last run that began here."""

    def report_checked_facts(self, checked: Sequence[CheckedFact], /) -> None:
        """Announce the results of checking declared facts on the data."""

    def report_basis(self, plan: P_contra, facts: Sequence[Fact], /) -> None:
        """Announce the declared facts on which the answer of a plan rests."""
