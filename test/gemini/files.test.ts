// Files of the phone are opened by the CLI's own tools, in a git project, too, where it reads nothing that git ignores.

import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { handedOver } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { test } from './stage.ts';

const files = [
  {
    fileName: 'note.txt',
    contentType: 'text/plain',
    data: Buffer.from('the blue flamingo'),
    read: 'the blue flamingo',
  },
  {
    fileName: 'look.png',
    contentType: 'image/png',
    data: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    read: 'image/png',
  },
];

test.for(files)(
  '$fileName of the phone is opened by read_file in a git project, and git sees nothing of it',
  async ({ read, ...file }, { model, home, product }) => {
    execFileSync('git', ['init', '-q'], { cwd: home.project });
    await runHeadless(home, { prompt: 'The first session in this folder.' });
    await product.sim.say('Look at this', { file });
    await product.waitForLadder({ delivered: 1 });

    const paths: string[] = [];
    model.rule((request) => {
      if (request.method !== 'streamGenerateContent' || request.toolResults > 0) return undefined;
      const text = handedOver(request)
        .map((each) => each.text)
        .join('\n');
      const path = /^\[\w+: (.+)\]$/m.exec(text)?.[1];
      if (path === undefined) return undefined;
      paths.push(path);
      return { toolCall: { name: 'read_file', args: { file_path: path } } };
    });
    expect(await runHeadless(home, { prompt: 'go on' })).toMatchObject({ code: 0 });
    expect(paths).toEqual([expect.stringMatching(new RegExp(`${file.fileName}$`))]);
    const { body } = await model.waitForRequest(({ toolResults }) => toolResults > 0);
    expect(JSON.stringify(body.contents.slice(-1))).toContain(read);
    expect(execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: home.project, encoding: 'utf8' })).toBe('');
  },
);
