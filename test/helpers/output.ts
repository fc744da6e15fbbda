// What a child process has written so far.

import type { Readable } from 'node:stream';

export function outputOf({ stdout, stderr }: { stdout: Readable; stderr: Readable }) {
  const output = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  return output;
}
