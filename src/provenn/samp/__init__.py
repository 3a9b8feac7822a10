"""SAMP: send tables to TOPCAT, Aladin or a notebook, and answer requests for tables.

Read `hubs` (about finding programs), `sending` and `listening` first.
"""

from provenn.samp.hubs import Client, clients
from provenn.samp.listening import PULL, Pulled, listen
from provenn.samp.pulling import pull
from provenn.samp.sending import Delivery, send

__all__ = ["PULL", "Client", "Delivery", "Pulled", "clients", "listen", "pull", "send"]
