// The promises of a hook to the coding agent that runs it: one JSON object, in time, whatever is broken, and shut gates.

import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { gemini } from '../../agent/drivers/gemini/driver.ts';
import { until } from '../helpers/daemon.ts';
import { type AgentProcess, startAgent, timesIn } from '../helpers/launcher.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import { dist } from '../helpers/stack.ts';

let scene: Scene;
let agent: AgentProcess;
eachTest(async (given) => {
  scene = given;
  agent = await scene.newAgent();
});

const nothing = { code: 0, stdout: '{}\n', stderr: '' };
const phone = () => scene.ws.chat.fromBot().map(({ text }) => text);

describe.each([
  ['with the daemon', true],
  ['without the daemon', false],
])('%s', (_, withDaemon) => {
  beforeEach(async () => {
    if (withDaemon) await scene.ws.start();
  });

  it('broken input of any event gives {}', async () => {
    const inputs = ['', '\u0000\u0001', 'no json', '[]', 'null', '{"session_id":7,"cwd":[]}', '{"a":'.repeat(1_000)];
    for (const event of [...Object.keys(gemini.events), 'EventOfTomorrow']) {
      for (const input of inputs)
        expect([event, input, await agent.raw(event, input)]).toEqual([event, input, nothing]);
    }
  });

  it('an empty, a missing and an odd prompt_response give {} and never "[no response text]" on the phone', async () => {
    for (const fields of [{ prompt_response: '' }, {}, { prompt_response: null }, { prompt_response: [7] }]) {
      await agent.hook('BeforeAgent', { prompt: 'x' });
      expect(await agent.hook('AfterAgent', { prompt: 'x', ...fields })).toEqual({});
    }
    await agent.turn('A whole answer.');
    if (!withDaemon) await scene.ws.start();
    await until('the whole answer is on the phone', () => phone().includes('A whole answer.'));
    expect(phone().join('\n')).not.toMatch(/no response text|undefined|null|\[object/);
  });

  it('fifty megabytes on stdin give {}', async () => {
    expect(await agent.raw('BeforeAgent', Buffer.alloc(50_000_000, '{'))).toEqual(nothing);
  });
});

// The order shows that there is a deadline: each hook has answered although the daemon never did. Which one it is, the launcher's own
// tests look at; how long a hook takes, `npm run bench` (parts `hook` and `turn`). A gate is no part of it: it may hold.
it('a hook does not wait for a daemon that hangs', async ({ annotate }) => {
  const daemon = await scene.ws.runDaemon();
  const events = ['SessionStart', 'BeforeAgent', 'BeforeModel', 'AfterTool', 'Notification'];
  const times = async () => {
    const took: string[] = [];
    for (const event of events) {
      const startedAt = performance.now();
      await agent.hook(event, { prompt: 'x', tool_name: 'write_file' });
      took.push(`${event} ${Math.round(performance.now() - startedAt)} ms`);
    }
    return took.join(', ');
  };
  await annotate(`with the daemon: ${await times()}`);
  process.kill(daemon.pid, 'SIGSTOP');
  await annotate(`the daemon hangs: ${await times()}`);
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.exited;
  await annotate(`no daemon: ${await times()}`);
});

it('without daemon, relay, perl, curl and Node hooks answer {}, gates deny, status names it, and nothing is lost', async () => {
  const { far, ws } = scene;
  const daemon = await scene.ws.runDaemon();
  await ws.chat.say('/approvals all');
  await until('approvals are on', () => phone().some((text) => text.startsWith('Approvals: all')));
  await scene.arrives('keep me');
  await agent.hook('SessionStart', { source: 'startup' });
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.exited;
  await far.killRelay();
  let relayRuns = false;
  try {
    const launcher = join(ws.root, 'poor-hook');
    await writeFile(launcher, `#!/bin/sh\nPATH=/nonexistent exec '${join(dist, 'wa-hook')}' "$@"\n`);
    await chmod(launcher, 0o755);
    const poor = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'poor'), launcher });
    const tool = { tool_name: 'run_shell_command', tool_input: { command: 'make' } };
    try {
      expect(await poor.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
      expect(await poor.hook('AfterAgent', { prompt: 'x', prompt_response: 'y' })).toEqual({});
      expect(await poor.hook('BeforeTool', tool)).toMatchObject({ decision: 'deny' });
    } finally {
      await poor.kill();
    }
    expect(await agent.hook('BeforeTool', tool)).toMatchObject({ decision: 'deny' });
    expect(timesIn(await agent.turn('By the files.'), 'keep me')).toBe(1);
    const down = await ws.run('status').exited;
    expect([down.code, down.stderr]).toEqual([
      1,
      expect.stringMatching(/daemon_not_running[\s\S]*Start it with `wa-sync`/),
    ]);

    await ws.start();
    await until('status names the relay', async () =>
      (await ws.run('status').exited).stdout.includes('relay_unreachable'),
    );
    await far.startRelay();
    relayRuns = true;
    await until('the answer is on the phone', () => phone().includes('By the files.'));
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
    expect(phone().filter((text) => text === 'By the files.')).toHaveLength(1);
  } finally {
    if (!relayRuns) await far.startRelay();
  }
});
