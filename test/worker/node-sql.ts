// The store interface over Node's SQLite, so that plain tests run the Worker's own SQL.

import { DatabaseSync } from 'node:sqlite';
import type { Sql, SqlRow, SqlValue } from '../../worker/mailbox/tables/sql.ts';

export interface NodeSql extends Sql {
  /** Statements run so far; tells work from waste. */
  statements(): number;
}

export function nodeSql(): NodeSql {
  const database = new DatabaseSync(':memory:');
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  let statements = 0;
  let depth = 0;

  function exec<T extends SqlRow>(query: string, ...params: SqlValue[]): T[] {
    statements += 1;
    const statement = prepared.get(query) ?? database.prepare(query);
    prepared.set(query, statement);
    // Rows come without a prototype, which an equality on whole values would notice.
    return statement.all(...params).map((row) => ({ ...row })) as T[];
  }

  return {
    exec,
    transaction(run) {
      const name = `level${depth}`;
      database.exec(`SAVEPOINT ${name}`);
      depth += 1;
      try {
        const result = run();
        database.exec(`RELEASE ${name}`);
        return result;
      } catch (error) {
        database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
        throw error;
      } finally {
        depth -= 1;
      }
    },
    sizeBytes() {
      const { page_count: pages = 0 } = exec<{ page_count: number }>('PRAGMA page_count')[0] ?? {};
      return Number(pages) * 4096;
    },
    statements: () => statements,
  };
}
