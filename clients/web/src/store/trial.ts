// SPDX-License-Identifier: MIT
// One step under other solvers and parameters: what the page asks of the dynamics, and what it gets.
import type { Contacts } from "../log/frames";
import { first, nth } from "../nth";

export enum ParameterKind { Number, Count, Even, Bool, Choice }

export interface Parameter {
    name: string;
    kind: ParameterKind;
    unit: string;
    least: number;
    most: number;
    standard: number;
    meaning: string;
    choices: string[];
}

export interface Solver {
    name: string;
    meaning: string;
    parameters: Parameter[];
}

/** The lines of prove_solvers. */
export function readSolvers(text: string): Solver[] {
    const solvers: Solver[] = [];
    for (const line of text.split("\n").filter((l) => l !== "")) {
        const fields = line.split("\t"), [name, meaning] = first(fields, 2);
        if (name !== "") {
            solvers.push({ name, meaning, parameters: [] });
            continue;
        }
        const [, key, kind, unit, least, most, standard, means, choices] = first(fields, 9);
        nth(solvers, solvers.length - 1).parameters.push({
            name: key, kind: Number(kind), unit, least: Number(least), most: Number(most), standard: Number(standard), meaning: means,
            choices: choices.split(",").filter((c) => c !== ""),
        });
    }
    return solvers;
}

/** A solver, and its parameters in their order. */
export interface Choice {
    solver: number;
    parameters: number[];
}

export interface Trial {
    /** "": the step was taken; else why not. */
    failure: string;
    /** The state behind it is, bit by bit, the one that was recorded. */
    isRecorded: boolean;
    isConverged: boolean;
    entries: number[]; // of the certificate
    penetration: number; // [m]
    iterations: number;
    tolerance: number;
    ms: number; // of the solver, here
    contacts: Contacts | null;
    history: number[]; // e_own after so many iterations each, of lcp what Lemke's algorithm still covers
    stride: number;
}
