"""Catalogs for the tests of rules, and what a rule makes of one."""

from itertools import combinations

from provenn.catalogs import (
    Catalog,
    DeriveAttributes,
    PythonCalculator,
    SelectSources,
)
from provenn.targets.literal import build_step
from provenn.targets.rules import Rewrite, Rule
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, PlanStep, walk_steps
from tests.catalogs.samples import base
from tests.spark import functions
from tests.targets.scenes import planned, scene_of


def scaled(parent: Catalog, output: str = "d", factor: float = 2.0, of: str = "plx") -> DeriveAttributes:
    """A catalog with an attribute more, by a calculator in Python."""
    parameters = {"output": output, "factor": factor}
    outputs = {output: "double"}
    return DeriveAttributes.of(
        parent, PythonCalculator.of(functions.scaled, inputs=[of], outputs=outputs, parameters=parameters)
    )


def numbered(parent: Catalog, output: str = "n") -> DeriveAttributes:
    """A catalog with an attribute more that depends on all of its sources."""
    options = {"inputs": ["plx"], "outputs": {output: "bigint"}, "parameters": {"output": output}, "scope": "catalog"}
    return DeriveAttributes.of(parent, PythonCalculator.of(functions.numbered, **options))


STARS = base()
BRIGHT = SelectSources.of(STARS, "vmag < 6")
FAINT = SelectSources.of(STARS, "vmag >= 6")
NEAR = SelectSources.of(STARS, "plx > 10")
WITH_D = scaled(STARS)
TYCHO = base("tycho", {"hip": "bigint", "bt": "double"})
D = WITH_D.schema["d"].identity
VMAG, PLX = (STARS.schema[name].identity for name in ("vmag", "plx"))


def shape(step: PlanStep) -> str:
    """The steps of a plan, by their words."""
    inputs = ", ".join(map(shape, step.inputs))
    return f"{step.word}({inputs})" if inputs else step.word


def tried(rule: Rule, step: PlanStep, scene: Scene, wanted: frozenset[str] | None = None) -> Rewrite | None:
    """What a rule makes of a step; that it gives the same, and that what it says holds, is proved."""
    wanted = (
        frozenset(attribute for attribute in step.attributes if not attribute.startswith("key:"))
        if wanted is None
        else wanted
    )
    for one in walk_steps(step):
        scene.note_definitions(one)
    found = rule(step, wanted, scene)
    if found is not None:
        assert all(map(scene.is_proved, found.statements))
        assert scene.is_proved(scene.state_equal(step.extent, found.step.extent))
        assert wanted <= found.step.attributes.keys()
        assert found.because
    return found


def one_rule(rule: Rule, catalog: Catalog, wanted: frozenset[str] | None = None, **known: object) -> str | None:
    """The shape that a rule makes of a catalog's own step, or None."""
    found = tried(rule, build_step(catalog), scene_of(catalog, **known), wanted)
    return None if found is None else shape(found.step)


def plan(catalog: Catalog, **known: object) -> str:
    """The shape of what is executed for a catalog."""
    return shape(planned(catalog, scene_of(catalog, **known))[0])


def disjoint_unions(scene: Scene, step: PlanStep) -> bool:
    """Whether all unions that are said to have disjoint members are proved to have."""
    unions = [one for one in walk_steps(step) if isinstance(one, Concat) and one.is_disjoint]
    pairs = [pair for union in unions for pair in combinations(union.members, 2)]
    return all(scene.is_proved(scene.state_disjoint(one.extent, other.extent)) for one, other in pairs)
