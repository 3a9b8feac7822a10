"""A catalog with more attributes, calculated from the attributes of the parent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.calculators import Calculator, Expressions, PythonCalculator, SqlCalculator
from provenn.catalogs.calculators.sql import Output, define_attributes
from provenn.catalogs.calculators.window_functions import WindowCalculator, WindowFunctions, WindowOutput
from provenn.catalogs.catalog import Catalog, Derivation, Parameters, make_inconsistency_error
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.formulas import Formula
from provenn.catalogs.keep_attributes import KeepAttributes
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Schema, merge_attributes
from provenn.criteria import AttributeIdentity, DefinedAttribute
from provenn.criteria.platforms import Trait, find_platform_traits
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.errors import CalculatorError

__all__ = ["DeriveAttributes"]

_CALCULATE = "calculate"
"""The verb of a derivation by a function in exchanged definitions: the function is not read."""
_WINDOW = "window"
"""The verb of a derivation by window functions in exchanged definitions."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeriveAttributes(Derivation):
    """The sources and attributes of `parent`, and new attributes calculated from them.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    calculation
        The calculation: SQL expressions, window functions in SQL, or a Python calculator.
    """

    profile = ClassProfile(word="derive", shape="hexagon", verbs=("derive", _CALCULATE, _WINDOW))
    parent: Catalog
    calculation: Expressions | WindowFunctions | PythonCalculator

    @classmethod
    def of(cls, parent: Catalog, calculator: Calculator) -> Self:
        """Derive attributes with a calculator.

        Raises
        ------
        CriterionError
            If an SQL expression cannot be parsed or does not fit the attributes.
        AttributeNotFoundError
            If the parent lacks an input of a Python calculator.
        CalculatorError
            If the argument is not a calculator.
        AttributeConflictError
            If the parent has a different attribute of the same name.
        """
        if isinstance(calculator, SqlCalculator):
            return cls(parent, Expressions.of(calculator, parent.schema))
        if isinstance(calculator, WindowCalculator):
            return cls(parent, WindowFunctions.of(calculator, parent.schema))
        if isinstance(calculator, PythonCalculator):
            return cls(parent, calculator)
        raise CalculatorError(f"expected a calculator, got {calculator!r}")

    def check_consistency(self) -> None:
        """Make sure that the stored types of SQL expressions are the types of these expressions."""
        if isinstance(self.calculation, WindowFunctions):
            for window in self.calculation.outputs:
                window.parse(self.parent.schema.by_canonical_name)
            return
        if not isinstance(self.calculation, Expressions):
            return
        parsed = self.calculation.parse_expressions(self.parent.schema)
        for output in self.calculation.outputs:
            expression = parsed[output.name]
            if (expression.canonical, expression.nullable) != (output.canonical, output.nullable):
                raise make_inconsistency_error(f"the type of {output.name} is not that of its expression")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """Return canonical SQL, or the definition of the calculator."""
        if not isinstance(self.calculation, PythonCalculator):
            return self.calculation.to_json()
        return {"calculator": self.calculation.definition()}

    def notes(self) -> Parameters:
        """Return SQL in the user's wording, and the units of the results, to avoid computing them again."""
        units = self._collect_units()
        return {"texts": self._collect_texts(), **({"units": units} if units else {})}

    def _collect_texts(self) -> dict[str, str]:
        if not isinstance(self.calculation, PythonCalculator):
            return {output.name: output.text for output in self.calculation.outputs}
        return {}

    def _collect_units(self) -> dict[str, str]:
        if not isinstance(self.calculation, PythonCalculator):
            return {output.name: output.unit for output in self.calculation.outputs if output.unit}
        return {}

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same calculation on a different parent."""
        (parent,) = dependencies
        if not isinstance(self.calculation, PythonCalculator):
            return self.of(parent, self.calculation.calculator)
        return self.of(parent, self.calculation)

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        (parent,) = dependencies
        if "calculator" in parameters:
            return cls(parent, PythonCalculator.from_definition(parameters["calculator"]))
        if "windows" in parameters:
            return cls(parent, WindowFunctions.from_json(parameters, notes["texts"], notes.get("units", {})))
        return cls(parent, Expressions.from_json(parameters, notes["texts"], notes.get("units", {})))

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> tuple[DefinedAttribute, ...] | None:  # noqa: ARG003
        """Return the attributes that SQL expressions define.

        None for a function, whose inputs are known by name, and for window functions, which depend on the extent.
        """
        return define_attributes(parameters) if "expressions" in parameters else None

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return the parent and the calculation in words."""
        if "calculator" in parameters:
            names = [name for name, _ in parameters["calculator"]["outputs"]]
            return f"{parts[0]}, with {join_words(names)} calculated by {parameters['calculator']['function']}"
        texts, units = notes["texts"], parameters.get("units", {})
        stated = {name: f" (in {unit})" for name, unit in units.items()}
        outputs = parameters["windows"] if "windows" in parameters else parameters["expressions"]
        new = [f"{name} = {texts[name]}{stated.get(name, '')}" for name, *_ in outputs]
        return f"{parts[0]}, with {join_words(new)}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the parent and the names of the new attributes."""
        new = [name for name in self.schema.names if name not in self.parent.schema.names]
        return f"{parts[0]} with {', '.join(new)}"

    def find_expressions(self) -> dict[AttributeIdentity, str]:
        """Return the SQL expressions in normal form; empty for a function."""
        if not isinstance(self.calculation, Expressions):
            return {}
        return {self.schema[output.name].identity: output.canonical for output in self.calculation.outputs}

    def find_outputs(
        self, calculator: str, inputs: Sequence[AttributeIdentity | None]
    ) -> tuple[AttributeIdentity, ...]:
        """Return the outputs of the calculator, in order, if it is this one and has these inputs; or empty."""
        own, schema = self.calculation, self.parent.schema
        if not isinstance(own, PythonCalculator) or own.digest != calculator:
            return ()
        if [schema[name].identity for name in own.inputs] != list(inputs):
            return ()
        return tuple(self.schema[name].identity for name in own.names)

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the expressions, or the function and what is known of it."""
        if isinstance(self.calculation, Expressions):
            return tuple((output.name, output.words) for output in self.calculation.outputs)
        if isinstance(self.calculation, WindowFunctions):
            return tuple((window.name, window.text) for window in self.calculation.outputs)
        calculator = self.calculation
        return (
            ("function", calculator.function),
            ("source", calculator.code),
            ("inputs", ", ".join(calculator.inputs)),
            ("outputs", ", ".join(f"{name} {kind}" for name, kind in calculator.outputs)),
            ("parameters", "" if calculator.keywords == "{}" else calculator.keywords),
            ("scope", calculator.scope),
            ("version", calculator.version),
        )

    def formulas(self) -> tuple[Formula, ...]:
        """Return a formula for each expression, or for the function."""
        if isinstance(self.calculation, Expressions):
            return tuple(
                Formula((output.name,), "SQL", output.words, "", "", self.schema[output.name].identity)
                for output in self.calculation.outputs
            )
        if isinstance(self.calculation, WindowFunctions):
            return tuple(
                Formula((window.name,), "SQL", window.text, "", "", self.schema[window.name].identity)
                for window in self.calculation.outputs
            )
        calculator = self.calculation
        parameters = calculator.keywords if calculator.parameters else ""
        return (
            Formula(calculator.names, "Python", calculator.function, calculator.version, parameters, calculator.source),
        )

    def exchange_form(self) -> ExchangeForm:
        """Return the expressions and stated units, or window functions; of a function only the names of the results."""
        if isinstance(self.calculation, WindowFunctions):
            return _WINDOW, {"attributes": self._collect_texts()}
        if not isinstance(self.calculation, Expressions):
            return _CALCULATE, {"attributes": list(self.calculation.names)}
        outputs = self.calculation.outputs
        units = {output.name: output.unit for output in outputs if output.has_stated_unit}
        return self.profile.word, {
            "attributes": {output.name: output.text for output in outputs},
            **({"units": units} if units else {}),
        }

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:
        """Return the derivation by SQL; for a function, the catalog with the same sources, without the results."""
        (parent,) = parts
        if verb == _CALCULATE:
            return parent  # the results of the function cannot be computed in this archive
        if verb == _WINDOW:
            return cls.of(parent, WindowCalculator.of(dict(options["attributes"])))
        return cls.of(parent, SqlCalculator.of(dict(options["attributes"]), dict(options.get("units", {}))))

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the origins of each attribute; the inputs of a calculation are the origins of its results."""
        calculated = self._trace_calculation()
        return {name: origins or calculated.get(name, ()) for name, origins in Catalog.trace_attributes(self).items()}

    def _trace_calculation(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the origins of the results, by name."""
        digest, schema = self.parent.digest, self.parent.schema
        if isinstance(self.calculation, WindowFunctions):
            return {
                window.name: build_origins(
                    digest, [schema.by_identity[read] for read in window.reads], "DIRECT", "TRANSFORMATION", window.text
                )
                for window in self.calculation.outputs
            }
        if not isinstance(self.calculation, Expressions):
            calculator = self.calculation
            inputs = [schema[name] for name in calculator.inputs]
            origins = build_origins(digest, inputs, "DIRECT", "TRANSFORMATION", calculator.function)
            return dict.fromkeys(calculator.names, origins)
        texts = {output.name: output.words for output in self.calculation.outputs}
        attributes = schema.by_identity
        return {
            name: build_origins(
                digest,
                (attributes[identity] for identity in expression.reads),
                "DIRECT",
                "TRANSFORMATION",
                texts[name],
            )
            for name, expression in self.calculation.parse_expressions(schema).items()
        }

    def find_derivation(self, identity: AttributeIdentity) -> Derivation | None:
        """Return this catalog, if it calculates the attribute and does not merely rename an attribute of the parent."""
        is_new = identity in self.schema.by_identity and identity not in self.parent.schema.by_identity
        return self if is_new else None

    @property
    def is_catalog_wide(self) -> bool:
        """Whether a function calculates a value from all sources."""
        return not isinstance(self.calculation, Expressions) and self.calculation.scope == "catalog"

    def find_inputs(self, identity: AttributeIdentity) -> dict[str, AttributeIdentity]:
        """Return the inputs of the function, or the attributes that the expression reads."""
        schema = self.parent.schema
        if isinstance(self.calculation, PythonCalculator):
            return {name: schema[name].identity for name in self.calculation.inputs}
        if isinstance(self.calculation, WindowFunctions):
            (window, *_) = self._find_windows(self.calculation, identity)
            return {schema.by_identity[read].name: read for read in window.reads}
        (output, *_) = self._find_outputs(self.calculation, identity)
        reads = self.calculation.parse_expressions(schema)[output.name].reads
        return {schema.by_identity[read].name: read for read in reads}

    def derive_single(self, identity: AttributeIdentity, parent: Catalog) -> Catalog:
        """Return the derivation by the expression alone; a function keeps all its results."""
        needed = KeepAttributes.of(parent, self.find_inputs(identity))
        if isinstance(self.calculation, PythonCalculator):
            return self.on([needed])
        if isinstance(self.calculation, WindowFunctions):
            return type(self)(needed, WindowFunctions(tuple(self._find_windows(self.calculation, identity))))
        return type(self)(needed, Expressions(tuple(self._find_outputs(self.calculation, identity))))

    def is_derived_by(
        self, identity: AttributeIdentity, calculators: Collection[str], expressions: Collection[tuple[str, str, str]]
    ) -> bool:
        """Return whether the function, or an expression for the attribute, is among those given."""
        if isinstance(self.calculation, PythonCalculator):
            return self.calculation.digest in calculators
        if isinstance(self.calculation, WindowFunctions):
            windows = self._find_windows(self.calculation, identity)
            return any((window.name, window.text, "") in expressions for window in windows)
        return any(
            (output.name, output.text, output.unit if output.has_stated_unit else "") in expressions
            for output in self._find_outputs(self.calculation, identity)
        )

    def _find_outputs(self, calculation: Expressions, identity: AttributeIdentity) -> list[Output]:
        """Return the expressions that calculate an attribute."""
        return [output for output in calculation.outputs if self.schema[output.name].identity == identity]

    def _find_windows(self, calculation: WindowFunctions, identity: AttributeIdentity) -> list[WindowOutput]:
        """Return the window functions that calculate an attribute."""
        return [window for window in calculation.outputs if self.schema[window.name].identity == identity]

    def find_own_traits(self) -> frozenset[Trait]:
        """Return the platform traits of the expressions; those of a function are unknown."""
        if isinstance(self.calculation, WindowFunctions):
            return self._find_window_traits(self.calculation)
        if not isinstance(self.calculation, Expressions):
            return frozenset()
        expressions = self.calculation.parse_expressions(self.parent.schema).values()
        return frozenset().union(*(find_platform_traits(expression.node) for expression in expressions))

    def _find_window_traits(self, calculation: WindowFunctions) -> frozenset[Trait]:
        attributes = self.parent.schema.by_canonical_name
        functions = [window.parse(attributes) for window in calculation.outputs]
        expressions = [expression for function in functions for expression in function.expressions]
        return frozenset().union(*(find_platform_traits(expression.node) for expression in expressions))

    def _build_schema(self) -> Schema:
        schema = self.parent.schema
        if isinstance(self.calculation, Expressions):
            attributes = self.calculation.attributes(schema)
        elif isinstance(self.calculation, WindowFunctions):
            attributes = self.calculation.attributes(self.parent.extent)
        else:
            attributes = self.calculation.attributes(schema, self.parent.extent)
        return merge_attributes([*schema.attributes, *attributes])
