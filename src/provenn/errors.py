"""The whole error tree of provenn.

::

    ProvennError                      everything provenn raises on purpose
    ├── StatementError (ValueError)   a statement cannot be parsed; marks the column
    ├── CriterionError (ValueError)   a criterion or SQL expression is invalid; marks the column
    ├── QueryError (ValueError)       a query cannot be read; says the line and column
    ├── RegionError (ValueError)      a region of the sky is invalid; says why
    ├── LabelError (ValueError)       a label is invalid or repeated
    ├── UnknownLabelError (KeyError)  no fact mentions a label; suggests a similar one
    ├── CountError (ValueError)       a known count is not a number of objects
    ├── HypercubeError (ValueError)   an array is not a Boolean hypercube
    ├── PictureError (ValueError)     a picture cannot be drawn
    ├── BudgetError (ValueError)      a relationship would need too many hypercubes
    ├── DeadlineError (TimeoutError)  work was stopped: its time was up, or nobody was waiting
    ├── FileError (OSError)           a file cannot be read
    ├── ExpansionError                unpacked data would be too large; says how to allow it
    ├── ArchiveError                  an archive cannot be used, or not like this
    │   ├── ArchiveNotFoundError (FileNotFoundError)  no archive exists there
    │   ├── ArchiveVersionError       its format is too new, or it is read-only and too old
    │   ├── ReadOnlyArchiveError (PermissionError)  it is read-only
    │   ├── ArchiveBusyError (TimeoutError)  another process is writing to it
    │   ├── ArchiveChangedError       it was upgraded or replaced since it was opened
    │   ├── ArchiveUnreachableError (ConnectionError)  its server cannot be reached
    │   ├── OutcomeUnknownError       the connection broke at the end of a transaction; carries its id
    │   └── CorruptArchiveError       a row differs from what was written
    ├── UnknownCatalogError (KeyError)  no catalog has this name or digest; suggests a similar one
    ├── CatalogNameError (ValueError)  a name is invalid or taken
    ├── ComparisonError (ValueError)  too few or too many catalogs to compare
    ├── FactError (ValueError)        a fact cannot be declared or retracted
    ├── NotYoursError (PermissionError)  only the owner or an administrator may do this
    ├── ProjectError (ValueError)     a project does not exist, or cannot be created
    ├── VisibilityError (ValueError)  a visibility is unknown, or does not fit the project
    ├── UnknownFactError (KeyError)   no fact has this number
    ├── AttributeNotFoundError (KeyError)  no attribute has this name, or several may be meant
    ├── AttributeConflictError (ValueError)  attributes cannot share a name; says how to rename
    ├── PopulationError (ValueError)  populations differ, or the name of one is invalid
    ├── KeyColumnsError (ValueError)  key columns cannot identify a source
    ├── TypeNameError (ValueError)    Spark does not support a type
    ├── ArgumentsError (TypeError)    a verb lacks an argument, or has no such argument; says what to pass
    ├── DefinitionError (ValueError)  a catalog cannot be defined like this
    ├── BaseFilesError                files cannot be the base of a catalog
    │   ├── FilesMissingError (FileNotFoundError)  files are missing
    │   ├── FilesChangedError         files have changed since the catalog was defined
    │   └── KeyValuesError (ValueError)  keys are NULL or repeated; shows some
    ├── MissingPartnerError (ValueError)  sources refer to nothing, although they must; shows some
    ├── CalculatorError (ValueError)  a calculator cannot be registered, or its code is missing
    │   ├── CalculatorChangedError    its code has changed since it was registered
    │   └── CalculationError          it raised an error, or returned other data than declared
    ├── EngineError                   Spark cannot be started, reached or used
    │   └── JavaNotFoundError         no Java is available
    ├── RunError                      a run failed; says at what step
    ├── ServerError (OSError)         an archive cannot be served at an address
    ├── SampError (OSError)           a hub or client is missing, refused, or did not answer
    ├── TapError (ValueError)         a request to the TAP service is not valid, or goes beyond a limit
    ├── TokenError (ValueError)       a token does not exist, or cannot be created
    ├── QuotaError (PermissionError)  a person exceeds a quota; says which
    ├── UnknownJobError (KeyError)    the server does not know a job, or the job has no data
    ├── FetchError (OSError)          real catalogs cannot be fetched
    ├── StoreError (OSError)          data cannot be written or read: full, forbidden, gone
    ├── FormatError (ValueError)      a format is unknown, or cannot hold the data
    ├── LineageError (ValueError)     lineage cannot be exchanged; says which event is invalid
    ├── ManifestError (ValueError)    a project of dbt cannot be read; says what is missing
    ├── TargetError (ValueError)      a request cannot be answered; says why
    │   ├── AmbiguousAttributeError   a name may mean several attributes; lists them
    │   ├── SparkNeededError          only Spark can compute it, and Spark was not to be started
    │   └── NotCoveredError           some sources may lack an attribute; shows a possible world
    ├── TooLargeError (ValueError)    too many data for one process; says how to get them anyway
    └── ContradictionError (ValueError)  facts contradict each other; carries the minimal conflict

    ProvennWarning (UserWarning)      a caveat: an answer rests on declared facts, or data contradict one

Every message names the offending thing; `hint`, where there is one, says what to do about it.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from provenn.hints import Hint

__all__ = [
    "AmbiguousAttributeError",
    "ArchiveBusyError",
    "ArchiveChangedError",
    "ArchiveError",
    "ArchiveNotFoundError",
    "ArchiveUnreachableError",
    "ArchiveVersionError",
    "ArgumentsError",
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
    "CountError",
    "CriterionError",
    "DeadlineError",
    "DefinitionError",
    "EngineError",
    "ExpansionError",
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
    "ManifestError",
    "NotCoveredError",
    "NotYoursError",
    "OutcomeUnknownError",
    "PictureError",
    "PopulationError",
    "ProjectError",
    "ProvennError",
    "ProvennWarning",
    "QueryError",
    "QuotaError",
    "ReadOnlyArchiveError",
    "RegionError",
    "RunError",
    "SampError",
    "ServerError",
    "SparkNeededError",
    "StatementError",
    "StoreError",
    "TapError",
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
    """The base of all errors that provenn raises on purpose.

    Parameters
    ----------
    message
        The problem, with the offending value.
    hint
        A remedy, or an empty string.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class ProvennWarning(UserWarning):
    """A warning about an answer: it rests on declared facts, or data contradict a declared fact."""


class StatementError(ProvennError, ValueError):
    """A statement cannot be parsed.

    Parameters
    ----------
    problem
        The problem.
    text
        The whole statement.
    column
        The position of the problem in `text`, counted from 0.
    """

    def __init__(self, problem: str, text: str, column: int, *, hint: str = "") -> None:
        super().__init__(f"{problem}, {_mark_column(text, column)}", hint=hint)
        self.problem = problem
        self.text = text
        self.column = column


class CriterionError(ProvennError, ValueError):
    """A criterion or an SQL expression cannot be parsed, does not fit the types, or is not allowed.

    Parameters
    ----------
    problem
        The problem.
    text
        The whole criterion or expression.
    column
        The position of the problem in `text`, counted from 0, if known.
    """

    def __init__(self, problem: str, text: str, column: int | None = None, *, hint: str = "") -> None:
        place = f"in\n  {text[:100]}" if column is None else _mark_column(text, column)
        super().__init__(f"{problem}, {place}" if text.strip() else problem, hint=hint)
        self.problem = problem
        self.text = text
        self.column = column


class QueryError(ProvennError, ValueError):
    """A query cannot be parsed, has no meaning, or is not allowed.

    Parameters
    ----------
    problem
        The problem.
    text
        The whole query, or an empty text if the query was not written as text.
    position
        The position of the problem in `text`, counted from 0, if known.

    Attributes
    ----------
    line, column
        The place of the problem, both counted from 1, or None.
    """

    def __init__(self, problem: str, text: str = "", position: int | None = None, *, hint: str = "") -> None:
        self.problem = problem
        self.text = text
        self.position = position
        self.line: int | None = None
        self.column: int | None = None
        message = problem
        if position is not None:
            start = text.rfind("\n", 0, position) + 1
            end = text.find("\n", position)
            self.line = text.count("\n", 0, position) + 1
            self.column = position - start + 1
            row = text[start:] if end < 0 else text[start:end]
            shift = max(0, position - start - 60)
            shown = row[shift : position - start + 40].replace("\t", " ")
            marker = " " * (position - start - shift) + "^"
            message = f"{problem}, at line {self.line}, column {self.column}\n  {shown}\n  {marker}"
        super().__init__(message, hint=hint)


class RegionError(ProvennError, ValueError):
    """A region of the sky is invalid: out of range, without extent, or crossing itself."""


class LabelError(ProvennError, ValueError):
    """A label is not a non-empty string, or is repeated."""


class UnknownLabelError(ProvennError, KeyError):
    """No fact mentions a label.

    Parameters
    ----------
    label
        The requested label.
    known
        The known labels, for suggestions.
    """

    def __init__(self, label: str, known: Iterable[str]) -> None:
        super().__init__(f"no fact mentions a set {label!r}", hint=did_you_mean(label, known))
        self.label = label


class CountError(ProvennError, ValueError):
    """A known count is not a number of objects, or its bounds contradict each other."""


class HypercubeError(ProvennError, ValueError):
    """An array is not a Boolean hypercube."""


class PictureError(ProvennError, ValueError):
    """A picture cannot be drawn."""


class BudgetError(ProvennError, ValueError):
    """A relationship would need more hypercubes than its budget allows.

    Parameters
    ----------
    labels
        The labels of the relationship.
    size
        The necessary number of hypercubes.
    budget
        The allowed number of hypercubes.
    """

    def __init__(self, labels: Iterable[str], size: int, budget: int) -> None:
        self.labels = tuple(labels)
        self.size = size
        self.budget = budget
        amount = f"{size:,}" if size < 10**15 else f"about 2**{size.bit_length() - 1}"
        super().__init__(
            f"a relationship between {', '.join(self.labels)} would need {amount} hypercubes, "
            f"more than the budget of {budget:,}",
            hint="use Knowledge, which needs no hypercubes; or remove sets, add facts, or raise `budget`",
        )


class DeadlineError(ProvennError, TimeoutError):
    """Work stopped before its end, because its time was up or no caller waits for it any more."""

    def __init__(self) -> None:
        super().__init__(
            "the work was stopped: its time was up, or nobody was waiting for it",
            hint="request less at once, or try again when the machine is less busy",
        )


class FileError(ProvennError, OSError):
    """A file cannot be read."""


class ExpansionError(ProvennError):
    """Data would become too large when unpacked, or a header claims a size out of proportion."""


class AttributeNotFoundError(ProvennError, KeyError):
    """No attribute has a name, or several attributes may be meant.

    Parameters
    ----------
    name
        The requested name.
    known
        The known names, for suggestions.
    matches
        The names that may be meant, if several fit.
    """

    def __init__(self, name: object, known: Iterable[str], matches: Iterable[str] = ()) -> None:
        candidates = tuple(matches)
        if candidates:
            problem = f"the attribute {name} is ambiguous: {' or '.join(candidates)}"
            hint = "write the exact name, including upper and lower case"
        else:
            names = tuple(known)
            problem = f"there is no attribute {name!r}"
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names[:20])}{' …' * (len(names) > 20)}"
        super().__init__(problem, hint=hint)
        self.name = name


class AttributeConflictError(ProvennError, ValueError):
    """Attributes cannot share a name, or a name is not valid for an attribute."""


class PopulationError(ProvennError, ValueError):
    """Populations differ where they must agree, or a name is not valid for a population."""


class KeyColumnsError(ProvennError, ValueError):
    """Key columns cannot identify a source."""


class TypeNameError(ProvennError, ValueError):
    """Spark does not have a type."""


class ArgumentsError(ProvennError, TypeError):
    """A verb is called without an argument that it needs, or with one that it does not have or cannot use."""


class DefinitionError(ProvennError, ValueError):
    """A catalog cannot be defined like this."""


class BaseFilesError(ProvennError):
    """Files cannot be the base of a catalog."""


class FilesMissingError(BaseFilesError, FileNotFoundError):
    """Files are missing, or some files from the definition of the catalog are missing."""


class FilesChangedError(BaseFilesError):
    """Files have changed since the catalog was defined."""


class KeyValuesError(BaseFilesError, ValueError):
    """Keys do not identify single sources: some are NULL, or occur more than once."""


class MissingPartnerError(ProvennError, ValueError):
    """Sources refer to nothing in another catalog, although a lookup says that they must."""


class CalculatorError(ProvennError, ValueError):
    """A calculator cannot be registered, or its code cannot be found."""


class CalculatorChangedError(CalculatorError):
    """The code of a calculator has changed since it was registered."""


class CalculationError(CalculatorError):
    """A calculator raised an error, or returned other data than it declared."""


class EngineError(ProvennError):
    """Spark cannot be started, reached or used."""


class JavaNotFoundError(EngineError):
    """No Java is available to run Spark."""


class RunError(ProvennError):
    """A run failed."""


class ServerError(ProvennError, OSError):
    """An archive cannot be served at an address."""


class SampError(ProvennError, OSError):
    """A SAMP hub or client is missing, refused, or did not answer."""


class TapError(ProvennError, ValueError):
    """A request to the TAP service is not valid, or goes beyond a limit of the service."""


class FetchError(ProvennError, OSError):
    """Real catalogs cannot be fetched: no network, no client, or other data than expected."""


class TokenError(ProvennError, ValueError):
    """A token for the server does not exist, or cannot be created."""


class QuotaError(ProvennError, PermissionError):
    """A person exceeds a quota of an archive, or a quota cannot be set."""


class UnknownJobError(ProvennError, KeyError):
    """The server does not know a job, or no longer; or the job has no data."""


class StoreError(ProvennError, OSError):
    """Data cannot be written to or read from a place: it is full, forbidden or gone."""


class FormatError(ProvennError, ValueError):
    """A format is unknown, or cannot hold the data."""


class LineageError(ProvennError, ValueError):
    """Lineage cannot be exchanged with another system."""


class ManifestError(ProvennError, ValueError):
    """A project of dbt cannot be read."""


class TargetError(ProvennError, ValueError):
    """A request cannot be answered."""


class AmbiguousAttributeError(TargetError):
    """Several attributes fit a name."""


class SparkNeededError(TargetError):
    """Only Spark can compute an answer, and Spark was not to be started for it."""


class NotCoveredError(TargetError):
    """An attribute is not proved to exist for all sources.

    Parameters
    ----------
    attribute
        The name of the attribute.
    world
        A possible world in which some source lacks the attribute, or None without a search.
    """

    def __init__(self, attribute: str, message: str, world: Any = None, *, hint: str = "") -> None:  # noqa: ANN401 - errors lie below the layer of worlds
        super().__init__(message, hint=hint)
        self.attribute = attribute
        self.world = world


class TooLargeError(ProvennError, ValueError):
    """The data are too large for a single process."""


class ContradictionError(ProvennError, ValueError):
    """Facts contradict each other: they would imply everything, so nothing is proved.

    Parameters
    ----------
    conflict
        An `Explanation` with a minimal set of contradictory facts.
    """

    def __init__(self, conflict: Any) -> None:  # noqa: ANN401 - errors lie below the layer of explanations
        super().__init__(f"the facts contradict each other:\n{conflict}", hint="retract or correct one of them")
        self.conflict = conflict


class ArchiveError(ProvennError):
    """An archive cannot be used, or not like this."""


class ArchiveNotFoundError(ArchiveError, FileNotFoundError):
    """No archive exists at the given place."""


class ArchiveVersionError(ArchiveError):
    """A newer version created the archive, or it must be upgraded and is read-only."""


class ReadOnlyArchiveError(ArchiveError, PermissionError):
    """An archive is read-only, and a caller wants to write."""


class ArchiveBusyError(ArchiveError, TimeoutError):
    """Another process keeps writing to the archive."""


class ArchiveChangedError(ArchiveError):
    """An archive was upgraded, or replaced by a backup or another archive, since it was opened."""


class ArchiveUnreachableError(ArchiveError, ConnectionError):
    """The server of an archive cannot be reached, or no longer. Pending data are not written."""


class OutcomeUnknownError(ArchiveError):
    """The connection to a server was lost at the end of a transaction, and its outcome cannot be queried.

    Parameters
    ----------
    message, hint
        As for every error.
    operation
        The id of the transaction; the archive records under this id whether the transaction was done.
    """

    def __init__(self, message: str, *, operation: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.operation = operation


class CorruptArchiveError(ArchiveError):
    """A row of the database differs from the row that was written.

    Parameters
    ----------
    problem
        The problem, with the row.
    hint
        What to do about it; by default, to restore the database.
    """

    def __init__(
        self,
        problem: str,
        *,
        hint: str = "restore its database from a copy; nothing that depends on this row can be trusted",
    ) -> None:
        super().__init__(f"the archive is damaged: {problem}", hint=hint)


class UnknownCatalogError(ProvennError, KeyError):
    """No catalog has a name or digest, or several catalogs have a digest with the given beginning."""


class CatalogNameError(ProvennError, ValueError):
    """A name is not valid for a catalog, or already taken."""


class ComparisonError(ProvennError, ValueError):
    """Too few or too many catalogs to compare."""


class NotYoursError(ProvennError, PermissionError):
    """Only the owner may change this, or only a viewer of everything may do this."""


class ProjectError(ProvennError, ValueError):
    """A project does not exist, cannot be created, or its members cannot be changed like this."""


class VisibilityError(ProvennError, ValueError):
    """A visibility does not exist, or does not fit a project."""


class FactError(ProvennError, ValueError):
    """A fact cannot be declared, or cannot be retracted."""


class UnknownFactError(ProvennError, KeyError):
    """No fact has a number.

    Parameters
    ----------
    number
        The requested number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(
            f"there is no fact #{number}",
            hint=Hint(
                "archive.facts() lists them",
                command="`provenn facts` lists them",
                page="see the list of facts",
                target="/knowledge",
            ),
        )
        self.number = number


def _mark_column(text: str, column: int) -> str:
    """Return the text around a column, with a marker below the column."""
    start = max(0, column - 60)
    shown = text[start : column + 40].replace("\n", " ")
    return f"at column {column + 1}\n  {shown}\n  {' ' * (column - start)}^"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the known words nearest to `word`, or an empty string.

    >>> did_you_mean("brigth", ["bright", "faint"])
    'did you mean bright?'
    """
    close = get_close_matches(word, list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else ""
