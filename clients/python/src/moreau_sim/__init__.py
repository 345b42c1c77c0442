# SPDX-License-Identifier: MIT
"""A client of Moreau, the contact-dynamics simulation server.

    import moreau_sim

    with moreau_sim.launch() as server, server.client() as client:
        world = moreau_sim.World.create(client, "scene.json", solver="sap")
        world.step(240, progress=True)
        print(world.state().pose)

`Client` has every call of the protocol as a method; `protocol` has its messages. `Group` steps thousands of worlds
as arrays, `Episode` is a stored episode as arrays. `moreau_sim.gym` has Gymnasium environments, `moreau_sim.checker`
a checker of vector environments, `moreau_sim.importers` reads MJCF and URDF, and `moreau_sim.exporters` writes MCAP:
each needs an extra of the distribution, and is imported by itself.
"""

from . import errors, protocol
from ._wire import WireError
from .client import Client, Pending
from .episode import Episode, Frames
from .errors import ConnectionLost, MoreauError, ProtocolError, ServerError
from .group import Columns, Final, Group, Opinions, Rows, channel, gaussian, opinion_stream, parameter, uniform
from .group import stream as noise_stream
from .launch import Server, find_server, launch
from .problem import dense_problem, solve
from .view import view
from .world import JointState, State, World, joint_starts, step_joints

__version__ = "0.1.0"

__all__ = [
    "Client",
    "Columns",
    "ConnectionLost",
    "Episode",
    "Final",
    "Frames",
    "Group",
    "JointState",
    "MoreauError",
    "Pending",
    "ProtocolError",
    "Opinions",
    "Rows",
    "Server",
    "ServerError",
    "State",
    "WireError",
    "World",
    "channel",
    "check_vector_env",
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
    "solve",
    "step_joints",
    "uniform",
    "view",
]


def __getattr__(name: str) -> object:
    # it needs Gymnasium, which the rest does not
    if name == "check_vector_env":
        from .checker import check_vector_env

        return check_vector_env
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
