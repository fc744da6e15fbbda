// What the mailbox needs of a database. Everything but durable-sql.ts works over it, so plain tests run the same SQL.

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;

/** What the queue needs of a database: it must run a statement to its end, and undo a transaction whose function throws. */
export interface Sql {
  exec<T extends SqlRow = SqlRow>(query: string, ...params: SqlValue[]): T[];
  transaction<T>(run: () => T): T;
  /** Bytes in use, without free pages. */
  sizeBytes(): number;
}
