# SPDX-License-Identifier: MIT
"""python -m moreau_sim import FILE [-o SCENE.json] | export EPISODE --mcap FILE | check-vector ID"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from typing import Any

from . import exporters, importers
from .client import Client
from .episode import Episode
from .errors import MoreauError


def import_file(arguments: argparse.Namespace) -> int:
    try:
        imported = importers.load(
            arguments.file,
            package_path=arguments.package_path,
            free_base=arguments.free_base,
            self_collisions=arguments.self_collisions,
            strict=arguments.strict,
            decompose=arguments.decompose,
            collision_group=arguments.collision_group,
            arguments=dict(arguments.arg),
        )
        for loss in imported.losses:
            print(f"not in the scene: {loss}", file=sys.stderr)
        for note in imported.notes:
            print(f"note: {note}", file=sys.stderr)
        for control in imported.controls:
            where = f"{control.quantity} of axis {control.axis} of {control.joint}"
            more = f" and {control.offset:g}" if control.offset else ""
            print(f"control {control.name}: {where}, times {control.scale:g}{more}", file=sys.stderr)
        if imported.starts:
            print(f"key-frames (--start NAME): {', '.join(imported.starts)}", file=sys.stderr)
        print(imported.verdict, file=sys.stderr)
        if arguments.start:
            imported.json = imported.at(arguments.start)
        if arguments.output:
            imported.save(arguments.output)
        else:
            print(json.dumps(imported.json, indent=1))
    except KeyError as error:
        print(f"moreau_sim import: {arguments.file}: {error.args[0]}", file=sys.stderr)
        return 1
    except (importers.ImportFailed, OSError) as error:
        print(f"moreau_sim import: {error}", file=sys.stderr)
        return 1
    return 0


def name_and_value(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{word!r} is not NAME=VALUE")
    return name.removesuffix(":"), value


def export_episode(arguments: argparse.Namespace) -> int:
    try:
        with Client(arguments.server, token_file=arguments.token_file, name="moreau_sim export") as client:
            written = exporters.mcap(
                Episode(client, arguments.episode),
                arguments.mcap,
                first=arguments.first,
                last=arguments.last,
                stride=arguments.stride,
                contacts=arguments.contacts,
                reports=arguments.reports,
                again=arguments.again,
                progress=True,
            )
    except KeyboardInterrupt:
        print(f"moreau_sim export: interrupted: {arguments.mcap} was not written", file=sys.stderr)
        return 1
    except (exporters.ExportFailed, MoreauError, OSError, ValueError) as error:
        print(f"moreau_sim export: {error}", file=sys.stderr)
        return 1
    print(f"{arguments.mcap}: {written.frames:,} frames, {written.bodies:,} bodies", file=sys.stderr)
    if written.undrawn:
        print(f"{written.undrawn:,} shapes are of kinds that are not drawn", file=sys.stderr)
    return 0


def check_vector(arguments: argparse.Namespace) -> int:
    try:
        import gymnasium
        from gymnasium.envs.registration import load_env_creator
        from gymnasium.vector import AutoresetMode, VectorEnv

        from . import gym  # noqa: F401  # its environments
        from .checker import check_vector_env
    except ImportError as error:
        print(f"moreau_sim check-vector: it needs Gymnasium: pip install 'moreau-sim[gym]' ({error})", file=sys.stderr)
        return 1
    try:
        id: str = arguments.id
        entry = gymnasium.spec(id).vector_entry_point
        has_own = entry is not None and not arguments.sync
        # some have a single mode, and take no word of it
        takes = (
            inspect.signature(load_env_creator(entry) if isinstance(entry, str) else entry).parameters if entry else {}
        )
        has_modes = "autoreset_mode" in takes or any(
            one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()
        )

        def make(autoreset_mode: AutoresetMode) -> VectorEnv[Any, Any, Any]:
            if not has_own:
                return gymnasium.make_vec(
                    id,
                    num_envs=arguments.num_envs,
                    vectorization_mode="sync",
                    vector_kwargs={"autoreset_mode": autoreset_mode},
                )
            mode: dict[str, Any] = {"autoreset_mode": autoreset_mode} if has_modes else {}
            return gymnasium.make_vec(id, num_envs=arguments.num_envs, **mode)

        report = check_vector_env(make, calls=arguments.calls, raises=False)
    except (gymnasium.error.Error, MoreauError, OSError, ValueError) as error:
        print(f"moreau_sim check-vector: {error}", file=sys.stderr)
        return 1
    print(report)
    return 0 if report.ok else 4


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m moreau_sim", description="Tools of the Python client of Moreau.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "import",
        help="make a scene of an MJCF or URDF file",
        description="Makes a scene of a URDF file, or of an MJCF file read by MuJoCo's parser (pip install "
                    "'moreau-sim[import]'): "
        "`python -m moreau_sim import ant.xml -o ant.json && moreau run ant.json`. What the scene does not have of the "
        "file, with its share of the model, what was repaired, and what its controls are, is said on standard error, "
        "and in a last line whether anything physical is lost. Exit status: 0 done, 1 not possible, 2 usage.",
    )
    command.add_argument("file", help="MJCF (<mujoco>) or URDF (<robot>)")
    command.add_argument("-o", "--output", metavar="SCENE.json", help="where the scene goes; default: standard output")
    command.add_argument(
        "--package-path", metavar="DIR", action="append", default=[],
        help="where packages of package:// and $(find) are, beside $ROS_PACKAGE_PATH and the folders around the file; "
        "may be repeated",
    )
    command.add_argument("--start", metavar="NAME", help="of MJCF: begin in this key-frame; default: as the model does")
    command.add_argument("--free-base", action="store_true", help="of URDF: the root is free; default: it stands fast")
    command.add_argument(
        "--self-collisions", action="store_true", help="of URDF: links touch each other, but for neighbours"
    )
    command.add_argument(
        "--decompose", action="store_true", help="of URDF: meshes are several hulls each, by CoACD; default: one hull"
    )
    command.add_argument(
        "--strict", action="store_true", help="refuse numbers that no body has, in the place of repairing them"
    )
    command.add_argument(
        "--collision-group", metavar="N", type=int, choices=range(32),
        help="0 to 31: the first group of shapes that it takes; robots of one scene have theirs each",
    )
    command.add_argument(
        "--arg", metavar="NAME=VALUE", action="append", default=[], type=name_and_value,
        help="an argument of a xacro file; may be repeated",
    )
    command.set_defaults(run=import_file)
    command = commands.add_parser(
        "export",
        help="write an episode as MCAP",
        description="Writes an episode of a server as MCAP, which Foxglove opens (pip install 'moreau-sim[mcap]'). "
                    "What was not stored, the "
        "server steps again. Tables and arrays: moreau export. Exit status: 0 done, 1 not possible, 2 usage.",
    )
    command.add_argument("episode", help="an id, its first digits (at least 4), or a name that only one has")
    command.add_argument("--mcap", metavar="OUT", required=True, help="the file to write")
    command.add_argument(
        "--server", metavar="ADDR", help="HOST:PORT or unix:PATH; default $MOREAU_SERVER, or 127.0.0.1:7667"
    )
    command.add_argument("--token-file", metavar="F", help="the server's token")
    command.add_argument("--from", dest="first", type=int, metavar="STEP", help="of the episode; default 0")
    command.add_argument("--to", dest="last", type=int, metavar="STEP", help="default: the last")
    command.add_argument("--stride", type=int, default=1, metavar="N", help="every N-th step; default 1")
    command.add_argument("--contacts", action="store_true", help="what touches, too: arrows, and numbers to plot")
    command.add_argument(
        "--reports", action="store_true", help="how good each step was, too: numbers to plot; all is stepped again"
    )
    command.add_argument("--again", action="store_true", help="step again even what is stored")
    command.set_defaults(run=export_episode)
    command = commands.add_parser(
        "check-vector",
        help="check a vector environment",
        description="Checks a registered Gymnasium environment with many worlds (pip install 'moreau-sim[gym]'): "
                    "seeds, masks, terminal "
        "observations, buffers, autoreset modes. Exit status: 0 as it should be, 1 not possible, 2 usage, 4 problems.",
    )
    command.add_argument("id", help="as gymnasium.make_vec takes it, as CartPole-v1 or MODULE:ID")
    command.add_argument("--num-envs", type=int, default=3, metavar="N", help="worlds; default 3")
    command.add_argument("--calls", type=int, default=150, metavar="N", help="of step, each time; default 150")
    command.add_argument("--sync", action="store_true", help="its single environment in Gymnasium's SyncVectorEnv")
    command.set_defaults(run=check_vector)
    arguments = parser.parse_args(words)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
