// What the built program says of itself.

import { beforeEach, describe, expect, it } from 'vitest';
import { sprintLimits } from '../../../agent/turns/sprint.ts';
import { runProgram } from '../../helpers/daemon.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let dir: string;
beforeEach(async () => {
  dir = await temporaryFolder();
});
const start = (args: string[]) => runProgram(args, { HOME: dir }, dir);
const run = (args: string[]) => start(args).exited;

describe('help and version', () => {
  it('is quiet when its reader has read enough', async () => {
    const program = start(['--help']);
    program.child.stdout?.destroy();
    expect(await program.exited).toMatchObject({ code: 0, stderr: '' });
  });

  it('go to stdout with exit code 0', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    for (const same of ['-v', '-V', 'version']) expect(await run([same])).toEqual(await run(['--version']));
    const help = await run(['--help']);
    for (const heading of ['Every day:', 'Set up:', 'Try it out:', 'Examples:', 'Exit codes:', 'Environment:'])
      expect(help.stdout).toContain(`\n${heading}`);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['sprint', 'dev', 'hooks', 'start'])
      expect((await run([command, '--help'])).stdout).not.toMatch(/default: (""|false|"\/)/);
    expect((await run(['sprint', '--help'])).stdout).toContain(
      `1 to ${sprintLimits.maxTasks}; ${sprintLimits.defaultTasks} without it`,
    );
    for (const command of ['start', 'status', 'down', 'send', 'hooks', 'dev', 'demo'])
      expect(help.stdout).toContain(`  ${command}`);
  });
});
