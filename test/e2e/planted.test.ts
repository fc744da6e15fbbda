// What a cloned repository, an archive or another program may have put in place of each file and folder that wa-sync knows below a
// project. A new file of wa-sync is one more row of `places`.

import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

const tenDaysAgo = Date.now() / 1000 - 10 * 24 * 3600;
const oldNames = [
  'msg_e_0_1-photo.jpg',
  '.wa-tmp-999999-0123456789ab',
  '.wa-tmp-ticket-wa_inbox.json.lock-0123456789abcdef',
  ...[1, 2, 3, 4, 5, 6].map((second) => `wa_inbox.json.corrupt-2020-01-01T00-00-0${second}-000Z`),
];
const [file = '', temporary = '', ticket = '', copy = ''] = oldNames;
const message = { id: 'in_1', timestamp: '2026-02-15T14:30:00Z', from: 'user', text: 'from the file', read: false };
const inboxText = JSON.stringify({ messages: [message] });

type Plant = 'a link to a file' | 'a link to a folder' | 'a link to nothing' | 'a pipe' | 'a folder';
const plants: Record<Plant, (path: string, outside: string) => unknown> = {
  'a link to a file': (path, outside) => symlinkSync(join(outside, 'thesis.txt'), path),
  'a link to a folder': (path, outside) => symlinkSync(outside, path),
  'a link to nothing': (path, outside) => symlinkSync(join(outside, 'new.txt'), path),
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
};
const everything = Object.keys(plants) as Plant[];
const links: Plant[] = ['a link to a file', 'a link to a folder', 'a link to nothing'];

interface Place {
  path: string;
  /** What of it status or log must name; anything else there is as good as nothing, or is replaced. */
  named: readonly Plant[];
  /** Other files that make wa-sync look there. */
  beside?: Record<string, string | number>;
}

const full = 5 * 1024 * 1024;
const places: Place[] = [
  { path: '.gemini', named: [...links, 'a pipe'] },
  { path: '.gemini/wa_inbox.json', named: everything },
  { path: '.gemini/wa_outbox.json', named: everything },
  { path: '.gemini/wa_inbox.json.lock', named: everything },
  { path: '.gemini/wa_outbox.json.lock', named: everything },
  { path: '.gemini/wa_policy.json', named: everything },
  { path: '.gemini/wa_audit.jsonl', named: everything },
  { path: '.gemini/wa_audit.jsonl.1', named: ['a folder'], beside: { '.gemini/wa_audit.jsonl': full } },
  { path: '.gemini/wa_files', named: [...links, 'a pipe'] },
  { path: `.gemini/wa_files/${file}`, named: [] },
  { path: `.gemini/${temporary}`, named: [] },
  { path: `.gemini/${ticket}`, named: [] },
  {
    path: `.gemini/${copy}`,
    named: [],
    beside: {
      '.gemini/wa_inbox.json': 'torn',
      ...Object.fromEntries(oldNames.slice(4).map((name) => [`.gemini/${name}`, 'older'])),
    },
  },
  { path: '.git', named: [] },
  {
    path: '.git/info',
    named: [],
    beside: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/x': '', '.git/refs/x': '' },
  },
  {
    path: '.git/info/exclude',
    named: [],
    beside: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/x': '', '.git/refs/x': '' },
  },
];

interface Clone {
  title: string;
  dir: string;
  outside: string;
  planted: string;
  isNamed: boolean;
  before: Record<string, string>;
}

/** A project with one thing planted, next to a folder whose files wa-sync would change if they lay in the project. */
function makeClone(root: string, number: number, { path, named, beside = {} }: Place, plant: Plant): Clone {
  const dir = join(root, `clone-${number}`);
  const outside = join(root, `outside-${number}`);
  mkdirSync(join(outside, 'info'), { recursive: true });
  for (const name of [
    ...oldNames,
    'thesis.txt',
    'wa_inbox.json',
    'wa_outbox.json',
    'wa_policy.json',
    'exclude',
    'info/exclude',
  ]) {
    writeFileSync(join(outside, name), name.endsWith('.json') ? inboxText : 'mine', { mode: 0o644 });
    lutimesSync(join(outside, name), tenDaysAgo, tenDaysAgo);
  }
  for (const name of ['HEAD', 'objects/x', 'refs/x']) {
    if (path === '.git') break;
    mkdirSync(dirname(join(outside, name)), { recursive: true });
    writeFileSync(join(outside, name), '');
  }
  const planted = join(dir, path);
  mkdirSync(dirname(planted), { recursive: true });
  plants[plant](planted, outside);
  lutimesSync(planted, tenDaysAgo, tenDaysAgo);
  const others = path === '.gemini' ? beside : { '.gemini/wa_inbox.json': inboxText, ...beside };
  for (const [name, content] of Object.entries(others)) {
    if (name === path) continue;
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : '');
    if (typeof content === 'number') truncateSync(join(dir, name), content);
  }
  return {
    title: `${path} is ${plant}`,
    dir,
    outside,
    planted,
    isNamed: named.includes(plant),
    before: lookAt(outside),
  };
}

/** Everything that a change would show in. */
function lookAt(dir: string): Record<string, string> {
  const names = ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })];
  return Object.fromEntries(
    names.sort().map((name) => {
      const { mode, mtimeMs, size } = lstatSync(join(dir, name));
      const content = lstatSync(join(dir, name)).isFile() ? readFileSync(join(dir, name), 'utf8') : '';
      return [name, `${mode.toString(8)} ${mtimeMs} ${size} ${content}`];
    }),
  );
}

let scene: Scene;
let ws: Workstation;
let agents = 0;
eachTest((each) => {
  scene = each;
  ({ ws } = each);
});

describe.skipIf(process.platform === 'win32')('in place of a file or folder that wa-sync knows', () => {
  const clones = (plant: Plant) => places.map((place, at) => makeClone(ws.root, at + 1, place, plant));

  /** A turn in each, which finds a message of another program where it may read one. */
  async function turns(all: readonly Clone[]): Promise<void> {
    const queue = [...all];
    const work = async () => {
      for (let clone = queue.shift(); clone; clone = queue.shift()) {
        agents += 1;
        const agent = await scene.newAgent(`agent-${agents}`, clone.dir);
        // Rejects when the launcher prints no answer.
        await agent.hook('BeforeAgent', { prompt: 'go on' });
        await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'Done.' });
        await agent.kill();
      }
    };
    await Promise.all([work(), work(), work(), work()]);
  }

  function expectUntouched(all: readonly Clone[]): void {
    for (const { title, outside, before } of all) expect([title, lookAt(outside)]).toEqual([title, before]);
  }

  it.each(everything)(
    '%s does not make the daemon, nor a hook without it, touch what lies outside or wait; it serves on and names what is wrong',
    async (plant) => {
      const all = clones(plant);
      // What they tell would keep the answer of the last project waiting, at the pace of a chat.
      const { mailbox } = scene.far.nextChat();
      const bindings = [
        { dir: ws.project, mailbox: ws.chat.mailbox, project: 0 },
        ...all.map(({ dir }, at) => ({ dir, mailbox, project: at + 1 })),
      ];
      const daemon = await ws.start({ bindings });
      await turns(all);
      expectUntouched(all);
      for (const { title, planted, isNamed } of all) {
        if (!isNamed) continue;
        await until(`it is named that ${title}`, () => JSON.stringify([daemon.status(), ws.log]).includes(planted));
      }
      // The project in which nothing is planted.
      await scene.arrives('still there?');
      const agent = await scene.newAgent();
      // On a busy machine a hook may answer without a word, and the message comes with the next turn.
      await until('a turn is given it', async () => (await agent.turn('Yes.'))?.includes('still there?'));
      await until('the answer is on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'Yes.'));
      await daemon.stop();
      expectUntouched(all);

      for (const { dir, planted } of all) {
        const inbox = join(dir, '.gemini', 'wa_inbox.json');
        const isPlanted = planted === inbox || planted === dirname(inbox);
        if (!isPlanted) writeFileSync(inbox, JSON.stringify({ messages: [{ ...message, id: 'in_2' }] }));
      }
      writeFileSync(join(ws.env.WA_CONFIG_DIR ?? '', 'config.json'), JSON.stringify({ bindings }));
      await turns(all);
      expectUntouched(all);
    },
  );
});
