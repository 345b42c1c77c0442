// SPDX-License-Identifier: MIT
// What eslint asks of src: typescript-eslint's recommended rules that know types, but those below, each with why.
import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

const UNTYPED_AT_BORDERS = [ // messages off the wire, scenes out of files and SQLite's module: `any` there and checked by hand
    "no-explicit-any", "no-unsafe-argument", "no-unsafe-assignment", "no-unsafe-call", "no-unsafe-member-access", "no-unsafe-return",
];
const off = (names) => Object.fromEntries(names.map((name) => [`@typescript-eslint/${name}`, "off"]));

export default tseslint.config(
    {
        extends: [eslint.configs.recommended, ...tseslint.configs.recommendedTypeChecked],
        languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
        linterOptions: { reportUnusedDisableDirectives: "error" },
    },
    { files: ["src/live/{cast,connection,live,wire}.ts", "src/log/scene.ts", "src/store/{client,prover,sqlite,worker}.ts"], rules: off(UNTYPED_AT_BORDERS) },
);
