# SPDX-License-Identifier: MIT
"""Contact problems of one's own, handed to the server's solvers as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import protocol as p
from .client import Client
from .world import read_parameters


def dense_problem(
    mass: ArrayLike,
    v_free: ArrayLike,
    jacobian: ArrayLike,
    friction: ArrayLike,
    *,
    time_step: float,
    gap: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    gravity: float | None = None,
) -> p.ContactProblem:
    """One system of n velocities with k contacts, as arrays.

    mass       n x n, symmetric and positive definite
    v_free     n: the velocity at the end of the step without contacts
    jacobian   3 k x n: normal, tangent 1, tangent 2 of each contact; a positive normal velocity separates
    friction   k coefficients, or one for all
    gap        k [m]; default 0
    bias       k [m/s]: what the solver asks for is a normal velocity of at least -bias; default: gap / time_step
    gravity    its size [m/s^2]; sets the scale of the certificate alone
    """
    v = np.asarray(v_free, dtype=float).ravel()
    rows = np.asarray(jacobian, dtype=float).reshape(-1, v.size)
    contacts = rows.shape[0] // 3
    if rows.shape[0] != 3 * contacts:
        raise ValueError(f"jacobian: {rows.shape[0]} rows are not three for each contact")
    return p.ContactProblem(
        time_step=time_step,
        gravity=gravity,
        tree_width=[v.size],
        mass=np.asarray(mass, dtype=float).ravel(),
        v_free=v,
        contact_mu=np.broadcast_to(np.asarray(friction, dtype=float), (contacts,)),
        contact_gap=None if gap is None else np.broadcast_to(np.asarray(gap, dtype=float), (contacts,)),
        contact_bias=None if bias is None else np.broadcast_to(np.asarray(bias, dtype=float), (contacts,)),
        contact_given=None
        if bias is None
        else np.full(contacts, p.ContactProblem.ContactGiven.CONTACT_BIAS, np.uint32),
        contact_block_count=np.ones(contacts, np.uint32),
        contact_block_tree=np.zeros(contacts, np.uint32),
        contact_jacobian=rows.ravel(),
    )


def solve(
    client: Client,
    problem: p.ContactProblem,
    solver: str = "mdp",
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> p.SolveReply:
    """Solves a contact problem: velocities, impulses (3 per contact) and a certificate of how good they are.
    `parameters` are the solver's, as its message of the protocol has them; choices by name."""
    return client.solve(
        problem=problem,
        solver=solver,
        parameters=read_parameters(solver, parameters or {}),
        **options,
    )
