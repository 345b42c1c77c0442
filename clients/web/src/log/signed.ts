// SPDX-License-Identifier: MIT
// Up to where a recording is signed, and by whom: chunk by chunk, as server/replay/verify/signed.c judges it. Every
// chunk of its chain is read: what is signed is their bytes.
import { bodyOffset, Chunk, Kind } from "./chunk";
import { Damage, hex } from "./bytes";
import { DIGEST_BYTES, extend, hashSeal, How, isRight, isSame, readSignature, Signature } from "./signature";

export type SignedBy = "nobody" | "another" | "part" | "found" | "wholly";

export interface Signed {
    by: SignedBy;
    step: number; // of the episode: up to it
    key: string; // who has signed, in hexadecimal; "": nobody
}

/** A chunk of a chain, whose bytes are read when it is its turn. */
export interface Link {
    id: number;
    kind: Kind;
    firstStep: number;
    sequence: number;
}

/** Of a group: which of its episodes, and the chain of its range. */
export interface SignedRange {
    chain: number;
    links: Link[];
    begunCall: number;
    steps: number;
}

interface Walk {
    links: Link[]; // in the order of their sequence
    at: number;
    digest: Uint8Array; // of the chunks before that
    steps: number; // up to which inputs are among them
    checksum: bigint; // of the last of them
    isBroken: boolean; // the chunk there is damaged, out of its place, or lies
}

const walk = (links: Link[]): Walk => ({ links, at: 0, digest: new Uint8Array(DIGEST_BYTES), steps: 0, checksum: 0n, isBroken: false });
const isWalked = ({ isBroken, at, links }: Walk) => isBroken || at >= links.length;

/** All bytes of a chunk that was opened. */
export function bytesOf(chunk: Chunk): Uint8Array {
    const { buffer, byteOffset, byteLength } = chunk.body, before = bodyOffset(chunk);
    return new Uint8Array(buffer, byteOffset - before, byteLength + before);
}

export class SignedCheck {
    private readonly common: Walk;
    private readonly own: Walk | null; // of a group's episode: the range that its world is in
    private marks: { chunkCount: bigint; digest: Uint8Array; how: How }[] = []; // of that range, in their order
    private hasSigned = false;
    private other: Uint8Array | null = null;
    private steps = 0; // of a world: signed
    private calls = 0; // of a range: signed
    private isLast = false; // the chain of all is signed to its end …
    private isFound = false;
    private isRangeEnd = false; // … and so is the range
    private pending: Signature | null = null; // the chunk before was one

    /** `key` null: that of the first signature that is one. `read` gives null where a chunk is damaged. */
    constructor(private key: Uint8Array | null, links: Link[], private readonly range: SignedRange | null, private readonly read: (link: Link) => Chunk | null) {
        this.common = walk(links);
        this.own = range === null ? null : walk(range.links);
    }

    get total(): number {
        return this.common.links.length + (this.own?.links.length ?? 0);
    }

    get done(): number {
        return this.common.at + (this.own?.at ?? 0);
    }

    get isOver(): boolean {
        return isWalked(this.common) && (this.own === null || isWalked(this.own));
    }

    /** The next chunk. */
    work(): void {
        if (!isWalked(this.common)) {
            this.take(this.common);
        } else if (this.own !== null && !isWalked(this.own)) {
            this.compareMarks(this.own);
            if (!isWalked(this.own)) {
                this.take(this.own);
            }
        }
        if (this.own !== null && this.isOver) {
            this.compareMarks(this.own);
        }
    }

    private take(chain: Walk): void {
        const chunk = this.read(nthLink(chain)), before = this.pending;
        if (chunk === null || chunk.sequence !== chain.at) {
            chain.isBroken = true;
            return;
        }
        if (chain === this.common) {
            this.pending = null;
        }
        const bytes = bytesOf(chunk);
        if (chunk.kind === Kind.Signature) {
            this.lookAtSignature(chunk, bytes);
        } else if (chunk.kind === Kind.Seal && before !== null) {
            this.lookAtSeal(chunk, bytes, before);
        }
        if (chain.isBroken) {
            return;
        }
        chain.digest = extend(chain.digest, bytes);
        chain.checksum = chunk.checksum;
        if (chunk.kind === Kind.Inputs || chunk.kind === Kind.Gap) {
            chain.steps = Math.max(chain.steps, chunk.lastStep);
        }
        chain.at++;
    }

    // What it says of the chain of all must be so; what it says of the range is noted.
    private lookAtSignature(chunk: Chunk, bytes: Uint8Array): void {
        const { common, range } = this, signature = orNull(() => readSignature(chunk.body));
        if (signature === null) {
            common.isBroken = true;
            return;
        }
        const right = isRight(signature, bytes);
        if (this.key === null && right) {
            this.key = signature.key.slice();
        }
        if (this.key === null || !isSame(signature.key, this.key)) {
            this.other ??= right ? signature.key.slice() : null;
            return;
        }
        const all = signature.chains.filter(({ chain }) => chain === 0).pop();
        if (!right || all === undefined || all.chunkCount !== BigInt(common.at) || !isSame(all.digest, common.digest)) {
            common.isBroken = true;
            return;
        }
        for (const { chain, chunkCount, digest } of signature.chains) {
            if (chain !== 0 && chain === range?.chain) {
                this.marks.push({ chunkCount, digest, how: signature.how });
            }
        }
        this.hasSigned = true;
        // of what it found it says that it stood there, and not that it was so
        if (signature.how !== How.Found) {
            this.steps = common.steps;
        }
        this.pending = signature;
    }

    // The last chunk, directly behind a signature of it.
    private lookAtSeal(chunk: Chunk, bytes: Uint8Array, { how, seal }: Signature): void {
        const { common } = this, digest = hashSeal(bytes);
        if (how !== How.Live && common.at + 1 === common.links.length && chunk.predecessor === common.checksum && digest !== null && isSame(digest, seal)) {
            this.isLast = how === How.Last;
            this.isFound = how === How.Found;
        }
    }

    // The marks up to here are of what is here.
    private compareMarks(own: Walk): void {
        for (let mark = this.marks[0]; !own.isBroken && mark !== undefined && mark.chunkCount <= BigInt(own.at); mark = this.marks[0]) {
            this.marks.shift();
            own.isBroken = mark.chunkCount !== BigInt(own.at) || !isSame(mark.digest, own.digest);
            if (!own.isBroken) {
                this.calls = mark.how === How.Found ? this.calls : own.steps;
                this.isRangeEnd = mark.how !== How.Live && own.at === own.links.length;
            }
        }
    }

    get result(): Signed {
        const { range } = this, isEnd = range === null || this.isRangeEnd;
        const by = !this.hasSigned ? (this.other !== null ? "another" : "nobody") : this.isLast && isEnd ? "wholly" : this.isFound && isEnd ? "found" : "part";
        // a group's steps are the calls behind the one that it began with
        const step = range === null ? this.steps : Math.min(Math.max(0, this.calls - range.begunCall), range.steps);
        const key = by === "another" ? this.other : by === "nobody" ? null : this.key;
        return { by, step, key: key === null ? "" : hex(key) };
    }
}

function nthLink({ links, at }: Walk): Link {
    return links[at] as Link;
}

function orNull<T>(make: () => T): T | null {
    try {
        return make();
    } catch (error) {
        if (error instanceof Damage) {
            return null;
        }
        throw error;
    }
}
