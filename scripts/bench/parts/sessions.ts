// Session files of 50 MB, one of each agent: from the start of the command to its first line, the memory that it takes, and from a
// new line in the file to its event.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readingOf } from '../../../agent/sessions/read.ts';
import type { Lab } from '../../lab/lab.ts';
import { peakRssMb } from '../processes.ts';
import type { Part } from '../result.ts';
import { round, spread } from '../stats.ts';

const fileBytes = 50 * 1024 * 1024;
const newLines = 200;
const at = '2026-01-02T22:02:05.094Z';
/** What a tool returns: most of a long session. */
const output = 'the quick brown fox jumps over the lazy dog\n'.repeat(50);

interface Kind {
  agent: string;
  /** Below the home folder. */
  place: string;
  id: string;
  head(project: string): object[];
  /** One prompt with a tool and an answer. */
  turn(n: number): object[];
}

const kinds: readonly Kind[] = [
  {
    agent: 'gemini',
    place: '.gemini/tmp/work/chats/session-2026-01-02T22-02-aaaaaaaa.jsonl',
    id: 'aaaaaaaa-1111-4111-8111-111111111111',
    head: () => [
      { sessionId: 'aaaaaaaa-1111-4111-8111-111111111111', startTime: at, kind: 'main' },
      { $set: { messages: [] } },
    ],
    turn: (n) => [
      { id: `u${n}`, timestamp: at, type: 'user', content: [{ text: `Task ${n}` }] },
      { $set: { lastUpdated: at } },
      {
        ...{ id: `g${n}`, timestamp: at, type: 'gemini', content: `Done ${n}`, model: 'm', tokens: { total: n } },
        toolCalls: [
          {
            ...{ id: `t${n}`, name: 'read_file', args: { file_path: 'a' }, status: 'success', timestamp: at },
            result: [{ functionResponse: { id: `t${n}`, response: { output } } }],
          },
        ],
      },
    ],
  },
  {
    agent: 'claude',
    place: '.claude/projects/PROJECT/bbbbbbbb-1111-4111-8111-111111111111.jsonl',
    id: 'bbbbbbbb-1111-4111-8111-111111111111',
    head: () => [],
    turn: (n) => {
      const line = { timestamp: at, cwd: 'PROJECT', sessionId: 'bbbbbbbb-1111-4111-8111-111111111111' };
      const said = (content: object) => ({
        ...{ ...line, type: 'assistant' },
        message: { id: `m${n}`, model: 'm', content: [content], usage: { input_tokens: n, output_tokens: 1 } },
      });
      return [
        { ...line, type: 'user', message: { role: 'user', content: `Task ${n}` } },
        said({ type: 'tool_use', id: `t${n}`, name: 'Read', input: { file_path: 'a' } }),
        {
          ...{ ...line, type: 'user' },
          message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: output }] },
        },
        said({ type: 'text', text: `Done ${n}` }),
      ];
    },
  },
  {
    agent: 'codex',
    place: '.codex/sessions/2026/01/02/rollout-2026-01-02T22-02-05-cccccccc-1111-4111-8111-111111111111.jsonl',
    id: 'cccccccc-1111-4111-8111-111111111111',
    head: (project) => [item('session_meta', { id: 'cccccccc-1111-4111-8111-111111111111', cwd: project })],
    turn: (n) => [
      message('user', 'input_text', `Task ${n}`),
      item('response_item', { type: 'function_call', name: 'exec', arguments: '{"cmd":"ls"}', call_id: `t${n}` }),
      item('response_item', { type: 'function_call_output', call_id: `t${n}`, output }),
      message('assistant', 'output_text', `Done ${n}`),
    ],
  },
];

function item(type: string, payload: object): object {
  return { timestamp: at, type, payload };
}

function message(role: string, type: string, text: string): object {
  return item('response_item', { type: 'message', role, content: [{ type, text }] });
}

export const sessions: Part = {
  name: 'sessions',
  async run(lab) {
    let [firstMs, listMs, peak] = [0, 0, 0];
    const times: number[] = [];
    for (const kind of kinds) {
      const home = join(lab.baseDir, 'sessions', kind.agent);
      const path = await write(kind, home);
      const shown = await command(lab, home, ['show', 'latest']);
      const listed = await command(lab, home, ['list']);
      firstMs = Math.max(firstMs, shown.firstMs);
      listMs = Math.max(listMs, listed.firstMs);
      peak = Math.max(peak, shown.peakMb, listed.peakMb);
      times.push(...(await toEvents(kind, path)));
    }
    return {
      sessions: { firstMs: round(firstMs), listMs: round(listMs), peakRssMb: round(peak), event: spread(times) },
    };
  },
};

async function write({ place, head, turn }: Kind, home: string): Promise<string> {
  const project = join(home, 'work');
  await mkdir(project, { recursive: true });
  const path = join(home, place.replace('PROJECT', project.replace(/[^A-Za-z0-9]/g, '-')));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(join(home, '.root'), project);
  if (place.startsWith('.gemini')) await writeFile(join(dirname(dirname(path)), '.project_root'), project);
  const file = createWriteStream(path);
  const lines = (values: readonly object[]) =>
    values.map((value) => `${JSON.stringify(value).replaceAll('PROJECT', project)}\n`).join('');
  let bytes = 0;
  for (let n = 0, text = lines(head(project)); bytes < fileBytes; text = lines(turn(n++))) {
    bytes += text.length;
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  return path;
}

/** Each without what an earlier command has kept. */
async function command(lab: Lab, home: string, args: readonly string[]): Promise<{ firstMs: number; peakMb: number }> {
  const state = join(home, 'state', args[0] ?? '');
  await mkdir(state, { recursive: true });
  const env = { ...lab.env, HOME: home, WA_STATE_DIR: state, WA_CONFIG_DIR: join(home, 'config') };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(lab.distDir, 'wa-sync.js'), 'sessions', ...args], {
    ...{ cwd: join(home, 'work'), env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let firstMs: number | undefined;
  let peakMb = 0;
  const look = () => {
    try {
      peakMb = Math.max(peakMb, peakRssMb(child.pid ?? 0) || 0);
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, 10);
  child.stdout.on('data', () => {
    firstMs ??= performance.now() - startedAt;
    look();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  if (code !== 0 || firstMs === undefined) throw new Error(`wa-sync sessions ${args.join(' ')} ended with ${code}`);
  return { firstMs, peakMb };
}

/** Milliseconds from a new line in the file to its event. */
async function toEvents({ agent, turn }: Kind, path: string): Promise<number[]> {
  const reading = readingOf({ agent, path });
  await reading.next(() => {});
  const times: number[] = [];
  for (let n = 0; n < newLines; n++) {
    const [prompt = {}] = turn(1_000_000 + n);
    const startedAt = performance.now();
    await appendFile(path, `${JSON.stringify(prompt)}\n`);
    let isThere = false;
    await reading.next((event) => {
      isThere ||= event.type === 'prompt';
    });
    if (!isThere) throw new Error(`${agent}: the new line has no event`);
    times.push(performance.now() - startedAt);
  }
  return times;
}
