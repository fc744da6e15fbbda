import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('every SQL statement of a mailbox stands in its tables/', () => {
  const root = join(import.meta.dirname, '../../../../worker/mailbox');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const withSql = files.filter((name) =>
    /\bsql\.exec\b|\b(?:SELECT|INSERT|UPDATE|DELETE) /.test(readFileSync(join(root, name), 'utf8')),
  );
  expect(withSql.length).toBeGreaterThan(5);
  expect(withSql.filter((name) => !name.startsWith('tables'))).toEqual([]);
});
