// The relay at Cloudflare: one description for wrangler, for the upload by REST and for the embedded relay.

import { readFile } from 'node:fs/promises';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { deployment, migrationsAfter } from '../../protocol/deployment.ts';

it('is the Worker that wrangler.toml describes', async () => {
  const toml = parse(await readFile(new URL('../../wrangler.toml', import.meta.url), 'utf8'));
  const { binding, className } = deployment.durableObject;
  expect(toml).toEqual({
    name: deployment.script,
    main: 'worker/index.ts',
    compatibility_date: deployment.compatibilityDate,
    compatibility_flags: deployment.compatibilityFlags,
    send_metrics: false,
    durable_objects: { bindings: [{ name: binding, class_name: className }] },
    migrations: deployment.migrations,
    observability: deployment.observability,
  });
});

describe('the migrations of an upload', () => {
  const known = [
    { tag: 'v1', new_sqlite_classes: ['Mailbox'] },
    { tag: 'v2', new_sqlite_classes: ['Second'] },
    { tag: 'v3', new_sqlite_classes: ['Third'] },
  ];

  it('are all of them for a script without a tag', () => {
    const steps = [
      { new_sqlite_classes: ['Mailbox'] },
      { new_sqlite_classes: ['Second'] },
      { new_sqlite_classes: ['Third'] },
    ];
    expect(migrationsAfter(null, known)).toEqual({ new_tag: 'v3', steps });
  });

  it('are those after the tag of the script', () => {
    const steps = [{ new_sqlite_classes: ['Second'] }, { new_sqlite_classes: ['Third'] }];
    expect(migrationsAfter('v1', known)).toEqual({ old_tag: 'v1', new_tag: 'v3', steps });
  });

  it('are none for the last tag, and unknown for a tag of a later relay', () => {
    expect(migrationsAfter('v3', known)).toBeUndefined();
    expect(migrationsAfter('v4', known)).toBe('unknown');
  });
});
