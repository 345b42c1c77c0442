// SPDX-License-Identifier: MIT
// A session made from moreau.proto alone: a ball falls on a plane, its episode is recorded, and proven by stepping it
// again.
//   npm ci && PATH=$PWD/node_modules/.bin:$PATH protoc -I ../.. --es_out=gen --es_opt=target=ts moreau.proto
//   npx tsc && node out/session.js [HOST:PORT]
import { connect } from "node:net";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { Body_Kind, Episode_Content, ReplySchema, RequestSchema, Status_Code } from "./gen/moreau_pb.js";
import type { Reply } from "./gen/moreau_pb.js";

type Call = NonNullable<MessageInitShape<typeof RequestSchema>["call"]>;
type Result = Reply["result"];

const [host = "", port = ""] = (process.argv[2] ?? "127.0.0.1:7667").split(/:(?=\d+$)/);
const socket = connect(Number(port), host);
let requests = 0n;

// what the server sends, cut into frames: the length in four bytes, and the message
async function* readReplies(): AsyncGenerator<Reply> {
    let bytes = Buffer.alloc(0);
    for await (const chunk of socket) {
        bytes = Buffer.concat([bytes, chunk as Buffer]);
        while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE()) {
            const end = 4 + bytes.readUInt32BE();
            yield fromBinary(ReplySchema, bytes.subarray(4, end));
            bytes = bytes.subarray(end);
        }
    }
}
const replies = readReplies();

// One call: its request, and the reply that ends it. Events, which some calls send before, are passed over.
type Of<Case> = Extract<Result, { case: Case }>["value"];
async function call<Case extends Result["case"]>(what: Call, kind: Case): Promise<Of<Case>> {
    const packed = toBinary(RequestSchema, create(RequestSchema, { id: ++requests, call: what }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(packed.length);
    socket.write(Buffer.concat([length, packed]));
    for (;;) {
        const { value: reply, done } = await replies.next();
        if (done || reply.status?.code !== Status_Code.OK) {
            throw new Error(done ? "the server is gone" : `${reply.status?.field}: ${reply.status?.message}`);
        }
        if (!reply.event) {
            if (reply.result.case !== kind) {
                throw new Error(`a reply with ${reply.result.case}, not ${kind}`);
            }
            return reply.result.value as Of<Case>;
        }
    }
}

await call({ case: "hello", value: { protocolMajor: 1, client: "session.ts" } }, "welcome");
const ground = { kind: Body_Kind.STATIC, shapes: [{ shape: { case: "plane" as const, value: {} } }] };
const sphere = { shape: { case: "sphere" as const, value: { radius: 0.1 } } };
const ball = { name: "ball", position: [0, 0, 1], shapes: [sphere] };
const { world } = await call({ case: "worldCreate", value: { scene: { bodies: [ground, ball] } } }, "worldCreate");

const start = { world, content: Episode_Content.FRAMES };
const { episode } = await call({ case: "episodeStart", value: start }, "episodeStart");
const step = await call({ case: "worldStep", value: { worlds: [world], steps: 240n, poses: true } }, "worldStep");
if (step.failures[0] !== undefined) { // of single worlds: the status of the call is OK all the same
    throw new Error(step.failures[0].message);
}
// 7 numbers per body, x y z first
console.log(`${step.time[0]?.toFixed(3)} s: the ball is at a height of ${step.pose[7 + 2]?.toFixed(9)} m`);

await call({ case: "episodeStop", value: { episode } }, "episodeStop");
const proof = await call({ case: "episodeVerify", value: { episode } }, "episodeVerify");
console.log(`${proof.steps} steps taken again: ${proof.verified ? "the same bits" : proof.differences[0]?.message}`);
socket.end();
