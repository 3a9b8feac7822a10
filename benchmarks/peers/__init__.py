"""Other ways to the same answers: one module a peer, all behind the `Peer` and `Classifier` protocols."""

from benchmarks.peers.abc import BATCH_FRAIG, FRAIG
from benchmarks.peers.cudd import Cudd
from benchmarks.peers.cvc5 import Cvc5
from benchmarks.peers.eprover import EProver
from benchmarks.peers.factpp import FactPlusPlus
from benchmarks.peers.konclude import Konclude
from benchmarks.peers.peer import Classifier, Hierarchy, Peer, installed
from benchmarks.peers.python_sat import PythonSat
from benchmarks.peers.z3 import Z3

__all__ = ["BATCH_FRAIG", "CLASSIFIERS", "PEERS", "Classifier", "Hierarchy", "Peer", "installed"]

PEERS: tuple[Peer, ...] = (FRAIG, BATCH_FRAIG, Cudd(), Cvc5(), Z3(), PythonSat(), EProver())
"""Those that answer questions."""

CLASSIFIERS: tuple[Classifier, ...] = (FactPlusPlus(), Konclude(), Cudd())
"""Those that put all sets in order."""
