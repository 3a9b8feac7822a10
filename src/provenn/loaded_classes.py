"""Instances of classes of large libraries, recognised without importing the library."""

import sys

__all__ = ["is_loaded_instance"]


def is_loaded_instance(value: object, module: str, class_name: str) -> bool:
    """Return whether a value is an instance of a class.

    A value of a class exists only after the module of the class was imported, so that nothing has to be imported here.

    >>> from fractions import Fraction
    >>> is_loaded_instance(Fraction(1, 2), "fractions", "Fraction"), is_loaded_instance(1, "fractions", "Fraction")
    (True, False)
    >>> is_loaded_instance(1, "a_module_that_nobody_imported", "Number")
    False
    """
    loaded_class = getattr(sys.modules.get(module), class_name, None)
    return isinstance(loaded_class, type) and isinstance(value, loaded_class)
