"""The theory of criteria: conjunctions of conditions on terms that no values of the attributes fulfil.

Read in this order: `values` (what a term can be), `arithmetic` (intervals, exactly rounded), `terms` (the graph of all
terms), `propagation` (narrow the values of each term), `ordering` (compare terms with terms), and `refuting`, which
puts them together. Every rule is exact or silent: values are left out only if Spark can never compute them.
"""

from provenn.criteria.theory.refuting import CriterionTheory, build_theory

__all__ = ["CriterionTheory", "build_theory"]
