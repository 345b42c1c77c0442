#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pinocchio's ADMM as a peer of `moreau bench solvers` (contact_peer.h says what is read and written). It runs where `python3`
finds the packages pin and numpy: python3 -m venv bench && bench/bin/pip install pin, and bench/bin first on the PATH."""
import struct
import sys
import time

NAME_BYTES, REFUSAL_BYTES = 32, 160
ITERATIONS_MAX = 1000000
CONTACTS_MAX = 2000  # whose W is dense here


def answer(name, refusal="", ns=0.0, iterations=0.0, impulses=b""):
    head = struct.pack(f"={NAME_BYTES}s{REFUSAL_BYTES}sdd", name.encode(), refusal.encode(), ns, iterations)
    sys.stdout.buffer.write(head + impulses)
    sys.stdout.buffer.flush()
    sys.exit(0)


try:
    import numpy
    import pinocchio as pin
except ImportError as missing:
    answer("Pinocchio", f"{missing}; PATH decides which python3 is asked")

ORDER = (1, 2, 0)  # theirs has the normal last


def read(kind, count):
    return numpy.frombuffer(sys.stdin.buffer.read(count * numpy.dtype(kind).itemsize), dtype=kind)


def dense(contacts, blocks):
    """W with the normals last."""
    made = numpy.zeros((contacts, 3, contacts, 3))
    made[blocks["row"], :, blocks["column"], :] = blocks["number"].reshape(-1, 3, 3)[:, ORDER, :][:, :, ORDER]
    return made.reshape(3 * contacts, 3 * contacts)


def main():
    _, contacts, block_count = (int(x) for x in read("=u8", 3))
    if contacts > CONTACTS_MAX:
        sys.exit(f"moreau-bench-pinocchio: {contacts} contacts are too many for a dense matrix")
    tolerance, _ = read("=f8", 2)
    read("=u8", 3)  # of velocities, which none follow
    mu, q = read("=f8", contacts), read("=f8", 3 * contacts)
    blocks = read([("row", "=u8"), ("column", "=u8"), ("number", "=f8", 9)], block_count)
    g = q.reshape(-1, 3)[:, ORDER].reshape(-1)

    model = pin.Model()
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for friction in mu:
        contact = pin.PointContactConstraintModel(model, 0)
        contact.setFriction(friction)
        models.append(pin.ConstraintModel(contact))
        datas.append(models[len(models) - 1].createData())
    settings = pin.ADMMSolverSettings()
    settings.max_iterations = ITERATIONS_MAX
    settings.max_delassus_decomposition_updates = ITERATIONS_MAX
    settings.lanczos_size = min(10, 3 * contacts)
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance * float(numpy.abs(q).max())
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
    result, solver = pin.ADMMSolverResult(), pin.ADMMConstraintSolver(3 * contacts)
    matrix = dense(contacts, blocks)
    begun = time.process_time_ns()
    solver.solve(pin.DelassusOperatorDense(matrix), g, models, datas, settings, result)
    ns = time.process_time_ns() - begun
    impulses = numpy.array(result.retrieveConstraintImpulses()).reshape(-1, 3)[:, (2, 0, 1)]
    answer(f"Pinocchio {pin.__version__}", "", float(ns), float(result.iterations), numpy.ascontiguousarray(impulses).tobytes())


main()
