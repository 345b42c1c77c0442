# SPDX-License-Identifier: MIT
"""A client of Moreau, the contact-dynamics simulation server.

    import moreau_sim

    with moreau_sim.launch() as server, server.client() as client:
        world = moreau_sim.World.create(client, "scene.json", solver="sap")
        world.step(240, progress=True)
        print(world.state().pose)

`Client` has every call of the protocol as a method; `protocol` has its messages. `Group` steps thousands of worlds
as arrays, `Episode` is a stored episode as arrays. `moreau_sim.gym` has Gymnasium environments, `moreau_sim.checker`
a checker of vector environments, `moreau_sim.importers` reads MJCF and URDF, `moreau_sim.geometry` reads STL, OBJ, PLY,
GLB and DAE, and `moreau_sim.exporters` writes MCAP: each needs an extra of the distribution, and is imported when it is
first named. So are `moreau_sim.slurm` and `moreau_sim.ray`, whose `Fleet` starts its servers on the nodes that those
give.
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import errors, protocol
from ._wire import WireError
from .client import Client, Pending
from .episode import Episode, Frames
from .errors import ConnectionLost, MoreauError, ProtocolError, ServerError, Untrusted
from .fleet import Event, Fleet
from .group import (
    Columns,
    Final,
    Group,
    Opinions,
    Rows,
    channel,
    gaussian,
    opinion_stream,
    parameter,
    push,
    push_stream,
    sensor_stream,
    uniform,
)
from .group import stream as noise_stream
from .launch import Server, find_server, launch
from .problem import dense_problem, solve
from .runs import Run, Runs
from .view import view
from .world import JointState, RayHits, State, World, joint_starts, step_joints

if TYPE_CHECKING:
    from . import checker, exporters, geometry, gym, importers
    from .checker import check_vector_env

__version__ = "0.1.0"

__all__ = [
    "Client",
    "Columns",
    "ConnectionLost",
    "Episode",
    "Event",
    "Final",
    "Fleet",
    "Frames",
    "Group",
    "JointState",
    "MoreauError",
    "Pending",
    "ProtocolError",
    "Opinions",
    "Rows",
    "Server",
    "Run",
    "Runs",
    "ServerError",
    "RayHits",
    "State",
    "Untrusted",
    "WireError",
    "World",
    "channel",
    "dense_problem",
    "errors",
    "find_server",
    "gaussian",
    "joint_starts",
    "launch",
    "noise_stream",
    "opinion_stream",
    "parameter",
    "protocol",
    "push",
    "push_stream",
    "sensor_stream",
    "solve",
    "step_joints",
    "uniform",
    "view",
]


def __getattr__(name: str) -> Any:
    # they need packages that the rest does not, and so do not come with *
    if name == "check_vector_env":
        return importlib.import_module(".checker", __name__).check_vector_env
    if name in ("checker", "exporters", "geometry", "gym", "importers", "ray", "slurm"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
