"""Steps that give each row of the input, or some: selections, derivations, calculations, NULL for missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import Attribute, Extent, PythonCalculator
from provenn.catalogs.calculators import WindowFunctions
from provenn.catalogs.sample_sources import parse_sample_rule
from provenn.criteria import AttributeIdentity, Expression, identities_in
from provenn.targets.steps.step import Attributes, PlanStep

__all__ = ["Calculate", "Derive", "Fill", "Select", "find_condition_attributes"]


@dataclass(frozen=True, slots=True, eq=False)
class Select(PlanStep):
    """The rows of `input` for which a condition is true.

    Parameters
    ----------
    input
        The step to select from.
    condition
        A set whose labels name atoms; each atom is evaluated on a row.
    sources
        The remaining sources. After a concatenation, the same condition selects a different set in each member.
    """

    word = "select"
    input: PlanStep
    condition: Extent
    sources: Extent

    def _own_extent(self) -> Extent:
        return self.sources

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The step that gives the rows."""
        return (self.input,)

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same selection from another input."""
        (step,) = inputs
        return Select(step, self.condition, self.sources)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes and the attributes of the condition."""
        return (needed | find_condition_attributes(self.condition),)

    def _details(self) -> tuple[object, ...]:
        return (self.condition.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class Derive(PlanStep):
    """The rows of `input`, with one attribute more, computed by an SQL expression.

    Parameters
    ----------
    input
        The step to extend.
    attribute
        The new attribute.
    expression
        The expression, over identities.
    """

    word = "derive"
    input: PlanStep
    attribute: Attribute
    expression: Expression

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The step that gives the rows."""
        return (self.input,)

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, self.attribute.identity: self.attribute}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same derivation on another input."""
        (step,) = inputs
        return Derive(step, self.attribute, self.expression)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes, with the inputs of the expression in place of its result."""
        return ((needed - {self.attribute.identity}) | frozenset(self.expression.reads),)

    def _details(self) -> tuple[object, ...]:
        return (self.attribute.identity,)


@dataclass(frozen=True, slots=True, eq=False)
class Calculate(PlanStep):
    """The rows of `input`, with the outputs of a Python calculator or of a window function.

    Parameters
    ----------
    input
        The step to extend. A calculator of scope "catalog" needs exactly the rows of the defining catalog.
    calculator
        The calculator; of window functions, there is one.
    arguments
        The identity of each input of the calculator.
    outputs
        The new attributes.
    """

    word = "calculate"
    input: PlanStep
    calculator: PythonCalculator | WindowFunctions
    arguments: tuple[AttributeIdentity, ...]
    outputs: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The step that gives the rows."""
        return (self.input,)

    @property
    def is_catalog_wide(self) -> bool:
        """Whether the result for one source depends on all sources of the catalog."""
        return self.calculator.scope == "catalog"

    @property
    def calls_python(self) -> bool:
        """Whether a Python function calculates the outputs."""
        return isinstance(self.calculator, PythonCalculator)

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, **{output.identity: output for output in self.outputs}}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same calculation on another input."""
        (step,) = inputs
        return Calculate(step, self.calculator, self.arguments, self.outputs)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes, with the inputs of the calculator in place of its outputs."""
        return ((needed - {output.identity for output in self.outputs}) | frozenset(self.arguments),)

    def _details(self) -> tuple[object, ...]:
        return (self.calculator.digest, self.arguments)


@dataclass(frozen=True, slots=True, eq=False)
class Fill(PlanStep):
    """The rows of `input`, with NULL for attributes that these sources do not have."""

    word = "fill"
    input: PlanStep
    missing: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The step that gives the rows."""
        return (self.input,)

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, **{attribute.identity: attribute for attribute in self.missing}}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same filling of another input."""
        (step,) = inputs
        return Fill(step, self.missing)

    def _details(self) -> tuple[object, ...]:
        return tuple(attribute.identity for attribute in self.missing)


def find_condition_attributes(condition: Extent) -> frozenset[AttributeIdentity]:
    """Return the identities of the attributes that a condition reads, without the key."""
    labels = (label for label in condition.labels if parse_sample_rule(label) is None)
    return frozenset(identity for label in labels for identity in identities_in(label))
