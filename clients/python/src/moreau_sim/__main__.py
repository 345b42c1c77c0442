# SPDX-License-Identifier: MIT
"""python -m moreau_sim import FILE [-o SCENE.json]"""

from __future__ import annotations

import argparse
import json
import sys

from . import importers


def import_file(arguments: argparse.Namespace) -> int:
    try:
        imported = importers.load(arguments.file)
        for sentence in imported.unsupported:
            print(f"not in the scene: {sentence}", file=sys.stderr)
        for control in imported.controls:
            print(f"control {control.name}: {control.quantity} of axis {control.axis} of {control.joint}, times {control.scale:g}", file=sys.stderr)
        if arguments.output:
            imported.save(arguments.output)
        else:
            print(json.dumps(imported.json, indent=1))
    except (importers.ImportFailed, OSError) as error:
        print(f"moreau_sim import: {error}", file=sys.stderr)
        return 1
    return 0


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m moreau_sim", description="Tools of the Python client of Moreau.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "import",
        help="make a scene of an MJCF or URDF file",
        description="Makes a scene of an MJCF or URDF file, read by MuJoCo's parser (pip install 'moreau-sim[import]'): "
        "`python -m moreau_sim import ant.xml -o ant.json && moreau run ant.json`. What the scene does not have of the "
        "file, and what its controls are, is said on standard error. Exit status: 0 done, 1 not possible, 2 usage.",
    )
    command.add_argument("file", help="MJCF (<mujoco>) or URDF (<robot>)")
    command.add_argument("-o", "--output", metavar="SCENE.json", help="where the scene goes; default: standard output")
    command.set_defaults(run=import_file)
    arguments = parser.parse_args(words)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
