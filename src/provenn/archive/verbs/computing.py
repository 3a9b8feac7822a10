"""Data: asked for, computed, kept, checked, cleaned up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from provenn.archive import fragments
from provenn.archive.handle import Catalog
from provenn.archive.notices import Notice, notice_of_rest
from provenn.archive.plans import in_names as plan_in_names
from provenn.archive.runs import Ran
from provenn.archive.runs import told as runs_told
from provenn.archive.soundness import Soundness, checked
from provenn.archive.target import Target
from provenn.archive.verbs.held import Held, digest_of
from provenn.catalogs import Catalog as Definition
from provenn.catalogs import KeepAttributes
from provenn.store.checks import Progress as CheckProgress
from provenn.store.garbage import Collected, collect_garbage
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing, plan_catalog
from provenn.targets.running import Keep

__all__ = ["Computing"]


class Computing(Held):
    """Data: asked for, computed, kept, checked, cleaned up."""

    def target(
        self,
        sources: Catalog | str,
        attributes: Sequence[str],
        *,
        where: str | None = None,
        missing: Missing = "error",
        keep: Keep = "worthwhile",
    ) -> Target:
        """Ask for attributes of sources: who provides them is found, what nobody has is created, little is computed.

        Parameters
        ----------
        sources
            The catalog whose sources are meant.
        attributes
            The names of the attributes; the key comes with them.
        where
            A criterion in SQL, on any attributes, that the sources fulfil.
        missing
            What becomes of sources that are not proved to have an attribute: ``"error"``; ``"null"``, they have no
            value of it; ``"drop"``, they are left out.
        keep
            Which results are kept for the next who asks: ``"worthwhile"``, if a calculator in Python was called;
            ``"always"``; ``"never"``.
        """
        return Target.of(self._itself, sources, attributes, where=where, missing=missing, keep=keep)

    def _plan_catalog(self, one: Catalog) -> Plan:
        return plan_in_names(self._plan(one.definition, one.name), self._database, one._keep, {})  # noqa: SLF001

    def _count(self, one: Catalog, *, check: bool) -> int:
        def plan() -> Plan:
            keys = self._plan(KeepAttributes.of(one.definition, ()), one.name)
            return plan_in_names(keys, self._database, "never", {one.digest: one.name})

        return self._workshop.count(plan, check=check)

    def _plan(self, definition: Definition, what: str) -> Plan:
        with self._database.reading() as reading:
            return plan_catalog(reading, definition, what)

    def store(self, which: Catalog | str, *, attributes: Sequence[str] | None = None) -> fragments.Stored:
        """Compute attributes of a catalog's sources, by default all, and keep them. What is kept is not computed."""
        one = self.catalog(which)
        plan = partial(self._plan, what=one.name)
        stored = fragments.store(self._workshop.pipeline(), one.definition, plan, attributes)
        self._workshop.notices.tell(notice_of_rest(f"fragment #{stored.fragment.id} of {one.name}", stored.rests_on))
        return stored

    def fragments(self, which: Catalog | str | None = None, *, dropped: bool = False) -> Sequence[fragments.Stored]:
        """Return what is stored for the sources of a catalog, or all; also what is not used any more, if asked for."""
        extent = None if which is None else self.catalog(which).definition.extent.digest
        with self._database.reading() as reading:
            return fragments.listed(reading, extent, dropped=dropped)

    def runs(self, which: Catalog | str | None = None, *, most: int = 100) -> Sequence[Ran]:
        """Return what was run, the latest first: all, or for one catalog; what it took, what it reused and saved."""
        with self._database.reading() as reading:
            return runs_told(reading, None if which is None else digest_of(reading, which), most)

    @property
    def last_run(self) -> Ran | None:
        """The last run that was begun through this object: what it took, what it reused and saved."""
        number = self._workshop.latest_run
        if number is None:
            return None
        with self._database.reading() as reading:
            return next(iter(runs_told(reading, number=number)), None)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What there was to know of answers, in order: that they rest on declared facts, or that data contradict one.

        Each was told once: as a `ProvennWarning`, or as `provenn.open` was told.
        """
        return self._workshop.notices.all

    def collect_garbage(self, *, limit: int | None = None, dry_run: bool = False) -> Collected:
        """Delete data that nothing refers to and, above a limit in bytes, fragments: the least useful first."""
        self._need_everything("deletes what is not used")
        return collect_garbage(self._database, self._workshop.folder, limit=limit, dry_run=dry_run)

    def check(self, *, deep: bool = False, repair: bool = False, progress: CheckProgress | None = None) -> Soundness:
        """Go through the whole archive: whether every definition, fact and fragment is what was written.

        Parameters
        ----------
        deep
            Whether to read every byte that is stored, and to go through every proof.
        repair
            Whether to mend what can be mended: what is looked up by is made anew, proofs that were changed are
            forgotten, leftovers deleted, and damaged fragments computed anew, for which Spark is started. What only
            a backup has is left alone, and told.
        progress
            Called with what is looked at, how many of it were, and how many there are.
        """
        self._need_everything("checks it")
        return checked(self._itself, self._database, self._workshop, deep=deep, repair=repair, told=progress)
