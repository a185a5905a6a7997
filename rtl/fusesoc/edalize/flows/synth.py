"""Script-driven synthesis for FuseSoC: `flow: synth`, with this folder's grandparent on
PYTHONPATH.
"""

from typing import ClassVar

from edalize.flows.generic import Generic


class Synth(Generic):
    """Synthesises the design to a netlist."""

    argtypes: ClassVar = ["vlogdefine", "vlogparam"]
