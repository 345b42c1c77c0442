// SPDX-License-Identifier: MIT
// Who vouches for the episode that is shown: its signatures, compared with a key that somebody gave. Whatever else the
// page checks, it checks against the file, and whoever has that can write another history into it.
import type { Episode } from "./episode";
import { KEY_FILE_BYTES_MAX, readSealKey, SealKey } from "./log/seal_key";
import type { Signed } from "./log/signed";
import { count, el } from "./ui/dom";

export const NO_KEY = "is no public Ed25519 key, in PEM or as 64 hexadecimal digits: seal.pub, which moreau-server --seal-new DIR makes, is one";

const SHORT = 8; // digits of a key

export class Signing {
    private signed: Signed | null = null;
    private so = ""; // how far it is; "": it is not under way
    private failure = "";
    private run = 0; // of looks: an older one ends
    private readonly text = el("p", { class: "note", id: "signed" });
    private readonly button = el("button", { id: "look-signed", onclick: () => void this.look() }, "check who signed it");
    private readonly form: HTMLElement;

    constructor(private readonly episode: Episode, readonly key: SealKey | null, onKey: (key: SealKey) => void, onFile: () => void, private readonly onChange: () => void) {
        const typed = el("input", { id: "seal-key", "aria-label": "public key", placeholder: "64 digits or PEM of seal.pub", size: 28, maxlength: KEY_FILE_BYTES_MAX, onchange: () => {
            const found = readSealKey(typed.value);
            typed.setCustomValidity(found === null ? `This ${NO_KEY}.` : "");
            typed.reportValidity();
            if (found !== null) {
                onKey(found);
            }
        } });
        this.form = el("p", { class: "note" }, el("label", {}, "public key of who should have signed it ", typed), " ", el("button", { onclick: onFile }, "its file…"));
    }

    close(): void {
        this.run++;
    }

    /** Reads all of its chunks, and who signed them. */
    async look(): Promise<void> {
        const run = ++this.run, { client, row } = this.episode;
        this.signed = null;
        this.failure = "";
        try {
            for (let begins = true; run === this.run && this.signed === null; begins = false) {
                const { done, total, result } = await client.call("signed", row.uid, this.key?.bytes ?? null, begins);
                if (run !== this.run) {
                    return;
                }
                this.signed = result;
                this.so = result === null ? `reading who signed it: ${count(done)} of ${count(total)} chunks…` : "";
                this.onChange();
            }
        } catch (error) {
            if (run === this.run) {
                this.so = "";
                this.failure = (error as Error).message;
                this.onChange();
            }
        }
    }

    /** A key was given, and has not signed it to its end, as far as that is known. */
    get isWanting(): boolean {
        return this.key !== null && this.signed?.by !== "wholly";
    }

    get said(): Signed | null {
        return this.signed;
    }

    // Of the key that was given: all up to that step.
    private isSigned(step: number): boolean {
        const { signed } = this;
        return this.key !== null && signed !== null && (signed.by === "wholly" || ((signed.by === "part" || signed.by === "found") && step <= signed.step));
    }

    /** What "proven" is against, behind that word. */
    against(step: number): string {
        return this.isSigned(step) ? `, and signed by ${this.key?.digits.slice(0, SHORT)}${this.key?.isBrought ? ", a key that this page brought" : ""}` : " against the file itself" + (this.key === null || this.signed === null ? "" : ", not signed by the key given");
    }

    private get words(): string {
        const { signed, key, episode } = this, whose = `${signed?.key}${key === null ? ", which was compared with no key that you gave: anybody can make one" : key.isBrought ? ", the key that came with this page: whoever made the page chose it" : ", the key that you gave"}`;
        switch (signed?.by) {
            case "wholly": return `Signed from its beginning to its end, step ${count(signed.step)}, by ${whose}.`;
            case "part": return `Signed up to step ${count(signed.step)} by ${whose}. Nobody vouches for what is behind it, or for how it ended.`;
            case "found": return `Signed up to step ${count(signed.step)} by ${whose}. What is behind it was found so when the server started again, and who had the file until then could change it.`;
            case "another": return `Signed by another (${signed.key}), and not by the key ${key?.digits}.`;
            case "nobody": return `Unsigned${key === null ? "" : ` by ${key.digits}, and by anybody else`}: whoever has the file could have written it.` +
                (episode.head.signatures > 0 ? " What it has of signatures is of other bytes." : "");
            default: return this.failure !== "" ? `Who signed it cannot be read: ${this.failure}.` : this.so !== "" ? this.so
                : episode.head.signatures === 0 ? "Unsigned: whoever has the file could have written it." : `It holds ${count(episode.head.signatures)} signatures, which nobody has checked here.`;
        }
    }

    panel(): Node {
        this.text.textContent = `${this.words} `;
        this.text.classList.toggle("damage", this.key !== null && this.signed !== null && this.signed.by !== "wholly");
        if (this.so === "" && this.signed === null && this.episode.head.signatures > 0) {
            this.text.append(this.button);
        }
        return el("div", { id: "signing" }, this.text, this.form);
    }
}
