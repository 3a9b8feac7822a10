"""Separations, as people give them."""

import math

import numpy as np
import pytest
from astropy import units

from provenn.errors import DefinitionError
from provenn.sky.separations import read_arcseconds


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (2, 2.0),
        (0.001, 0.001),
        (np.float32(1.5), 1.5),
        ("2", 2.0),
        ("2 arcsec", 2.0),
        ('2"', 2.0),
        ("1e-1 ARCMIN", 6.0),
        ("180 deg", 648000.0),
        ("1 rad", 648000 / math.pi),
        ("3 mas", 0.003),
        (2 * units.arcsec, 2.0),
        (0.5 * units.deg, 1800.0),
    ],
)
def test_a_number_a_text_or_a_quantity_is_a_radius(arguments, expected):
    assert read_arcseconds(arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        0,
        -1,
        math.nan,
        math.inf,
        648001,
        "181 deg",
        "0 arcsec",
        "two",
        "2 parsec",
        "",
        None,
        True,
        [2],
        2 * units.kpc,
        1j,
    ],
)
def test_anything_else_is_refused(arguments):
    with pytest.raises(DefinitionError):
        read_arcseconds(arguments)
