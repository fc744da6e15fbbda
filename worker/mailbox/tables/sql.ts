// The database behind the mailbox as an interface. Only durable-sql.ts knows Cloudflare's, so plain tests run the same SQL.

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;

/** Must run a statement to its end, and undo a transaction whose function throws. */
export interface Sql {
  exec<T extends SqlRow = SqlRow>(query: string, ...params: SqlValue[]): T[];
  transaction<T>(run: () => T): T;
  /** Bytes in use, without free pages. */
  sizeBytes(): number;
}

export function insert(sql: Sql, table: string, row: SqlRow, verb = 'INSERT'): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  sql.exec(`${verb} INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
}

/** Writes `columns` of the rows that have all values of `where`. */
export function update(sql: Sql, table: string, columns: SqlRow, where: SqlRow): void {
  const list = (row: SqlRow) => Object.keys(row).map((name) => `${name} = ?`);
  sql.exec(
    `UPDATE ${table} SET ${list(columns).join(', ')} WHERE ${list(where).join(' AND ')}`,
    ...Object.values(columns),
    ...Object.values(where),
  );
}

export function count(sql: Sql, table: string, where: string, ...params: SqlValue[]): number {
  return sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${where}`, ...params)[0]?.count ?? 0;
}
