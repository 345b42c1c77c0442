# SPDX-License-Identifier: MIT
"""A client of Moreau, the contact-dynamics simulation server.

    import moreau_sim

    with moreau_sim.launch() as server, server.client() as client:
        world = moreau_sim.World.create(client, "scene.json", solver="sap")
        world.step(240, progress=True)
        print(world.state().pose)

`Client` has every call of the protocol as a method; `protocol` has its messages.
"""

from . import errors, protocol
from ._wire import WireError
from .client import Client, Pending
from .errors import ConnectionLost, MoreauError, ProtocolError, ServerError
from .launch import Server, find_server, launch
from .problem import dense_problem, solve
from .world import State, World

__version__ = "0.1.0"

__all__ = [
    "Client",
    "ConnectionLost",
    "MoreauError",
    "Pending",
    "ProtocolError",
    "Server",
    "ServerError",
    "State",
    "WireError",
    "World",
    "dense_problem",
    "errors",
    "find_server",
    "launch",
    "protocol",
    "solve",
]
