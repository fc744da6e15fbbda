import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRedactor } from '../../../agent/format/redact.ts';
import { keepDocument } from '../../../agent/relay/documents.ts';

// Put together at run time, so that no scanner takes this file for a leak.
const token = ['gh', 'p_', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL0000'].join('');
const redactor = createRedactor({
  own: [],
  kinds: { secrets: true, cards: false, iban: false, ssn: false },
  patterns: [],
});
const redact = (text: string) => redactor(text).text;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-documents-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('a file on its way to the phone', () => {
  it('hides secrets in its name and its caption, and keeps its bytes as they are', async () => {
    const path = join(root, `${token}.txt`);
    await writeFile(path, `key ${token}`);
    const { document } = await keepDocument(join(root, 'kept'), path, `the key is ${token}`, redact);
    expect(document).toMatchObject({
      name: '[redacted:github-token].txt',
      caption: 'the key is [redacted:github-token]',
    });
    expect(await readFile(document.path, 'utf8')).toBe(`key ${token}`);
  });
});
