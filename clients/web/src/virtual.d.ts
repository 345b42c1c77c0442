// SPDX-License-Identifier: MIT
// What the build puts in (build.mjs).
declare module "virtual:worker" {
    const code: string;
    export default code;
}
declare module "virtual:prover" {
    const code: string;
    export default code;
}
