"""Pictures of the data of a catalog or a target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from provenn.archive.data import Data
from provenn.archive.references import find_definitions
from provenn.archive.wrong_calls import explain_wrong_calls

if TYPE_CHECKING:
    from provenn.archive.overview import Overview
    from provenn.archive.plots import Plot
    from provenn.archive.sky_map import SkyMap
    from provenn.catalogs import Catalog as Definition
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["Pictured"]


@explain_wrong_calls
class Pictured(Data):
    """An object whose data can be drawn: a catalog or a target."""

    __slots__ = ()

    @abstractmethod
    def _get_pictured(self) -> tuple[Definition, str]:
        """Return the catalog that is drawn, and its name in pictures and messages."""

    def overview(self) -> Overview:
        """Return the size, some rows and tallies of values, as far as they are known or read without Spark."""
        from provenn.archive.overview import make_overview  # noqa: PLC0415 - a command starts without it

        return make_overview(self._get_context(), *self._get_pictured())

    def sky(self, *others: Pictured | str, on: Sequence[str] | None = None, engine: EngineChoice = "auto") -> SkyMap:
        """Return a map of the sky: the density of the sources, and the regions of the selection over it.

        The sources in each cell are counted once, and kept.

        Parameters
        ----------
        others
            Up to three further catalogs, names of catalogs, or targets to draw over this one.
        on
            The names of the attributes of right ascension and declination; by default found by UCD or usual name.
        engine
            As for `to_arrow`.

        Raises
        ------
        DefinitionError
            If there is no position.
        PictureError
            If there are more than four catalogs.
        """
        from provenn.archive.sky_map import make_sky_map  # noqa: PLC0415 - a command starts without it

        catalogs = [self._get_pictured(), *map(self._find_pictured, others)]
        return make_sky_map(self._get_context(), catalogs, on=on, engine=engine)

    def plot(self, x: str, y: str, *, engine: EngineChoice = "auto") -> Plot:
        """Return a plot of two attributes: the density of the sources, or the points of arrays such as light curves.

        Parameters
        ----------
        x, y
            The attributes: two numbers, dates or moments, of which all sources are counted once; or two arrays, of
            which the points of the first sources are drawn.
        engine
            As for `to_arrow`.

        Raises
        ------
        AttributeNotFoundError
            If there is no such attribute.
        PictureError
            If an attribute has no numbers, or only one of them is an array.
        """
        from provenn.archive.plots import make_plot  # noqa: PLC0415 - a command starts without it

        return make_plot(self._get_context(), *self._get_pictured(), x, y, engine=engine)

    def _find_pictured(self, other: Pictured | str) -> tuple[Definition, str]:
        """Return the catalog of another object or name, and its name in pictures."""
        if isinstance(other, str):
            return self._get_context().read(find_definitions, [other])[0], other
        return other._get_pictured()  # noqa: SLF001 - an object of the same class
