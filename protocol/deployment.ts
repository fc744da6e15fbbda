// What the relay is at Cloudflare, whoever deploys it: the settings of wrangler.toml, which a test compares with these. Pure.

/** Name of the script, and of the Durable Object's binding and class. */
export const deployment = {
  script: 'wa-sync',
  compatibilityDate: '2026-10-23',
  compatibilityFlags: ['nodejs_compat', 'enable_request_signal'],
  durableObject: { binding: 'MAILBOX', className: 'Mailbox' },
  /** In order; a tag is never changed or removed. */
  migrations: [{ tag: 'v1', new_sqlite_classes: ['Mailbox'] }],
  observability: { enabled: true, head_sampling_rate: 0.01 },
} as const;

interface Migration {
  tag: string;
  new_sqlite_classes: readonly string[];
}

/** As the upload names them. */
export interface MigrationUpload {
  old_tag?: string;
  new_tag: string;
  steps: Omit<Migration, 'tag'>[];
}

/**
 * The migrations that an upload must carry: all of them for a script without a tag, those after its tag, or none (undefined) when it
 * has the last. `unknown` = the tag is none of `known`: another, later relay made the storage.
 */
export function migrationsAfter(
  liveTag: string | null,
  known: readonly Migration[] = deployment.migrations,
): MigrationUpload | undefined | 'unknown' {
  const at = liveTag === null ? -1 : known.findIndex(({ tag }) => tag === liveTag);
  if (liveTag !== null && at === -1) return 'unknown';
  const missing = known.slice(at + 1);
  const last = missing.at(-1);
  if (last === undefined) return undefined;
  return {
    ...(liveTag === null ? {} : { old_tag: liveTag }),
    new_tag: last.tag,
    steps: missing.map(({ tag: _, ...step }) => step),
  };
}
