"""Texts that may be statements: whatever they are, they are read or refused."""

from hypothesis import strategies as st

from provenn.errors import LabelError, StatementError
from provenn.logic import statement
from tests.fuzz.texts import ODD, spoiled, texts
from tests.fuzz.trying import Tried, try_all
from tests.strategies import statements

__all__ = ["accept", "try_statements"]

_WORDS = (
    *("A", "B", "bright", "'x y'", '"q"', "{}", "{ }", "empty", "nonempty", "disjoint", "overlapping", "outside"),
    *("and", "or", "not", "&", "|", "-", "^", "~", "(", ")", ",", "==", "!=", "<=", "<", ">=", ">", "=", "!"),
)
_NAMES = ("A", "B", "and", "x y", "ü", *(item for item in ODD if item))


def try_statements(cases: int) -> Tried:
    """Try to read texts as statements."""
    good = st.one_of(statements(), statements(_NAMES)).map(str)
    return try_all(st.one_of(texts(), spoiled(good, _WORDS)), accept, cases)


def accept(text: str) -> bool:
    """Tell whether a text is a statement; one that is reads back as itself."""
    try:
        result = statement(text)
    except (LabelError, StatementError) as error:
        str(error).encode(errors="surrogatepass")
        return False
    assert statement(str(result)) == result
    assert hash(statement(str(result))) == hash(result)
    return True
