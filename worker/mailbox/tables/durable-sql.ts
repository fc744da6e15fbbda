// SQLite of a Durable Object behind the store interface. The only file of the Worker that touches it.

import type { Sql, SqlRow, SqlValue } from './sql.ts';

/** Told after each statement; feeds the metrics. */
type RowsUsed = (rowsRead: number, rowsWritten: number) => void;

export function durableSql(storage: DurableObjectStorage, used: RowsUsed): Sql {
  return {
    exec<T extends SqlRow>(query: string, ...params: SqlValue[]): T[] {
      const cursor = storage.sql.exec<T>(query, ...params);
      const rows = cursor.toArray();
      used(cursor.rowsRead, cursor.rowsWritten);
      return rows;
    },
    transaction: (run) => storage.transactionSync(run),
    sizeBytes: () => storage.sql.databaseSize,
  };
}
