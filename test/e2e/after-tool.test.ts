// What a policy runs after a tool, on the whole path: the output with that very result, and filters that replace it.

import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { type AgentProcess, startAgent } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import type { Scene } from '../helpers/scene.ts';

interface ToolAnswer {
  decision?: string;
  reason?: string;
  hookSpecificOutput?: { additionalContext?: string };
}

let ws: Workstation;
let agent: AgentProcess;
let arrives: Scene['arrives'];
const { policy, audit } = eachGate((scene) => {
  ({ ws, agent, arrives } = scene);
});
const { told } = phoneOf(() => ws.chat);

/** What the launcher asks the daemon with. */
const clients = ['with perl', 'without perl'];
const useClient = async (client: string) => {
  if (client === 'with perl') return;
  const bin = join(ws.root, 'bin');
  await mkdir(bin);
  for (const name of ['sh', 'cat', 'rm', 'node']) {
    await symlink(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(bin, name));
  }
  await agent.kill();
  agent = await startAgent({ project: ws.project, env: { ...ws.env, PATH: bin }, dir: join(ws.root, 'plain-agent') });
};

describe('a command after a tool', () => {
  const fields = { tool_name: 'write_file', tool_input: { file_path: 'a.ts', content: 'x' } };
  const contextOf = (answer: ToolAnswer) => answer.hookSpecificOutput?.additionalContext;
  /** Runs until the test lets it end. */
  const blocked = async (rest: string) => {
    const go = join(ws.root, 'go');
    await policy({ rules: [{ tool: 'write_file', after: `until [ -e '${go}' ]; do sleep 0.02; done; ${rest}` }] });
    return () => writeFile(go, '');
  };
  const ran = () => until('it runs', async () => (await audit(1)).some(({ kind }) => kind === 'tool'));
  it('gives its output to the model with the result, and the audit file lists tool, command and turn without secrets', async () => {
    const prints = 'echo formatted; echo ghp_012345678901234567890123456789abcdef';
    await policy({ rules: [{ tool: 'write_file', after: prints }] });
    await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    expect(contextOf(await agent.hook('AfterTool', fields))).toContain('after write_file:\nformatted\n[redacted:');
    await agent.hook('AfterAgent', { prompt: 'next', prompt_response: 'ok', stop_hook_active: false });
    const lines = await audit(3);
    expect(lines.map(({ kind }) => kind)).toEqual(['tool', 'after', 'turn']);
    expect(JSON.stringify(lines)).not.toContain('ghp_');
    await told(/^ok$/);
  });

  it('gives its output without secrets, also where a long output is cut inside a secret', async () => {
    const prints = "printf ghp_012345678901234567890123456789abcdef; printf '.%.0s' $(seq 3990)";
    await policy({ rules: [{ tool: 'write_file', after: prints }] });
    await ws.start();
    const context = contextOf(await agent.hook('AfterTool', fields));
    expect(context).toContain('...');
    expect(context).not.toContain('abcdef');
  });

  it.each(clients)(
    'gives a slow output with that very result, and with it the messages that came meanwhile, %s',
    async (client) => {
      const letGo = await blocked('echo finally');
      await ws.start();
      await useClient(client);
      await agent.hook('BeforeAgent', { prompt: 'go on' });
      const result = agent.held('AfterTool', fields);
      await ran();
      await arrives('also the docs');
      await letGo();
      const context = contextOf(await result);
      expect(context).toContain('after write_file:\nfinally');
      expect(context).toContain('also the docs');
      expect(contextOf(await agent.hook('BeforeAgent', { prompt: 'next' }))).not.toContain('finally');
    },
  );

  it('does not hold up a STOP, nor the next prompt after Esc; its output follows', async () => {
    const letGo = await blocked('echo red; exit 2');
    await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    const first = agent.held('AfterTool', fields);
    await ran();
    await ws.chat.say('STOP');
    expect(contextOf(await first)).toContain('STOP signal');
    const second = agent.held('AfterTool', { ...fields, tool_input: { file_path: 'b.ts' } });
    await until('it runs', async () => (await audit(3)).filter(({ kind }) => kind === 'tool').length === 2);
    expect(contextOf(await agent.held('BeforeAgent', { prompt: 'something else' }))).toBeUndefined();
    expect(contextOf(await second)).toBeUndefined();
    await letGo();
    await until('both ended', async () => (await audit(5)).filter(({ kind }) => kind === 'after').length === 2);
    expect(
      contextOf(await agent.hook('BeforeAgent', { prompt: 'next' }))?.match(/it ended with 2:\nred/g),
    ).toHaveLength(2);
    expect(await agent.hook('BeforeAgent', { prompt: 'and next' })).toEqual({});
  });

  it('gives the terminal back when Esc was pressed there', async () => {
    await blocked('echo finally');
    await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    const result = agent.held('AfterTool', fields);
    await ran();
    await agent.record('info', 'Request cancelled.');
    expect(await result).toEqual({});
  });

  it('that failed is reported to the phone when the session ends before the model could read its output', async () => {
    const letGo = await blocked('echo broken; exit 1');
    await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    const result = agent.held('AfterTool', fields);
    await ran();
    await ws.chat.say('STOP');
    await result;
    await letGo();
    await until('it ended', async () => (await audit(1)).some(({ kind }) => kind === 'after'));
    await agent.hook('SessionEnd', { reason: 'exit' });
    expect(await told(/^The session ended before the agent could read this:/)).toContain(
      'after write_file; it ended with 1:\nbroken',
    );
  });
});

describe('a filter of a result', () => {
  const read = (llmContent: unknown) =>
    agent.hook('AfterTool', {
      tool_name: 'run_shell_command',
      tool_input: { command: 'cat log' },
      tool_response: { llmContent, returnDisplay: '' },
    }) as Promise<ToolAnswer>;
  const filter = (...runs: string[]) =>
    policy({ rules: runs.map((run) => ({ tool: 'run_shell_command', after: { run, result: 'replace' } })) });

  it.each(clients)('gives the model only what the filters leave of it, one after the other, %s', async (client) => {
    await filter('sleep 0.5; grep -v secret', 'tr a-z A-Z');
    await ws.start();
    await useClient(client);
    expect(await read('one\nsecret two\nthree\n')).toEqual({
      decision: 'deny',
      reason: expect.stringMatching(/^run_shell_command ran\. This is what [^`]* leaves of its result:\nONE\nTHREE\n$/),
    });
    expect((await read([{ text: 'a' }, { text: 'b' }])).reason).toMatch(/its result:\nAB\n$/);
  });

  it('that fails withholds the result, without a word of either', async () => {
    await filter('cat >&2; exit 4');
    await ws.start();
    const withheld = {
      decision: 'deny',
      reason: expect.stringMatching(
        /^The result of run_shell_command is withheld .* ended with 4\. The tool itself ran\.$/,
      ),
    };
    expect(await read('secret')).toEqual(withheld);
    // Broken since: the filter stays as it was last read.
    await writeFile(join(ws.root, 'config', 'policy.json'), '{');
    expect(await read('secret')).toEqual(withheld);
  });

  it('withholds a result that is too large for it', async () => {
    await filter('cat');
    await ws.start();
    expect((await read('x'.repeat(5_000_000))).reason).toContain('too large');
  });

  it('withholds a result that is too large also when its rule names a server or an argument, which are then unknown', async () => {
    const after = { run: 'cat', result: 'replace' };
    const read = (name: string, input: object) =>
      agent.hook('AfterTool', {
        tool_name: name,
        tool_input: input,
        tool_response: { llmContent: 'x'.repeat(5_000_000) },
        mcp_context: { server_name: 'github' },
      });
    await policy({ rules: [{ server: 'github', after }] });
    await ws.start();
    const withheld = { decision: 'deny', reason: expect.stringContaining('too large') };
    expect(await read('mcp_github_read', { path: 'a' })).toEqual(withheld);
    await policy({ rules: [{ tool: 'write_file', match: { file_path: '*.env' }, after }] });
    expect(await read('write_file', { content: 'x'.repeat(5_000_000), file_path: 'a.env' })).toEqual(withheld);
    expect(await read('write_file', { file_path: 'a.txt' })).toEqual({});
  });

  it('leaves the messages of the phone as they are', async () => {
    await filter('cat');
    await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    await arrives('be quick');
    expect((await read('whole')).reason).toMatch(/its result:\nwhole\n\n<hook_context>.*be quick.*<\/hook_context>$/s);
  });
});
