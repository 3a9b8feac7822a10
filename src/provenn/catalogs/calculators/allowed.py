"""The code allowed to run: modules and captured source with a permit from the user.

An archive is data, and may come from anybody. The import path of a calculator in an archive would run any module, and
captured source any text. So the list of permits belongs to the user, never to an archive: functions handed to provenn
in this process, and the permits in `provenn.gate.permits`. A permit for a module is its import path, and covers all
plain functions of the module. A permit for captured source is the hash of this source, and nothing else.
"""

from __future__ import annotations

from provenn.catalogs.calculators.python import PythonCalculator
from provenn.errors import CalculatorError
from provenn.gate import permits
from provenn.gate.permits import EVERYTHING, allow, forbid, is_permit, read_permits

__all__ = ["EVERYTHING", "allow", "allow_handed_over", "check_allowed", "forbid", "is_permit", "read_permits"]


def check_allowed(calculator: PythonCalculator) -> None:
    """Make sure that the user allows the code of a calculator to run.

    Raises
    ------
    CalculatorError
        If the user has not allowed the code. None of the code has been imported or run then.
    """
    if calculator.given or permits.is_allowed(calculator.permit):
        return
    advice = "read it with `provenn calculators --code`; " if calculator.code else ""
    raise CalculatorError(
        f"{calculator.function} is code that you have not allowed to run",
        hint=f"{advice}if you trust it, run: provenn allow {calculator.permit}",
    )


def allow_handed_over(calculator: PythonCalculator) -> None:
    """Allow the code of a function handed over by the user; code of provenn itself only in this process.

    The demo hands over a function of provenn. A stored permit for this module would let foreign archives name any
    function in the module.
    """
    if calculator.permit.partition(".")[0] != __name__.partition(".")[0]:
        allow(calculator.permit)
