// SPDX-License-Identifier: MIT
// A connection to a running server: the protocol's messages through a WebSocket. It looks, and changes nothing.
import { CALL, CODE, REPLY } from "./messages";
import { Message, read, write } from "./wire";

/** The call was refused: what the server said. */
export class Refused extends Error {
    constructor(readonly code: number, message: string) {
        super(message);
    }
}

interface Waiting {
    event: (reply: Message) => void;
    end: (reply: Message) => void;
    lose: (error: Error) => void;
}

// without padding; the token may have any characters
function base64url(text: string): string {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export class Connection {
    onLost: () => void = () => undefined;
    bytes = 0; // received
    private readonly waiting = new Map<number, Waiting>();
    private lastId = 0;
    private isClosed = false;

    private constructor(private readonly socket: WebSocket) {
        socket.binaryType = "arraybuffer";
        socket.onmessage = (event) => this.take(event.data);
        socket.onclose = () => this.lose(new Error("The connection to the server was lost."));
    }

    /** Connects and greets. Rejects with Refused where the server said why; a browser tells no page why a handshake failed. */
    static async open(address: string, token: string): Promise<Connection> {
        const socket = new WebSocket(address, token === "" ? ["moreau.v1"] : ["moreau.v1", `token.${base64url(token)}`]);
        await new Promise<void>((resolve, reject) => {
            socket.onopen = () => resolve();
            socket.onclose = () => reject(new Error(`${address} lets this page not in.`));
        });
        const connection = new Connection(socket);
        await connection.call(CALL.hello, write({ 1: 1, 3: "moreau-viewer", 4: token === "" ? undefined : token }));
        return connection;
    }

    private take(data: unknown): void {
        let reply: Message;
        try {
            this.bytes += (data as ArrayBuffer).byteLength;
            reply = read(new Uint8Array(data as ArrayBuffer), REPLY);
        } catch (error) {
            this.lose(new Error(`The server sent what this page does not understand (${(error as Error).message}).`));
            this.socket.close();
            return;
        }
        const waiting = this.waiting.get(reply.id ?? 0);
        if (reply.event === true) {
            waiting?.event(reply);
        } else {
            this.waiting.delete(reply.id ?? 0);
            waiting?.end(reply);
        }
    }

    private lose(error: Error): void {
        if (!this.isClosed) {
            this.isClosed = true;
            this.waiting.forEach((waiting) => waiting.lose(error));
            this.waiting.clear();
            this.onLost();
        }
    }

    /** The reply; events before it go to `event`. `started` is told the call's id. */
    call(field: number, body: Uint8Array, event: (reply: Message) => void = () => undefined, started: (id: number) => void = () => undefined): Promise<Message> {
        return new Promise((resolve, reject) => {
            const id = ++this.lastId;
            const end = (reply: Message) => {
                const code = reply.status?.code ?? CODE.ok;
                if (code === CODE.ok) {
                    resolve(reply);
                } else {
                    reject(new Refused(code, reply.status.message ?? `code ${code}`));
                }
            };
            this.waiting.set(id, { event, end, lose: reject });
            this.socket.send(write({ 1: id, [field]: body }));
            started(id);
        });
    }

    cancel(id: number): void {
        this.call(CALL.cancel, write({ 1: id })).catch(() => undefined);
    }

    close(): void {
        this.isClosed = true;
        this.socket.close();
    }
}
