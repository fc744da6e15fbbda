// Files of the phone are opened by the CLI's own tools, in a git project, too, where it reads nothing that git ignores.

import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import type { ModelRequest } from '../helpers/model-server.ts';
import { handedOver } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { test } from './stage.ts';

/** What the tools answered, as the model reads it. */
const results = ({ body }: ModelRequest) => JSON.stringify(body.contents.flatMap(({ parts }) => parts.slice(0)));

test('a text file and a photo of the phone are read by read_file in a git project, and git sees nothing of them', async ({
  model,
  home,
  product,
}) => {
  execFileSync('git', ['init', '-q'], { cwd: home.project });
  await runHeadless(home, { prompt: 'The first session in this folder.' });
  await product.sim.say('Look at this note', {
    file: { name: 'note.txt', bytes: Buffer.from('the blue flamingo'), kind: 'document' },
  });
  await product.waitForLadder({ delivered: 1 });

  const read: string[] = [];
  model.rule((request) => {
    if (request.method !== 'streamGenerateContent' || request.toolResults > 0) return undefined;
    const [path] = /(?<=\[document: )[^\]]+(?=\])/.exec(handedOver(request).map(({ text }) => text).join('\n')) ?? [];
    if (path === undefined) return undefined;
    read.push(path);
    return { toolCall: { name: 'read_file', args: { file_path: path } } };
  });
  const run = await runHeadless(home, { prompt: 'go on' });
  expect(run.code).toBe(0);
  expect(read).toHaveLength(1);
  const answered = await model.waitForRequest(({ toolResults }) => toolResults > 0);
  expect(results(answered)).toContain('the blue flamingo');
  expect(execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: home.project, encoding: 'utf8' })).toBe('');
});
