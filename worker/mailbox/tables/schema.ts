// The tables of one Mailbox and their version. A storage of another version is never touched.

import { WaError } from '../../../protocol/errors.ts';
import { cacheOf } from './cache.ts';
import type { Sql } from './sql.ts';

const storageVersion = 5;

const tables = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE project (
  project INTEGER PRIMARY KEY, daemon_id TEXT, daemon_started_at INTEGER, last_seen_at INTEGER, present_until_at INTEGER,
  cursor INTEGER NOT NULL DEFAULT 0, expired_to INTEGER NOT NULL DEFAULT 0, shown_to INTEGER NOT NULL DEFAULT 0,
  away_told_at INTEGER, away_cursor INTEGER, expired_untold INTEGER NOT NULL DEFAULT 0, expired_told_at INTEGER,
  passed TEXT NOT NULL DEFAULT '[]', counters TEXT NOT NULL DEFAULT '{}', today TEXT, standing TEXT, standing_at INTEGER,
  topic TEXT, topic_gone_at INTEGER);
CREATE TABLE dedupe_a (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE dedupe_b (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE log (
  project INTEGER, seq INTEGER, at INTEGER NOT NULL, stored_at INTEGER NOT NULL, kind TEXT NOT NULL, ref TEXT NOT NULL,
  body TEXT NOT NULL, expires_at INTEGER, state TEXT, state_at INTEGER, attempt INTEGER NOT NULL DEFAULT 0,
  shown TEXT, dlq_done INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, seq)) WITHOUT ROWID;
CREATE INDEX log_controls ON log (project, seq) WHERE kind = 'control';
CREATE TABLE album (
  project INTEGER, album TEXT, seq INTEGER NOT NULL, closes_at INTEGER NOT NULL, open INTEGER NOT NULL,
  PRIMARY KEY (project, album)) WITHOUT ROWID;
CREATE TABLE outbox (
  key TEXT, part INTEGER, project INTEGER NOT NULL, class INTEGER NOT NULL, n INTEGER NOT NULL, waiting INTEGER NOT NULL,
  state TEXT NOT NULL, call TEXT NOT NULL, slot TEXT, without TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0, accepted_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, settled_at INTEGER, ref TEXT,
  dlq_done INTEGER NOT NULL DEFAULT 0, error_code TEXT, error_reason TEXT, PRIMARY KEY (project, key, part)) WITHOUT ROWID;
CREATE INDEX outbox_waiting ON outbox (class, n) WHERE waiting = 1;
CREATE INDEX outbox_awaited ON outbox (ref) WHERE ref IS NOT NULL AND call <> '';
CREATE TABLE slot (
  project INTEGER, slot TEXT, rev INTEGER NOT NULL, key TEXT NOT NULL, ref TEXT, at INTEGER NOT NULL,
  PRIMARY KEY (project, slot)) WITHOUT ROWID;
CREATE TABLE button (
  id TEXT PRIMARY KEY, project INTEGER NOT NULL, key TEXT NOT NULL, action TEXT NOT NULL, at INTEGER NOT NULL,
  toast TEXT, once INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
`;

/** Makes the tables on first use and returns the storage's epoch. Raises `storage_version`. */
export function openStorage(sql: Sql, newEpoch: () => string): string {
  const made = sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'").length > 0;
  if (!made) {
    sql.transaction(() => {
      for (const statement of tables.split(';')) {
        if (statement.trim() !== '') sql.exec(statement);
      }
      setMeta(sql, 'version', String(storageVersion));
      setMeta(sql, 'epoch', newEpoch());
      sql.exec('INSERT INTO project (project) VALUES (0)');
    });
  }
  const version = Number(getMeta(sql, 'version'));
  if (version !== storageVersion) {
    throw new WaError(
      'storage_version',
      `the mailbox has storage version ${version}, this relay knows ${storageVersion}`,
      {
        hint: 'deploy the relay that wrote it again; or start empty, without what waits there: `npx wrangler delete`, then `npx wrangler deploy`',
      },
    );
  }
  return getMeta(sql, 'epoch') ?? '';
}

type MetaKey =
  | 'version'
  | 'epoch'
  /** Of the object, which an alarm need not know. */
  | 'name'
  /** The chat that this one became. */
  | 'migrated_to'
  /** `{untilAt, code}`: nothing goes to the platform before. */
  | 'pause'
  /** Token buckets that hibernation must not refill. */
  | 'buckets'
  /** Set while the mailbox is full and the phone knows it. */
  | 'full_told'
  | 'cleaned_at'
  /** Which of the two memories of updates is written, and since when. */
  | 'dedupe_turn'
  /** `{name, at}`: how groups address this bot. */
  | 'username'
  /** The language of the chat. */
  | 'language'
  /** The list of commands that the phone offers. */
  | 'menu'
  /** `{on, at}`: whether the chat has topics. */
  | 'topics'
  /** The day on which the phone was told that the free plan runs out. */
  | 'cost_told';

export function getMeta(sql: Sql, key: MetaKey): string | undefined {
  const { meta } = cacheOf(sql);
  const known = meta.get(key);
  if (known !== undefined) return known ?? undefined;
  const value = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)[0]?.value;
  meta.set(key, value ?? null);
  return value;
}

export function setMeta(sql: Sql, key: MetaKey, value: string | null): void {
  cacheOf(sql).meta.set(key, value);
  if (value === null) sql.exec('DELETE FROM meta WHERE key = ?', key);
  else
    sql.exec(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      key,
      value,
    );
}
