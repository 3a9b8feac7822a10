"""Errors for names that mean no attribute, or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn.errors import AmbiguousAttributeError, TargetError, did_you_mean
from provenn.store import attributes
from provenn.store.database import Reading
from provenn.targets.candidates import Candidate, NamedAttributes
from provenn.targets.wording import listed

__all__ = ["NamingErrors"]


@dataclass(frozen=True, slots=True)
class NamingErrors:
    """Makes errors of names that mean no attribute, or several.

    Parameters
    ----------
    reading
        The archive.
    definitions
        What definitions give.
    called
        What the sources are called.
    """

    reading: Reading
    definitions: NamedAttributes
    called: str

    def ambiguous(self, name: str, chain: Sequence[str], candidates: Iterable[Candidate]) -> AmbiguousAttributeError:
        """Return the error for a name that may mean several attributes.

        Parameters
        ----------
        name
            The name.
        chain
            The names that it is needed for, the one that was asked for first.
        candidates
            The attributes.
        """
        listing = sorted(candidates, key=lambda candidate: candidate.origin)
        where = listed([candidate.origin for candidate in listing])
        return AmbiguousAttributeError(
            f"several attributes are called {name}{_needed(chain)}: those of {where}",
            hint=_choose(name, listing, asked=not chain),
        )

    def several_readings(self, text: str, candidates: Sequence[Candidate]) -> AmbiguousAttributeError:
        """Return the error for a reference that can be read in several ways."""
        references = sorted({candidate.reference for candidate in candidates})
        if len(references) > 1:
            return AmbiguousAttributeError(
                f"{text} may be {' or '.join(references)}",
                hint="put the name of the catalog, and that of the attribute, in `backquotes`",
            )
        return AmbiguousAttributeError(
            f"{text} may be that of the catalog {candidates[0].word}, or of the calculator {candidates[0].word}",
            hint="give the catalog a name of its own, or the beginning of its digest instead",
        )

    def circle(self, names: Sequence[str]) -> AmbiguousAttributeError:
        """Return the error for a name that calculators give from itself, and in other ways, too."""
        way = " from ".join((*names, names[0]))
        return AmbiguousAttributeError(
            f"several calculators give {names[0]}, one of them from itself: {way}",
            hint=f'record which calculator is meant: archive.prefer("{names[0]}", …)',
        )

    def missing(self, chain: Sequence[str]) -> TargetError:
        """Return the error for a name that means nothing for the sources.

        Parameters
        ----------
        chain
            The name that was asked for, and then names that are each needed for the one before. The last is not to be
            had; or it is one of those before it.
        """
        *before, name = chain
        if name in before:
            return TargetError(
                f"{chain[0]} cannot be calculated: it needs itself, by {' from '.join(chain)}",
                hint="one of these attributes must be in a catalog",
            )
        others = self.definitions.elsewhere(name)
        if others:
            return self._elsewhere(name, before, others)
        own = self.definitions.providers.sources.population.name
        populations = attributes.populations(self.reading, name)
        if populations:
            return TargetError(
                f"{name} is an attribute of {', '.join(populations)}, not of {own}",
                hint="what one row is differs: ask for the sources of that population",
            )
        known = attributes.names(self.reading, own)
        hint = did_you_mean(name, known) or f"there are {listed(known, 20)}"
        what = f"no catalog has an attribute {name!r}, and no calculator gives it"
        return TargetError(f"{what}{_needed(before, ', which')}", hint=hint)

    def _elsewhere(self, name: str, before: Sequence[str], others: Sequence[Candidate]) -> TargetError:
        """Return the error for a name under which other catalogs have another attribute than these sources would."""
        where = [candidate.origin for candidate in others]
        own = f"{self.called} has no {name} of its own, and no calculator gives it from what it has"
        return TargetError(
            f"{own}{_needed(before, '; it')}. {listed(where)} {'has' if len(where) == 1 else 'have'} another one",
            hint=_choose(name, others, asked=not before),
        )


def _needed(chain: Sequence[str], joint: str = ", which") -> str:
    return f"{joint} is needed for {' for '.join(reversed(chain))}" if chain else ""


def _choose(name: str, candidates: Sequence[Candidate], *, asked: bool) -> str:
    """Return how to say which attribute is meant; only what was asked for itself can be written in another way."""
    references = " or ".join(candidate.reference for candidate in candidates[:3])
    word = candidates[0].word
    prefer = f'record which is meant: archive.prefer("{name}", "{word}"), provenn prefer {name} {word}'
    return f"ask for {references}; or {prefer}" if asked else prefer
