// SPDX-License-Identifier: MIT
// Which release has which version of the dynamics, as server/step/snapshot/release.c has it (tests/releases.py): an
// episode is proven by a page and a server of its own.
const RELEASES: [bigint, string][] = [[8n, "0.1.0"], [10n, "0.2.0"]];

/** What to say behind the version; "" of one that is of no release. */
export function releaseOf(version: bigint): string {
    const found = RELEASES.find(([of]) => of === version);
    return found === undefined ? "" : ": release " + found[1] + " proves it (pip install moreau-sim==" + found[1] + ", then moreau verify, or its own page)";
}
