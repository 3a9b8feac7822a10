"""The memory of a plan: the shown plan is the plan that runs, as long as the archive stays the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import get_ident
from typing import Generic, TypeVar

from provenn.data.planning_state import read_planning_state
from provenn.database.moments import ReadMoment, find_moment
from provenn.database.transactions import Database, Reading
from provenn.targets.plan import Plan

__all__ = ["PlanMemory"]

P = TypeVar("P", bound=Plan)


class PlanMemory(Generic[P]):
    """Remembers the last plan of a request, with the state of the archive at the time of planning.

    A plan answers the questions of a single thread at a time. So the memory serves the thread that planned last, and
    every other thread plans for itself.
    """

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest: tuple[int, ReadMoment | None, Hashable, P] | None = None

    def recall(self, database: Database, make: Callable[[Reading], P]) -> P:
        """Return the remembered plan; make it anew if the archive has changed since.

        Parameters
        ----------
        database
            The archive.
        make
            Makes the plan in a reading transaction.
        """
        moment = find_moment(database.engine)
        if self._latest is not None and moment is not None:
            thread, earlier_moment, _, plan = self._latest
            if thread == get_ident() and earlier_moment is moment:  # nothing changes within a moment
                return plan
        if moment is not None:
            with database.reading() as reading:
                plan = make(reading)
            self._latest = get_ident(), moment, None, plan  # for this moment only, so its state need not be read
            return plan
        with database.reading() as reading:
            state = read_planning_state(reading)
            if self._latest is not None:
                thread, _, earlier_state, plan = self._latest
                if thread == get_ident() and earlier_state == state:
                    self._latest = thread, None, state, plan
                    return plan
            plan = make(reading)
        self._latest = get_ident(), None, state, plan
        return plan
