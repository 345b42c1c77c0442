// SPDX-License-Identifier: MIT
// How much of an episode this page has checked. Bytes are checked against their checksums whenever they are read; that they follow from the
// inputs is proven only by stepping the episode again.
import type { Episode } from "./episode";
import type { Contacts, Frame } from "./log/frames";
import type { Checked } from "./store/messages";
import { el } from "./ui/dom";

export class Prover {
    readonly canProve = false;
    private state: "none" | "running" | "done" = "none";
    private done = 0;
    private total = 0;
    private damage: string[] = [];
    private isOpen = true;

    constructor(_dynamics: ArrayBuffer | null, private readonly episode: Episode, private readonly onChange: () => void) {}

    close(): void {
        this.isOpen = false;
    }

    frameAt(_step: number): Promise<Frame | null> | null {
        return null;
    }

    contactsAt(_step: number): Promise<Contacts | null> | null {
        return null;
    }

    hasContacts(_step: number): boolean {
        return false;
    }

    stepText(_step: number): string {
        return "";
    }

    worstOf(_first: number, _last: number): { step: number; contact: string } | null {
        return null;
    }

    perStep() {
        return null;
    }

    timeline() {
        return {};
    }

    /** Reads every chunk of the chain. */
    private async check(): Promise<void> {
        this.state = "running";
        this.damage = [];
        let next: number | null = 0;
        while (next !== null && this.isOpen) {
            const part: Checked = await this.episode.client.call("check", this.episode.row.uid, next);
            this.done = part.done;
            this.total = part.total;
            this.damage.push(...part.damage);
            next = part.next;
            this.onChange();
        }
        const seal = this.episode.head.seal;
        const claimed = seal?.chains[0]?.chunkCount ?? this.total;
        if (seal !== null && claimed + 1 !== this.total) {
            this.damage.push(`its seal counts ${claimed} chunks before itself, and ${this.total - 1} are there`);
        }
        this.state = "done";
        this.onChange();
    }

    showBadge(badge: HTMLElement): void {
        badge.hidden = false;
        badge.classList.remove("good");
        badge.textContent = this.damage.length > 0 || this.episode.damage.length > 0 ? "damaged; not proven" : "not proven";
        badge.title = "What is shown has passed its checksums; that it follows from the inputs nobody has checked here.";
    }

    panel(): Node {
        const text = this.state === "none" ? `${this.episode.chunksRead + this.episode.head.scenes.length + 1} chunks were read so far, and are as they were sealed, but for what is listed as damaged.`
            : this.state === "running" ? `checking: ${this.done} of ${this.total} chunks…`
            : this.damage.length > 0 ? `${this.damage.length} of ${this.total} chunks are not as they were sealed.`
            : `All ${this.total} chunks are as they were sealed, each behind the one that it stood behind` + (this.episode.head.seal === null ? "; no seal says how many there were." : ".");
        return el("div", { id: "proof" }, el("p", { class: "note" }, text, " ", this.state === "running" ? null : el("button", { id: "check", onclick: () => void this.check() }, "check every chunk")),
            this.damage.length > 0 ? el("ul", { class: "damage" }, ...this.damage.slice(0, 50).map((d) => el("li", {}, d))) : null);
    }
}
