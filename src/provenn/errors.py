"""The whole error tree of provenn.

::

    ProvennError                      everything provenn raises on purpose
    ├── StatementError (ValueError)   a statement that cannot be read; marks the column
    ├── CriterionError (ValueError)   a criterion or an SQL expression that has no meaning; marks the column
    ├── RegionError (ValueError)      a region of the sky that there is not; says why
    ├── LabelError (ValueError)       a label that is unfit, or named twice
    ├── UnknownLabelError (KeyError)  a label that nothing mentions; says what was meant
    ├── HypercubeError (ValueError)   an array that is not a Boolean hypercube
    ├── PictureError (ValueError)     something that cannot be drawn
    ├── BudgetError (ValueError)      a relationship that would need too many hypercubes
    ├── FileError (OSError)           a file that cannot be read
    ├── ArchiveError                  an archive that cannot be used, or not in this way
    │   ├── ArchiveNotFoundError (FileNotFoundError)  nothing is there
    │   ├── ArchiveVersionError       one that a newer version made, or that must be upgraded and cannot be
    │   ├── ReadOnlyArchiveError (PermissionError)  one that can only be read
    │   ├── ArchiveBusyError (TimeoutError)  one that another process keeps writing to
    │   └── CorruptArchiveError       a row that is not what was written
    ├── UnknownCatalogError (KeyError)  a name or digest that no catalog has; says what was meant
    ├── CatalogNameError (ValueError)  a name that is unfit, or taken
    ├── ComparisonError (ValueError)  too few or too many catalogs to compare
    ├── FactError (ValueError)        a fact that cannot be declared or retracted
    ├── NotYoursError (PermissionError)  something that only its owner, or who sees everything, may do
    ├── ProjectError (ValueError)     a project that there is not, or that cannot be made
    ├── VisibilityError (ValueError)  a visibility that there is not, or that does not go with a project
    ├── UnknownFactError (KeyError)   a number that no fact has
    ├── AttributeNotFoundError (KeyError)  a name that no attribute has, or that may mean several
    ├── AttributeConflictError (ValueError)  attributes that cannot share a name; says how to rename
    ├── PopulationError (ValueError)  populations that differ, or a name that is unfit for one
    ├── KeyColumnsError (ValueError)  key columns that cannot identify a source
    ├── TypeNameError (ValueError)    a type that Spark does not have
    ├── DefinitionError (ValueError)  a catalog that cannot be defined so
    ├── BaseFilesError                files that cannot be the base of a catalog
    │   ├── FilesMissingError (FileNotFoundError)  nothing is there, or not any more
    │   ├── FilesChangedError         they are not what they were when the catalog was defined
    │   └── KeyValuesError (ValueError)  keys that are NULL or occur twice; shows some
    ├── CalculatorError (ValueError)  a calculator that cannot be registered, or not found any more
    │   ├── CalculatorChangedError    its code is not what it was when it was registered
    │   └── CalculationError          it raised, or returned something other than it promised
    ├── EngineError                   Spark cannot be started, reached or used
    │   └── JavaNotFoundError         there is no Java to run it
    ├── RunError                      a run that failed; says at what
    ├── ServerError (OSError)         a place where the archive cannot be served
    ├── SampError (OSError)           no hub, no such client, or one that refused or did not answer
    ├── TokenError (ValueError)       a token that there is not, or that cannot be made
    ├── UnknownJobError (KeyError)    a job that the server does not know, or that has no data
    ├── FetchError (OSError)          real catalogs that cannot be fetched
    ├── StoreError (OSError)          a place where data cannot be written or read: full, forbidden, gone
    ├── FormatError (ValueError)      a format that is not known, or that cannot hold the data
    ├── LineageError (ValueError)     lineage that cannot be exchanged with others; says which event is wrong
    ├── TargetError (ValueError)      a request that cannot be answered; says why
    │   ├── AmbiguousAttributeError   a name that means several attributes; lists them
    │   └── NotCoveredError           an attribute that not all sources are proved to have; shows a possible world
    ├── TooLargeError (ValueError)    more data than one process should hold; says how to have it all the same
    └── ContradictionError (ValueError)  facts that contradict each other; carries the minimal conflict

    ProvennWarning (UserWarning)      what to know of an answer: it rests on declared facts, or data contradict one

Every message names the offending thing; `hint`, where there is one, says what to do about it.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    "AmbiguousAttributeError",
    "ArchiveBusyError",
    "ArchiveError",
    "ArchiveNotFoundError",
    "ArchiveVersionError",
    "AttributeConflictError",
    "AttributeNotFoundError",
    "BaseFilesError",
    "BudgetError",
    "CalculationError",
    "CalculatorChangedError",
    "CalculatorError",
    "CatalogNameError",
    "ComparisonError",
    "ContradictionError",
    "CorruptArchiveError",
    "CriterionError",
    "DefinitionError",
    "EngineError",
    "FactError",
    "FetchError",
    "FileError",
    "FilesChangedError",
    "FilesMissingError",
    "FormatError",
    "HypercubeError",
    "JavaNotFoundError",
    "KeyColumnsError",
    "KeyValuesError",
    "LabelError",
    "LineageError",
    "NotCoveredError",
    "NotYoursError",
    "PictureError",
    "PopulationError",
    "ProjectError",
    "ProvennError",
    "ProvennWarning",
    "ReadOnlyArchiveError",
    "RegionError",
    "RunError",
    "SampError",
    "ServerError",
    "StatementError",
    "StoreError",
    "TargetError",
    "TokenError",
    "TooLargeError",
    "TypeNameError",
    "UnknownCatalogError",
    "UnknownFactError",
    "UnknownJobError",
    "UnknownLabelError",
    "VisibilityError",
    "did_you_mean",
]


class ProvennError(Exception):
    """Everything that provenn raises on purpose.

    Parameters
    ----------
    message
        What is wrong, naming the offending thing.
    hint
        What to do about it, or nothing.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class ProvennWarning(UserWarning):
    """What a user should know of an answer: that it rests on declared facts, or that data contradict one."""


class StatementError(ProvennError, ValueError):
    """A statement that cannot be read.

    Parameters
    ----------
    problem
        What is wrong.
    text
        The statement as it was given.
    column
        Where in `text`, counted from 0.
    """

    def __init__(self, problem: str, text: str, column: int, *, hint: str = "") -> None:
        super().__init__(f"{problem}, {_marked(text, column)}", hint=hint)
        self.problem = problem
        self.text = text
        self.column = column


class CriterionError(ProvennError, ValueError):
    """A criterion, or an SQL expression, that cannot be read, does not fit the types, or may not be used.

    Parameters
    ----------
    problem
        What is wrong.
    text
        The criterion or expression as it was given.
    column
        Where in `text`, counted from 0, if that is known.
    """

    def __init__(self, problem: str, text: str, column: int | None = None, *, hint: str = "") -> None:
        place = f"in\n  {text[:100]}" if column is None else _marked(text, column)
        super().__init__(f"{problem}, {place}", hint=hint)
        self.problem = problem
        self.text = text
        self.column = column


class RegionError(ProvennError, ValueError):
    """A region of the sky that there is not: out of range, without extent, or crossing itself."""


class LabelError(ProvennError, ValueError):
    """A label that is not a non-empty string, or one that is named twice."""


class UnknownLabelError(ProvennError, KeyError):
    """A label that nothing mentions.

    Parameters
    ----------
    label
        The label that was asked for.
    known
        The labels there are, to suggest one from.
    """

    def __init__(self, label: str, known: Iterable[str]) -> None:
        super().__init__(f"nothing is known of a set {label!r}", hint=did_you_mean(label, known))
        self.label = label


class HypercubeError(ProvennError, ValueError):
    """An array that is not a Boolean hypercube."""


class PictureError(ProvennError, ValueError):
    """Something that cannot be drawn."""


class BudgetError(ProvennError, ValueError):
    """A relationship that would need more hypercubes than its budget allows.

    Parameters
    ----------
    labels
        The sets it would relate.
    size
        How many hypercubes it would need.
    budget
        How many it may have.
    """

    def __init__(self, labels: Iterable[str], size: int, budget: int) -> None:
        self.labels = tuple(labels)
        self.size = size
        self.budget = budget
        amount = f"{size:,}" if size < 10**15 else f"about 2**{size.bit_length() - 1}"
        super().__init__(
            f"a relationship between {', '.join(self.labels)} would need {amount} hypercubes, "
            f"more than the budget of {budget:,}",
            hint="ask Knowledge instead, which needs no hypercubes; or remove sets, state more, raise `budget`",
        )


class FileError(ProvennError, OSError):
    """A file that cannot be read."""


class AttributeNotFoundError(ProvennError, KeyError):
    """A name that no attribute has, or that may mean several.

    Parameters
    ----------
    name
        The name that was asked for.
    known
        The names there are, to suggest one from.
    matches
        The names that it may mean, if there are several.
    """

    def __init__(self, name: object, known: Iterable[str], matches: Iterable[str] = ()) -> None:
        several = tuple(matches)
        if several:
            problem = f"the attribute {name} may be {' or '.join(several)}"
            hint = "write it as it is, upper and lower case"
        else:
            names = tuple(known)
            problem = f"there is no attribute {name!r}"
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names[:20])}{' …' * (len(names) > 20)}"
        super().__init__(problem, hint=hint)
        self.name = name


class AttributeConflictError(ProvennError, ValueError):
    """Attributes that cannot share a name, or a name that cannot be one."""


class PopulationError(ProvennError, ValueError):
    """Populations that differ where they must not, or a name that is unfit for one."""


class KeyColumnsError(ProvennError, ValueError):
    """Key columns that cannot identify a source."""


class TypeNameError(ProvennError, ValueError):
    """A type that Spark does not have."""


class DefinitionError(ProvennError, ValueError):
    """A catalog that cannot be defined so."""


class BaseFilesError(ProvennError):
    """Files that cannot be the base of a catalog."""


class FilesMissingError(BaseFilesError, FileNotFoundError):
    """No files are there, or not all that were there when the catalog was defined."""


class FilesChangedError(BaseFilesError):
    """Files that are not what they were when the catalog was defined."""


class KeyValuesError(BaseFilesError, ValueError):
    """Keys that identify no source, or two: some are NULL, or occur more than once."""


class CalculatorError(ProvennError, ValueError):
    """A calculator that cannot be registered, or whose code cannot be found."""


class CalculatorChangedError(CalculatorError):
    """A calculator whose code is not what it was when it was registered."""


class CalculationError(CalculatorError):
    """A calculator that raised, or returned something other than it promised."""


class EngineError(ProvennError):
    """Spark cannot be started, reached or used."""


class JavaNotFoundError(EngineError):
    """There is no Java that could run Spark."""


class RunError(ProvennError):
    """A run that failed."""


class ServerError(ProvennError, OSError):
    """An address at which an archive cannot be served."""


class SampError(ProvennError, OSError):
    """A SAMP hub that is not there, a client that is not there, or one that refused or did not answer."""


class FetchError(ProvennError, OSError):
    """Real catalogs that cannot be fetched: no network, no client, or not what they were."""


class TokenError(ProvennError, ValueError):
    """A token for the server that there is not, or that cannot be made."""


class UnknownJobError(ProvennError, KeyError):
    """A job that the server does not know, or not any more; or one that has no data."""


class StoreError(ProvennError, OSError):
    """A place where data cannot be written or read: it is full, forbidden or gone."""


class FormatError(ProvennError, ValueError):
    """A format that is not known, or that cannot hold the data."""


class LineageError(ProvennError, ValueError):
    """Lineage that cannot be exchanged with others."""


class TargetError(ProvennError, ValueError):
    """A request that cannot be answered."""


class AmbiguousAttributeError(TargetError):
    """A name that means several attributes."""


class NotCoveredError(TargetError):
    """An attribute that not all sources are proved to have.

    Parameters
    ----------
    attribute
        Its name.
    world
        A possible world in which some source has it not, or None if none was looked for.
    """

    def __init__(self, attribute: str, message: str, world: Any = None, *, hint: str = "") -> None:  # noqa: ANN401 - errors lie below the layer of worlds
        super().__init__(message, hint=hint)
        self.attribute = attribute
        self.world = world


class TooLargeError(ProvennError, ValueError):
    """More data than one process should hold."""


class ContradictionError(ProvennError, ValueError):
    """Facts that contradict each other: from them everything would follow, so nothing is proved.

    Parameters
    ----------
    conflict
        An `Explanation` whose facts cannot all hold, and of which none can be left out.
    """

    def __init__(self, conflict: Any) -> None:  # noqa: ANN401 - errors lie below the layer of explanations
        super().__init__(f"the facts contradict each other:\n{conflict}", hint="retract or correct one of them")
        self.conflict = conflict


class ArchiveError(ProvennError):
    """An archive that cannot be used, or not in this way."""


class ArchiveNotFoundError(ArchiveError, FileNotFoundError):
    """There is no archive where one was looked for."""


class ArchiveVersionError(ArchiveError):
    """An archive that a newer version made, or that must be upgraded and can only be read."""


class ReadOnlyArchiveError(ArchiveError, PermissionError):
    """An archive that can only be read, and was to be written."""


class ArchiveBusyError(ArchiveError, TimeoutError):
    """An archive that another process keeps writing to."""


class CorruptArchiveError(ArchiveError):
    """A row of the database that is not what was written.

    Parameters
    ----------
    problem
        What is wrong, naming the row.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the archive is damaged: {problem}",
            hint="restore its database from a copy; nothing that depends on this row can be trusted",
        )


class UnknownCatalogError(ProvennError, KeyError):
    """A name or a digest that no catalog has, or a digest's beginning that several have."""


class CatalogNameError(ProvennError, ValueError):
    """A name that is unfit for a catalog, or taken."""


class ComparisonError(ProvennError, ValueError):
    """Too few or too many catalogs to compare."""


class NotYoursError(ProvennError, PermissionError):
    """Something that only its owner may change, or only who sees everything may do."""


class ProjectError(ProvennError, ValueError):
    """A project that there is not, that cannot be made, or whose members cannot be changed so."""


class VisibilityError(ProvennError, ValueError):
    """A visibility that there is not, or that does not go with a project."""


class FactError(ProvennError, ValueError):
    """A fact that cannot be declared, or not be retracted."""


class UnknownFactError(ProvennError, KeyError):
    """A number that no fact has.

    Parameters
    ----------
    number
        The number that was asked for.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"there is no fact #{number}", hint="`provenn facts` lists them")
        self.number = number


def _marked(text: str, column: int) -> str:
    start = max(0, column - 60)
    shown = text[start : column + 40].replace("\n", " ")
    return f"at column {column + 1}\n  {shown}\n  {' ' * (column - start)}^"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the known words nearest to `word`, or an empty string.

    >>> did_you_mean("brigth", ["bright", "faint"])
    'did you mean bright?'
    """
    close = get_close_matches(word, list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else ""
