#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The latest MuJoCo as a peer of `moreau bench tree` (tree_peer.h says what is read and written), many steps in one call of its C library.
It runs where `python3` finds the package mujoco: python3 -m venv v && v/bin/pip install mujoco, and v/bin first on the PATH."""
import struct
import sys
import time

MAGIC = 0x3165657274726F6D
SCENE, LINK_BYTES, SHAPE_BYTES = struct.Struct("=4Q4d"), 29 * 8, 14 * 8
NAME_BYTES, TEXT_BYTES = 32, 160


def greet(name, refusal=""):
    sys.stdout.buffer.write(struct.pack(f"={NAME_BYTES}s{TEXT_BYTES}s", name.encode(), refusal.encode()[:TEXT_BYTES - 1]))
    sys.stdout.buffer.flush()


def main():
    read = sys.stdin.buffer.read
    try:
        import mujoco
    except ImportError as missing:
        greet("MuJoCo of PyPI", f"{missing}; PATH decides which python3 is asked")
        return
    magic, links, shapes, text_bytes, *_ = SCENE.unpack(read(SCENE.size))
    if magic != MAGIC:
        sys.exit("not a scene")
    read(links * LINK_BYTES + shapes * SHAPE_BYTES)
    try:
        model = mujoco.MjModel.from_xml_string(read(text_bytes).decode())
    except ValueError as refusal:
        greet("MuJoCo", str(refusal))
        return
    data = mujoco.MjData(model)
    greet(f"MuJoCo {mujoco.__version__}")
    mujoco.set_mju_user_warning(lambda warning: None)
    bad = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
    while True:
        asked = read(4)
        if len(asked) < 4:
            return
        count, = struct.unpack("=I", asked)
        begun = time.process_time_ns()
        mujoco.mj_step(model, data, nstep=count)
        ns = time.process_time_ns() - begun
        contacts = data.ncon
        model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)  # not while its steps are timed
        mujoco.mj_forward(model, data)
        model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        faults = sum(int(data.warning[int(kind)].number) for kind in bad)
        sys.stdout.buffer.write(struct.pack("=7d", ns, float(data.energy.sum()), contacts, *data.xipos[-1], faults))
        sys.stdout.buffer.flush()


main()
