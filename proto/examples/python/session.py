#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A session made from moreau.proto alone: a ball falls on a plane, its episode is recorded, and proven by stepping it
# again.
#   protoc -I ../.. --python_out=. moreau.proto && python3 session.py [HOST:PORT]
import socket
import struct
import sys

import moreau_pb2 as moreau

host, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7667").rsplit(":", 1)
stream = socket.create_connection((host, int(port))).makefile("rwb")
requests = 0


def call(**what):
    """One call: its request, and the reply that ends it. Events, which some calls send before, are passed over."""
    global requests
    requests += 1
    packed = moreau.Request(id=requests, **what).SerializeToString()
    stream.write(struct.pack(">I", len(packed)) + packed)  # a frame: the length in four bytes, and the message
    stream.flush()
    while True:
        reply = moreau.Reply.FromString(stream.read(struct.unpack(">I", stream.read(4))[0]))
        if reply.status.code != moreau.Status.OK:
            sys.exit(f"{reply.status.field}: {reply.status.message}")
        if not reply.event:
            return getattr(reply, reply.WhichOneof("result"))


call(hello=moreau.Hello(protocol_major=1, client="session.py"))
ground = moreau.SceneBody(kind=moreau.Body.STATIC, shapes=[moreau.ScenePrimitive(plane=moreau.ScenePlane())])
sphere = moreau.ScenePrimitive(sphere=moreau.SceneSphere(radius=0.1))
ball = moreau.SceneBody(name="ball", position=[0, 0, 1], shapes=[sphere])
world = call(world_create=moreau.WorldCreate(scene=moreau.Scene(bodies=[ground, ball]))).world

episode = call(episode_start=moreau.EpisodeStart(world=world, content=moreau.Episode.FRAMES)).episode
step = call(world_step=moreau.WorldStep(worlds=[world], steps=240, poses=True))
if step.failures:  # of single worlds: the status of the call is OK all the same
    sys.exit(step.failures[0].message)
print(f"{step.time[0]:.3f} s: the ball is at a height of {step.pose[7 + 2]:.9f} m")  # 7 numbers per body, x y z first

call(episode_stop=moreau.EpisodeStop(episode=episode))
proof = call(episode_verify=moreau.EpisodeVerify(episode=episode))
print(f"{proof.steps} steps taken again:", "the same bits" if proof.verified else proof.differences[0].message)
