"""A real Synapse on the loopback interface, in a virtual environment of its own (scripts/synapse)."""

from tests.servers.synapse.installed import SynapseMissing, python_of_synapse
from tests.servers.synapse.people import Person
from tests.servers.synapse.server import Synapse

__all__ = ["Person", "Synapse", "SynapseMissing", "python_of_synapse"]
