// SPDX-License-Identifier: MIT

/** What stands at `index`, where something must stand. Where nothing may, brackets say so: they give undefined, too. */
export function nth<T>(list: ArrayLike<T>, index: number): T {
    const found = list[index];
    if (found === undefined) {
        throw new RangeError(`nothing stands at ${index} of ${list.length}`);
    }
    return found;
}

type Tuple<T, N extends number, Found extends T[] = []> = Found["length"] extends N ? Found : Tuple<T, N, [...Found, T]>;

/** The first `count` of a list that has as many, to be named one by one. */
export function first<T, N extends number>(list: Iterable<T>, count: N): Tuple<T, N> {
    const found = Array.from(list).slice(0, count);
    if (found.length < count) {
        throw new RangeError(`there are ${found.length} where ${count} must be`);
    }
    return found as Tuple<T, N>;
}
