"""Synthesis by a script, for FuseSoC: `flow: synth`, with this folder's grandparent on
PYTHONPATH.
"""

from typing import ClassVar

from edalize.flows.generic import Generic


class Synth(Generic):
    """Makes a netlist of the design."""

    argtypes: ClassVar = ["vlogdefine", "vlogparam"]
