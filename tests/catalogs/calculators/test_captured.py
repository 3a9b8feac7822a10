"""Functions that no module has: their source is captured, makes them again, and runs only where it is allowed."""

import linecache
import math
import subprocess
import sys
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.catalogs import PythonCalculator, calculator_from
from provenn.catalogs.calculators import allowed
from provenn.catalogs.calculators.allowed import allow, check_allowed, is_permit
from provenn.catalogs.calculators.captured import LONGEST, capture_source, hash_source, make_function
from provenn.errors import CalculatorChangedError, CalculatorError

_CELLS = count()


def typed(source: str, name: str = "f", **known: object):
    """A function as a notebook has it: its source is in no file, and its globals are those of the notebook."""
    text, file = dedent(source).strip() + "\n", f"<cell {next(_CELLS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"__name__": "typed_in", **known}
    exec(compile(text, file, "exec"), namespace)  # noqa: S102 - as a notebook does
    return namespace[name]


def test_a_function_by_itself_is_its_source():
    text = capture_source(typed("def f(batch):\n    # twice\n    return batch * 2"))
    assert text == "def f(batch):\n    # twice\n    return batch * 2\n"
    assert make_function(text, "f")(21) == 42


def test_imports_and_constants_that_it_reads_come_with_it():
    function = typed(
        """
        import math as m, xml, xml.dom.minidom
        from collections import OrderedDict as Ordered
        FACTOR, NAMES = 2.5, ["a", ("b", None)]
        unused = object()
        def f(batch: Ordered, scale=FACTOR):
            inner = lambda one: m.sqrt(one) * scale
            return [inner(batch), NAMES, xml.dom.minidom.Node.TEXT_NODE, len(NAMES)]
        """
    )
    text = capture_source(function)
    assert text.startswith(
        "from collections import OrderedDict as Ordered\nimport math as m\nimport xml\nimport xml.dom\n"
        "import xml.dom.minidom\nFACTOR = 2.5\nNAMES = ['a', ('b', None)]\n\n\ndef f("
    )
    assert make_function(text, "f")(4.0) == function(4.0) == [5.0, ["a", ("b", None)], 3, 2]
    alone = subprocess.run(
        [sys.executable, "-c", f"{text}\nprint(f(4.0))"], capture_output=True, text=True, check=True
    ).stdout
    assert alone.strip() == str(function(4.0)), "another process makes the same of it"


def test_it_does_not_matter_whether_imports_and_function_were_compiled_together():
    """A notebook compiles each statement by itself, and Python makes other code of it."""
    apart = typed("def f(x):\n    return m.sqrt(x)", m=math)
    together = typed("import math as m\ndef f(x):\n    return m.sqrt(x)")
    assert capture_source(apart) == capture_source(together)


def test_annotations_that_are_texts_stay_texts():
    function = typed("from __future__ import annotations\ndef f(batch: Unknown) -> Nobody:\n    return batch")
    assert make_function(capture_source(function), "f")(1) == 1


def test_a_function_may_call_itself():
    function = typed("def f(n):\n    return 1 if n < 2 else n * f(n - 1)")
    assert make_function(capture_source(function), "f")(5) == 120


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(PLAIN)
def test_every_plain_constant_comes_back_as_it_was(value):
    function = typed("def f():\n    return X", X=value)
    result = make_function(capture_source(function), "f")()
    assert repr(result) == repr(value)


@pytest.mark.parametrize(
    ("source", "known", "problem"),
    [
        ("def f(x):\n    return helper(x) + table[0]", {"helper": math, "table": object()}, r"table \(object\)"),
        ("def helper(x): return x\ndef f(x):\n    return helper(x)", {}, r"helper \(function\)"),
        ("def f(x):\n    return nowhere(x)", {}, "uses names from outside: nowhere"),
        ("def f(x):\n    return [y for y in x if y > LIMIT]", {"LIMIT": math.nan}, r"LIMIT \(float\)"),
        ("def f(x):\n    return __file__", {"__file__": "here"}, r"__file__ \(str\)"),
        ("def f(x):\n    return __name__", {}, r"__name__ \(str\)"),
        ("def f(x):\n    global total\n    total = x", {}, "changes the global variable total"),
        ("def f(x, y=object()):\n    return x", {}, "a default of f is not a plain value"),
        ("f = lambda x: x", {}, "not defined by a plain def"),
        ("import functools\n@functools.cache\ndef g(x): return x\nf = g.__wrapped__", {}, "g is decorated"),
        (
            "def g(y):\n    def inner(x): return x + y\n    return inner\nf = g(1)",
            {},
            "inner uses y of the enclosing",
        ),
        ("f = eval('lambda x: x')", {}, "source of <lambda> is not available"),
    ],
)
def test_what_text_cannot_say_is_refused_by_name(source, known, problem):
    with pytest.raises(CalculatorError, match=problem) as caught:
        capture_source(typed(source, **known))
    assert caught.value.hint


def test_names_that_a_notebook_adds_to_python_are_not_pythons(monkeypatch):
    monkeypatch.setattr("builtins.display", typed("def display(x): return x", "display"), raising=False)
    with pytest.raises(CalculatorError, match=r"display \(function\)"):
        capture_source(typed("def f(x):\n    return display(x)"))


def test_source_that_is_not_what_was_run_is_refused():
    function = typed("def f(x):\n    return x + 1")
    file = function.__code__.co_filename
    linecache.cache[file] = (1, None, ["def f(x):\n", "    return x + 2\n"], file)
    with pytest.raises(CalculatorError, match="the source of f has changed since it was run"):
        capture_source(function)
    changed = typed("K = 1\ndef f(x, y=K):\n    return y")
    changed.__globals__["K"] = 2
    with pytest.raises(CalculatorError, match="the source of f has changed since it was run"):
        capture_source(changed)


def test_a_function_that_is_too_long_is_refused():
    with pytest.raises(CalculatorError, match="longer than"):
        capture_source(typed(f"def f(x):\n    return '{'x' * LONGEST}'"))


# --- calculators of captured source ---


TRACE = "from pathlib import Path\nPath({!r}).touch()\n\n\ndef f(batch):\n    return batch\n"


def captured(code: str) -> PythonCalculator:
    """A calculator of captured source, as an archive holds it that somebody else made."""
    return calculator_from(
        {
            "kind": "pandas",
            "function": "__main__:f",
            "source": hash_source(code),
            "inputs": ["g"],
            "outputs": [["z", "double"]],
            "parameters": {},
            "scope": "row",
            "version": "",
            "code": code,
        }
    )


@pytest.fixture
def nothing_allowed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PROVENN_CALCULATORS", raising=False)


@pytest.mark.usefixtures("nothing_allowed")
@pytest.mark.parametrize("other", ["", "*", "__main__", "sha256", "sha256:" + "0" * 64])
def test_foreign_source_runs_only_if_that_very_hash_is_allowed(tmp_path, monkeypatch, other):
    trace = tmp_path / "ran"
    item = captured(TRACE.format(str(trace)))
    monkeypatch.setenv("PROVENN_CALCULATORS", other)
    allow(other or "some.module")
    with pytest.raises(CalculatorError, match=r"have not allowed(.|\n)*--code(.|\n)*provenn allow sha256:") as caught:
        check_allowed(item)
    assert f"provenn allow sha256:{item.source}" in caught.value.hint
    assert not trace.exists()
    allow(item.permit)
    check_allowed(item)
    assert item.load()("batch") == "batch"
    assert trace.exists()
    allowed.forbid(item.permit)
    with pytest.raises(CalculatorError):
        check_allowed(item)


@pytest.mark.parametrize("text", ["sky.photo", "*", "sha256:" + "a" * 64])
def test_what_can_be_allowed(text):
    assert is_permit(text)
    assert not is_permit(text + " ")


@pytest.mark.parametrize("text", ["sha256:", "sha256:" + "A" * 64, "sha256:" + "a" * 63, "sky:f", "", "1", "a b"])
def test_what_cannot_be_allowed(text):
    assert not is_permit(text)


def test_its_identity_is_its_source_and_all_else_that_can_change_a_result():
    first, other = captured("def f(batch):\n    return batch\n"), captured("def f(batch):\n    return batch  # same\n")
    assert first.digest != other.digest
    assert calculator_from(first.definition()) == first
    assert "code" not in calculator_from({**first.definition(), "code": ""}).definition()


def test_source_that_was_changed_is_noticed_before_it_is_run(tmp_path):
    trace = tmp_path / "ran"
    code = TRACE.format(str(trace))
    definition = captured("def f(batch):\n    return batch\n").definition()
    with pytest.raises(CalculatorError, match="does not match its hash"):
        calculator_from({**definition, "code": code})
    result = captured(code)
    object.__setattr__(result, "source", "0" * 64)
    with pytest.raises(CalculatorChangedError, match="captured source of f is not what was registered"):
        result.load()
    assert not trace.exists()


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("def g(batch):\n    return batch\n", "does not define a function f"),
        ("from os import system as f\n", "does not define a function f"),
        ("from textwrap import dedent as f\n", "does not define a function f"),
        ("import provenn_no_such_module\ndef f(batch): return batch\n", "does not run here: ModuleNotFoundError"),
        ("def f(batch:\n", "does not run here: SyntaxError"),
    ],
)
def test_source_that_makes_no_such_function_is_told(code, problem):
    with pytest.raises(CalculatorError, match=problem):
        captured(code).load()


# --- scripts and prompts ---


SCRIPT = """
import math
from provenn.catalogs import PythonCalculator
from provenn.errors import CalculatorError
{helper}
def f(batch): return {body}
try:
    made = PythonCalculator.of(f, inputs=["g"], outputs={{"z": "double"}})
    print(made.function, made.given, made.permit.partition(":")[0], made.code.count("import"))
except CalculatorError as error:
    print(error.message)
"""


def run(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_a_function_of_a_script_is_captured_unless_it_needs_the_rest_of_the_script(tmp_path):
    (tmp_path / "survey_script.py").write_text(SCRIPT.format(helper="", body="math.sqrt(batch)"))
    assert run([sys.executable, "survey_script.py"], tmp_path) == "__main__:f True sha256 1"
    assert run([sys.executable, "-m", "survey_script"], tmp_path) == "survey_script:f True survey_script 0"
    (tmp_path / "survey_script.py").write_text(SCRIPT.format(helper="def helper(x): return x", body="helper(batch)"))
    assert run([sys.executable, "survey_script.py"], tmp_path) == "survey_script:f True survey_script 0"


def test_a_function_typed_at_a_prompt_is_refused_if_its_source_is_not_to_be_had(tmp_path):
    process = run([sys.executable, "-c", SCRIPT.format(helper="", body="batch")], tmp_path)
    assert process in ("the source of f is not available", "__main__:f True sha256 0")
