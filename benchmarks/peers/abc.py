"""ABC (berkeley-abc): the lineage with one output for each question; an output that is constant false, holds.

The file is written as binary AIGER, with NumPy throughout, and read back the same way: what ABC is given costs next to
nothing. ABC is given all questions at once, which Knowledge is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.lineages import Lineage, Questions
from benchmarks.peers.gates import Gates, gates, with_miters
from benchmarks.peers.peer import missing_command

__all__ = ["BATCH_FRAIG", "FRAIG", "Abc"]


@dataclass(frozen=True, slots=True)
class Abc:
    """SAT sweeping; start-up is included (some 25 ms).

    Parameters
    ----------
    name
        What the tables call it.
    commands
        How ABC reads ``in.aig``, sweeps it and writes ``out.aig``.
    """

    name: str
    commands: str

    def missing(self) -> str:
        """Return how ABC could be installed, or an empty string."""
        return missing_command("berkeley-abc", "berkeley-abc")

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Sweep, and see which outputs are left constant."""
        with TemporaryDirectory() as folder:
            Path(folder, "in.aig").write_bytes(_aiger(with_miters(gates(lineage), questions)))
            run(["berkeley-abc", "-q", self.commands], cwd=folder, stdout=DEVNULL, check=True)
            header, rest = Path(folder, "out.aig").read_bytes().split(b"\n", 1)
        outputs = int(header.split()[4])
        return [line == b"0" for line in rest.split(b"\n", outputs)[:outputs]]


FRAIG = Abc("ABC (fraig)", "read in.aig; fraig; write_aiger out.aig")
"""ABC's sweeper for questions as they come, and the one that the promise names."""

BATCH_FRAIG = Abc("ABC (&fraig -y)", "&r in.aig; &fraig -y; &w out.aig")
"""The fastest of ABC's sweepers here, on a graph that it keeps in a form of its own. Shown; nothing was promised."""


def _aiger(circuit: Gates) -> bytes:
    """Write a circuit as binary AIGER (Biere, The AIGER And-Inverter Graph (AIG) Format, 2007)."""
    size = len(circuit.operands)
    nodes = 2 * (1 + circuit.inputs + np.arange(size))
    larger, smaller = circuit.operands.max(axis=1), circuit.operands.min(axis=1)
    header = f"aig {circuit.inputs + size} {circuit.inputs} 0 {len(circuit.outputs)} {size}\n"
    outputs = "".join(f"{output}\n" for output in circuit.outputs.tolist())
    deltas = np.stack([nodes - larger, larger - smaller], axis=1)
    return (header + outputs).encode() + _seven_bits_a_byte(deltas.reshape(-1))


def _seven_bits_a_byte(numbers: NDArray[np.int64]) -> bytes:
    shifts = np.arange(0, 35, 7)
    groups = numbers[:, np.newaxis] >> shifts
    more = groups >= 128
    used = (groups > 0) | (shifts == 0)
    written: NDArray[np.uint8] = ((groups & 127) | (more << 7))[used].astype(np.uint8)
    return written.tobytes()
