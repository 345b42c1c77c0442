# SPDX-License-Identifier: MIT
"""What `import moreau_sim` gives, where extras of the distribution are installed and where they are not."""

import os
import pathlib
import subprocess
import sys

SOURCE = str(pathlib.Path(__file__).parents[1] / "src")


def run(program):
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True).stdout


def test_what_extras_need_is_imported_when_it_is_named():
    program = """
import sys, moreau_sim
assert "moreau_sim.importers" not in sys.modules
print(moreau_sim.importers.load.__name__, moreau_sim.exporters.mcap.__name__)
"""
    assert run(program) == "load mcap\n"


def test_without_an_extra_the_rest_is_there_and_the_extra_is_named():
    program = """
import sys
sys.modules["gymnasium"] = None  # as if it were not installed
from moreau_sim import *
import moreau_sim
print(launch.__name__)
for name in ("gym", "checker", "check_vector_env"):
    try:
        getattr(moreau_sim, name)
    except ModuleNotFoundError as error:
        print(error)
"""
    lines = run(program).splitlines()
    assert lines[0] == "launch" and len(lines) == 4
    assert all("needs Gymnasium: pip install 'moreau-sim[gym]'" in line for line in lines[1:])
