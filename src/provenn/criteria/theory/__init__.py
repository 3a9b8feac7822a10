"""The theory of criteria: conjunctions of conditions on terms that no values of the attributes fulfil.

Read in this order: `values` (what a term can be), `arithmetic` (intervals, exactly rounded), `terms` (the graph of all
terms), `propagation` (narrow the values of each term), `ordering` (compare terms with terms), `refuting`, which puts
them together, and `building`, which builds the theory where criteria need it. Every rule is exact or silent: values are
left out only if Spark can never compute them.
"""

from provenn.criteria.theory.building import build_theory

__all__ = ["build_theory"]
