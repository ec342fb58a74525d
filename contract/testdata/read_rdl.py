# SPDX-License-Identifier: Apache-2.0
"""Prints every field of a SystemRDL map as the independent compiler systemrdl-compiler reads it: address, lsb, width, reset, software access."""
import sys

from systemrdl import RDLCompiler
from systemrdl.node import RegNode

compiler = RDLCompiler()
compiler.compile_file(sys.argv[1])
for node in compiler.elaborate().top.descendants(unroll=True):
    if isinstance(node, RegNode):
        for f in node.fields():
            print(f"{node.absolute_address:#x} {f.lsb} {f.width} {f.get_property('reset')} {f.get_property('sw').name}")
