"""The way of a target through the rooms, as a list of functions; a test compares the list with a real run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMMAND", "WAY", "Stop"]

COMMAND = "provenn target bright vmag colour -o out.parquet"


@dataclass(frozen=True, slots=True)
class Stop:
    """A function on the way.

    Parameters
    ----------
    function
        The module below the package and the qualified name: ``targets.planning.plan_request``.
    word
        What happens there, in a word.
    sentence
        What happens there, in a sentence.
    """

    function: str
    word: str
    sentence: str

    @property
    def room(self) -> str:
        """The room of the function."""
        return self.function.partition(".")[0]


WAY = (
    Stop("cli.target.answer_target", "ask", "The command reads its options."),
    Stop("archive.target.Target.of", "request", "The facade makes a request: sources and attributes."),
    Stop("targets.planning.plan_request", "plan", "Planning begins, within one reading transaction."),
    Stop(
        "targets.naming.NameResolver.resolve_request",
        "discover",
        "Each name becomes the one attribute that these sources have.",
    ),
    Stop(
        "definitions.registered_calculators.list_registered_calculators",
        "look up",
        "The archive lists calculators for what no catalog has.",
    ),
    Stop(
        "targets.providers.Providers.derive_outputs",
        "create",
        "A new catalog applies the calculator to the largest set.",
    ),
    Stop("data.fragments.find_by_attributes", "find", "Fragments that hold one of the attributes are found."),
    Stop("knowledge.consequences.build_knowledge", "prove", "Definitions and facts become knowledge, which proves."),
    Stop("targets.rewriting.rewrite_plan", "rewrite", "Rules make the steps cheaper, each with a proof."),
    Stop("targets.running.answer_request", "run", "The plan runs; what was costly is kept first."),
    Stop("data.leases.take_lease", "lease", "Only one run computes a part; others wait."),
    Stop("spark.fragment_files.store_fragment", "compute", "Spark computes the part, and writes it as files."),
    Stop("data.fragments.register", "keep", "The part becomes a fragment, in one transaction."),
    Stop("knowledge.counts.record_count", "learn", "The number of its sources becomes a fact."),
    Stop("spark.writing.write", "write", "Spark reads the fragment, and writes the answer."),
    Stop("data.run_records.end_run", "record", "The run is recorded: what was computed and reused."),
    Stop("cli.row_tables.write_file_summary", "answer", "The command says what it wrote."),
)
"""The stops, in the order in which a run calls these functions; between two stops it may call any others."""
