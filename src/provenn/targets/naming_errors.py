"""Errors for names that mean no attribute, or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn.database.transactions import Reading
from provenn.definitions import attributes
from provenn.display.name_lists import join_names
from provenn.errors import AmbiguousAttributeError, TargetError, did_you_mean
from provenn.hints import Hint
from provenn.targets.candidates import Candidate, NamedAttributes

__all__ = ["NamingErrors"]


@dataclass(frozen=True, slots=True)
class NamingErrors:
    """Makes errors for names that mean no attribute, or several.

    Parameters
    ----------
    reading
        The archive.
    definitions
        The attributes in the archive's definitions.
    sources_name
        The name of the sources in messages.
    """

    reading: Reading
    definitions: NamedAttributes
    sources_name: str

    def make_ambiguity_error(
        self, name: str, chain: Sequence[str], candidates: Iterable[Candidate]
    ) -> AmbiguousAttributeError:
        """Return the error for a name that may mean several attributes.

        Parameters
        ----------
        name
            The ambiguous name.
        chain
            The names of the calculations that need the name; the requested name comes first.
        candidates
            The possible attributes.
        """
        listing = sorted(candidates, key=lambda candidate: candidate.origin)
        where = join_names([candidate.origin for candidate in listing])
        return AmbiguousAttributeError(
            f"several attributes are called {name}{_describe_need(chain)}: those of {where}",
            hint=_make_hint(name, listing, is_requested=not chain),
        )

    def make_readings_error(self, text: str, candidates: Sequence[Candidate]) -> AmbiguousAttributeError:
        """Return the error for a reference that can be read in several ways."""
        references = sorted({candidate.reference for candidate in candidates})
        if len(references) > 1:
            return AmbiguousAttributeError(
                f"{text} is ambiguous: {' or '.join(references)}",
                hint="put the names of the catalog and of the attribute in `backquotes`",
            )
        return AmbiguousAttributeError(
            f"{text} may mean the catalog {candidates[0].word} or the calculator {candidates[0].word}",
            hint="rename the catalog, or write the beginning of its digest",
        )

    def make_circle_error(self, names: Sequence[str]) -> AmbiguousAttributeError:
        """Return the error for a name with several calculators, if a calculator needs the name itself."""
        cycle = " from ".join((*names, names[0]))
        return AmbiguousAttributeError(
            f"several calculators provide {names[0]}, one of them from itself: {cycle}",
            hint=Hint(
                f'record which calculator to use: archive.prefer("{names[0]}", …)',
                command=f"record which calculator to use: provenn prefer {names[0]} CALCULATOR",
            ),
        )

    def make_missing_error(self, chain: Sequence[str]) -> TargetError:
        """Return the error for a name without a meaning for the sources.

        Parameters
        ----------
        chain
            The requested name, then a chain of inputs: each name is an input of the name before. The last name is
            unavailable, or repeats an earlier name.
        """
        *before, name = chain
        if name in before:
            return TargetError(
                f"{chain[0]} cannot be calculated: it depends on itself: {' from '.join(chain)}",
                hint="add one of these attributes to a catalog",
            )
        candidates = self.definitions.find_elsewhere(name)
        if candidates:
            return self._make_elsewhere_error(name, before, candidates)
        own = self.definitions.providers.sources.population.name
        populations = attributes.list_populations_with_attribute(self.reading, name)
        if populations:
            return TargetError(
                f"{name} is an attribute of {', '.join(populations)}, not of {own}",
                hint="request the sources of that population instead",
            )
        known = attributes.list_attribute_names(self.reading, own)
        hint = did_you_mean(name, known) or f"there are {join_names(known, 20)}"
        what = f"no catalog has an attribute {name!r}, and no calculator provides it"
        return TargetError(f"{what}{_describe_need(before, ', which')}", hint=hint)

    def _make_elsewhere_error(self, name: str, before: Sequence[str], candidates: Sequence[Candidate]) -> TargetError:
        """Return the error for a name under which only other catalogs have an attribute."""
        origins = [candidate.origin for candidate in candidates]
        own = f"{self.sources_name} has no {name}, and no calculator provides it from its attributes"
        verb = "has" if len(origins) == 1 else "have"
        return TargetError(
            f"{own}{_describe_need(before, '; it')}. {join_names(origins)} {verb} another one",
            hint=_make_hint(name, candidates, is_requested=not before),
        )


def _describe_need(chain: Sequence[str], joint: str = ", which") -> str:
    """Return the clause about the calculations that need a name; empty for a requested name."""
    return f"{joint} is needed for {' for '.join(reversed(chain))}" if chain else ""


def _make_hint(name: str, candidates: Sequence[Candidate], *, is_requested: bool) -> Hint:
    """Return how to choose an attribute; only a requested name itself can be written as a reference."""
    references = " or ".join(candidate.reference for candidate in candidates[:3])
    word = candidates[0].word
    request = f"request {references}; or " if is_requested else ""
    return Hint(
        f'{request}record your choice: archive.prefer("{name}", "{word}")',
        command=f"{request}record your choice: provenn prefer {name} {word}",
    )
