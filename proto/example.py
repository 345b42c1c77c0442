#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A client in twenty lines, made from moreau.proto alone: it makes a world of a scene, steps it, and says where
# a body is.
#   protoc --python_out=. moreau.proto && python3 example.py ../tests/scenes/one_ball.json [HOST:PORT]
# (Debian: protobuf-compiler python3-protobuf; from PyPI: grpcio-tools, and python3 -m grpc_tools.protoc)
import socket, struct, sys
from google.protobuf import json_format
import moreau_pb2 as moreau

host, port = (sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:7667").rsplit(":", 1)
stream = socket.create_connection((host, int(port))).makefile("rwb")

def call(**what):  # a frame is its length in four bytes and one message, both ways
    request = moreau.Request(id=1, **what).SerializeToString()
    stream.write(struct.pack(">I", len(request)) + request)
    stream.flush()
    reply = moreau.Reply.FromString(stream.read(struct.unpack(">I", stream.read(4))[0]))
    if reply.status.code != moreau.Status.OK:
        sys.exit(f"{reply.status.field}: {reply.status.message}")
    result = getattr(reply, reply.WhichOneof("result"))
    for failure in getattr(result, "failures", ()):  # of single worlds
        sys.exit(failure.message)
    return result

welcome = call(hello=moreau.Hello(protocol_major=1, client="example.py"))
scene = json_format.Parse(open(sys.argv[1]).read(), moreau.Scene())
world = call(world_create=moreau.WorldCreate(scene=scene)).world
step = call(world_step=moreau.WorldStep(worlds=[world], steps=240, poses=True))
print(f"server {welcome.server_version}, {step.time[0]:.3f} s: the last body is at", *step.pose[-7:-4])
