#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clarabel's interior-point method as a peer of `moreau bench solvers` (contact_peer.h says what is read and written): the convex
relaxation in velocities, sparse. It runs where `python3` finds the packages clarabel, scipy and numpy: python3 -m venv bench &&
bench/bin/pip install clarabel scipy, and bench/bin first on the PATH."""
import struct
import sys
import time

NAME_BYTES, REFUSAL_BYTES = 32, 160
ITERATIONS_MAX = 500


def answer(name, refusal="", ns=0.0, iterations=0.0, impulses=b""):
    head = struct.pack(f"={NAME_BYTES}s{REFUSAL_BYTES}sdd", name.encode(), refusal.encode(), ns, iterations)
    sys.stdout.buffer.write(head + impulses)
    sys.stdout.buffer.flush()
    sys.exit(0)


try:
    import clarabel
    import numpy
    import scipy.sparse
except ImportError as missing:
    answer("Clarabel", f"{missing}; PATH decides which python3 is asked")

ENTRY = [("row", "=u8"), ("column", "=u8"), ("number", "=f8")]


def read(kind, count):
    return numpy.frombuffer(sys.stdin.buffer.read(count * numpy.dtype(kind).itemsize), dtype=kind)


def matrix(entries, rows, columns):
    place = (entries["row"].astype(numpy.int64), entries["column"].astype(numpy.int64))
    return scipy.sparse.csc_matrix((entries["number"], place), shape=(rows, columns))


def main():
    _, contacts, block_count = (int(x) for x in read("=u8", 3))
    tolerance, _ = read("=f8", 2)
    velocities, mass_count, jacobian_count = (int(x) for x in read("=u8", 3))
    mu, q = read("=f8", contacts), read("=f8", 3 * contacts)
    read([("row", "=u8"), ("column", "=u8"), ("number", "=f8", 9)], block_count)
    v_free = read("=f8", velocities)
    mass = matrix(read(ENTRY, mass_count), velocities, velocities)
    jacobian = matrix(read(ENTRY, jacobian_count), 3 * contacts, velocities)

    # u lies in the dual cone: (u_n, mu u_t) in the second-order cone; without friction u_n >= 0, and rows of tangents
    # are left out
    scale = numpy.repeat(mu, 3)
    scale[0::3] = 1.0
    kept = numpy.flatnonzero(scale > 0.0)
    scaled = (scipy.sparse.diags(scale) @ jacobian).tocsr()[kept].tocsc()
    offset = (scale * (q - jacobian @ v_free))[kept]
    cones = [clarabel.SecondOrderConeT(3) if friction > 0.0 else clarabel.NonnegativeConeT(1) for friction in mu]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = ITERATIONS_MAX
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    upper, linear = scipy.sparse.triu(mass, format="csc"), -(mass @ v_free)
    # a problem is new: its ordering and scaling are part of the solve, as they are of ours
    begun = time.process_time_ns()
    solution = clarabel.DefaultSolver(upper, linear, -scaled, offset, cones, settings).solve()
    ns = time.process_time_ns() - begun
    impulses = numpy.zeros(3 * contacts)
    impulses[kept] = scale[kept] * numpy.array(solution.z)
    answer(f"Clarabel {clarabel.__version__}", "", float(ns), float(solution.iterations), impulses.tobytes())


main()
