// What lab and tests use of SQLite in Node: they run on the tool chain's Node 22, while the types are of the oldest Node that is
// promised, so that the product cannot use what that one lacks.

declare module 'node:sqlite' {
  type Value = null | number | bigint | string | Uint8Array;
  type Row = Record<string, Value>;
  interface Statement {
    all(...parameters: (Value | ArrayBuffer)[]): Row[];
    get(): Row | undefined;
    run(): { changes: number | bigint };
  }
  export class DatabaseSync {
    constructor(path: string);
    prepare(sql: string): Statement;
    exec(sql: string): void;
    close(): void;
  }
}
