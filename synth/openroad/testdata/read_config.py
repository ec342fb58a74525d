# SPDX-License-Identifier: Apache-2.0
#
# Lets LibreLane itself read every variable of a folder's config.json, as its flow Classic declares them: names, types, files that exist.
import json
import os
import sys
from decimal import Decimal

from librelane.common import GenericDict
from librelane.config.flow import flow_common_variables, pdk_variables, scl_variables
from librelane.flows import Flow

folder = sys.argv[1]
classic = Flow.factory.get("Classic")
known = {}
for variable in list(classic.config_vars) + flow_common_variables + pdk_variables + scl_variables:
    known[variable.name] = variable
for step in classic.Steps:
    for variable in step.get_all_config_variables():
        known[variable.name] = variable


def resolved(value):
    if isinstance(value, str) and value.startswith("dir::"):
        return os.path.join(folder, value[len("dir::"):])
    if isinstance(value, list):
        return [resolved(v) for v in value]
    if isinstance(value, dict):
        return {k: resolved(v) for k, v in value.items()}
    return value


with open(os.path.join(folder, "config.json")) as f:
    config = json.load(f, parse_float=Decimal)
read = []
for name, value in config.items():
    if name == "meta":
        continue
    warnings = []
    known[name].compile(GenericDict({name: resolved(value)}), warnings)
    if warnings:
        sys.exit(f"{name}: {warnings}")
    read.append(name)
json.dump(read, sys.stdout)
