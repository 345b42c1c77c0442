// SPDX-License-Identifier: MIT
// SQLite over a store: a file system of one read-only file.
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { Store } from "./bytes_of";

/* The package's types are of its whole interface; what is used here is little. */
type Any = any;
export type Value = number | bigint | string | Uint8Array | null;
export type Row = Record<string, Value>;

const SECTOR_BYTES = 4096;
const WAL_BYTES = [18, 19]; // of the header: how the file is written and read; 1: plainly, 2: with a write-ahead log

export class Database {
    /** Why the store could not be read, when it could not. */
    private failure: Error | null = null;
    private db: Any = null;

    private constructor(private readonly sqlite3: Any, private readonly store: Store, private readonly size: number) {}

    /** SQLite refuses files that have fewer bytes than they claim; what is missing reads as zeros, and is damage where it is met. */
    static async open(module: WebAssembly.Module, store: Store, claimedBytes: number): Promise<Database> {
        const init = sqlite3InitModule as Any;
        const sqlite3 = await init({
            print: () => undefined, printErr: () => undefined,
            instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) => {
                void WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
                return {};
            },
        });
        sqlite3.config.warn = sqlite3.config.error = () => undefined;
        const database = new Database(sqlite3, store, Math.max(store.size, claimedBytes));
        database.install();
        database.db = new sqlite3.oo1.DB({ filename: "/log.db", flags: "r", vfs: "moreau" }); // reads nothing yet
        database.run("PRAGMA trusted_schema = OFF");
        database.run("PRAGMA cell_size_check = ON");
        database.run("PRAGMA cache_size = -8192");
        return database;
    }

    // What SQLite asks of files. The write-ahead log, if there is one, the store has taken in.
    private fileMethods(): Any {
        const { wasm, capi } = this.sqlite3;
        return {
            xClose: () => 0,
            xRead: (_file: number, to: number, count: number, at: bigint) => this.read(to, count, Number(at)),
            xWrite: () => capi.SQLITE_READONLY,
            xTruncate: () => capi.SQLITE_READONLY,
            xSync: () => 0,
            xFileSize: (_file: number, size: number) => {
                wasm.poke(size, BigInt(this.size), "i64");
                return 0;
            },
            xLock: () => 0,
            xUnlock: () => 0,
            xCheckReservedLock: (_file: number, out: number) => {
                wasm.poke(out, 0, "i32");
                return 0;
            },
            xFileControl: () => capi.SQLITE_NOTFOUND,
            xSectorSize: () => SECTOR_BYTES,
            xDeviceCharacteristics: () => capi.SQLITE_IOCAP_IMMUTABLE,
        };
    }

    private read(to: number, count: number, at: number): number {
        const { wasm, capi } = this.sqlite3;
        try {
            const there = Math.max(0, Math.min(count, this.store.size - at));
            const bytes = there > 0 ? this.store.read(at, there) : new Uint8Array(0);
            for (const i of WAL_BYTES) {
                if (i >= at && i < at + there) {
                    bytes[i - at] = 1;
                }
            }
            const heap: Uint8Array = wasm.heap8u();
            heap.set(bytes, to);
            heap.fill(0, to + there, to + count);
            return there === count ? 0 : capi.SQLITE_IOERR_SHORT_READ;
        } catch (error) {
            this.failure = error as Error;
            return capi.SQLITE_IOERR_READ;
        }
    }

    private install(): void {
        const { wasm, capi, vfs } = this.sqlite3;
        const io = new capi.sqlite3_io_methods();
        io.$iVersion = 1;
        const system = new capi.sqlite3_vfs();
        const standard = new capi.sqlite3_vfs(capi.sqlite3_vfs_find(null));
        system.$iVersion = 1;
        system.$szOsFile = capi.sqlite3_file.structInfo.sizeof;
        system.$mxPathname = 64;
        system.$xRandomness = standard.$xRandomness;
        system.$xSleep = standard.$xSleep;
        vfs.installVfs({
            io: { struct: io, methods: this.fileMethods() },
            vfs: {
                struct: system, name: "moreau",
                methods: {
                    xOpen: (_vfs: number, _name: number, file: number, flags: number, out: number) => {
                        const opened = new capi.sqlite3_file(file);
                        opened.$pMethods = io.pointer;
                        opened.dispose();
                        if (out) {
                            wasm.poke(out, flags, "i32");
                        }
                        return 0;
                    },
                    xDelete: () => capi.SQLITE_READONLY,
                    xAccess: (_vfs: number, _name: number, _flags: number, out: number) => {
                        wasm.poke(out, 0, "i32");
                        return 0;
                    },
                    xFullPathname: (_vfs: number, name: number, count: number, out: number) =>
                        wasm.cstrncpy(out, name, count) < count ? 0 : capi.SQLITE_CANTOPEN,
                    xGetLastError: () => 0,
                    xCurrentTime: (_vfs: number, out: number) => {
                        wasm.poke(out, 2440587.5 + Date.now() / 86400000, "double");
                        return 0;
                    },
                },
            },
        });
    }

    /** All rows; throws a sentence. */
    run(sql: string, bind?: Value[]): Row[] {
        return this.exec(sql, bind, "object");
    }

    /** The first column of all rows. */
    column(sql: string, bind?: Value[]): Value[] {
        return this.exec(sql, bind, 0);
    }

    private exec(sql: string, bind: Value[] | undefined, rowMode: string | number): Any {
        this.failure = null;
        try {
            return this.db.exec({ sql, bind, returnValue: "resultRows", rowMode });
        } catch (error) {
            const text = (error as Error).message;
            const isDamage = /malformed|corrupt|not a database|disk I\/O/i.test(text);
            throw this.failure ?? (isDamage ? new Error(`the database is damaged there (SQLite: ${text.replace(/^.*: /, "")})`) : error);
        }
    }

    close(): void {
        this.db?.close();
    }
}
