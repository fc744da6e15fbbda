// Who may import whom, and who may name whom: one table, printed into docs/architecture.md (WA_WRITE_DOCS=1 npx vitest run test/architecture.test.ts).
// A type import counts as any other.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

interface Room {
  /** Of files: `*` is any name, `**` any path, `{a,b}` a choice. A file's room is the last row that fits. */
  files: string;
  /** Beside the own folder: files, packages by name or by what is imported of them, and `node` for Node's own modules. */
  may: readonly string[];
  why: string;
}

const rooms: readonly Room[] = [
  { files: 'protocol/*', may: [], why: 'every part bundles it' },
  { files: 'protocol/texts.ts', may: ['protocol/texts/*/*'], why: 'what the phone reads; no hook bundles it' },
  { files: 'protocol/texts/*/*', may: ['protocol/*', 'protocol/texts/*/*'], why: 'one folder per language' },
  { files: 'protocol/{relay-api,webhook-api}.ts', may: ['valibot'], why: 'HTTP schemas, which no hook bundles' },

  { files: 'worker/*', may: ['protocol/*', 'worker/mailbox/**'], why: 'never Node, never `agent/`' },
  {
    files: 'worker/app.ts',
    may: ['protocol/*', 'worker/mailbox/**', 'package.json', 'hono'],
    why: 'the routes',
  },
  { files: 'worker/requests.ts', may: ['protocol/*', 'valibot'], why: 'checks what is sent' },
  { files: 'worker/platforms.ts', may: ['protocol/*', 'worker/telegram/platform.ts'], why: 'the list of platforms' },
  {
    files: 'worker/mailbox/**',
    may: ['protocol/*', 'worker/*', 'worker/mailbox/**'],
    why: 'knows no platform',
  },
  {
    files: 'worker/mailbox/tables/*',
    may: ['protocol/*', 'worker/platform.ts', 'worker/mailbox/{core,counters}.ts'],
    why: 'rows and their SQL: below every other room',
  },
  {
    files: 'worker/mailbox/object.ts',
    may: ['protocol/*', 'worker/*', 'worker/mailbox/**', 'cloudflare:workers'],
    why: 'the shell that puts the mailbox together',
  },
  {
    files: 'worker/telegram/*',
    may: ['protocol/*', 'worker/{auth,env,platform}.ts', 'valibot', 'grammy/types'],
    why: 'knows the seam, not the mailbox',
  },

  { files: 'agent/*', may: ['protocol/*', 'node'], why: 'the lowest level' },
  {
    files: 'agent/local-client.ts',
    may: ['protocol/*', 'node', 'agent/fs/lock.ts'],
    why: 'who holds the lock of the daemon',
  },
  {
    files: 'agent/config-check.ts',
    may: ['protocol/*', 'node', 'agent/fs/json-line.ts'],
    why: 'the line of a mistake, for people',
  },
  {
    files: 'agent/cli.ts',
    may: ['protocol/*', 'node', 'agent/command-line/*', 'agent/commands/*', 'commander'],
    why: 'the entry point',
  },
  {
    files: 'agent/command-line/*',
    may: ['protocol/*', 'agent/*', 'agent/commands/*', 'agent/drivers/registry.ts', 'commander'],
    why: 'names and options; what a command does is in `agent/commands/`',
  },
  { files: 'agent/commands/*', may: ['protocol/*', 'node', 'agent/**'], why: 'puts parts together, without a package' },
  {
    files: 'agent/doctor/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{fs,service}/*',
      'agent/dev/local-bot.ts',
      'agent/drivers/{driver,footprints,workstations}.ts',
      'agent/relay/client.ts',
    ],
    why: 'looks at every part from outside; what a host makes of its settings is known by its driver',
  },
  {
    files: 'agent/daemon/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{approvals,drivers,format,fs,heavy,journal,local-server,mailbox,owned,phone,relay,session,sessions,workflows}/**',
      'agent/setup/state.ts',
    ],
    why: 'puts the parts below it together; neither commands nor dev',
  },
  {
    files: 'agent/dev/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{daemon,dev/*}/*',
      'agent/drivers/registry.ts',
      'agent/fs/*',
      'agent/relay/{client,connection}.ts',
      'grammy/web',
      'miniflare',
    ],
    why: 'starts the built Worker, never its source',
  },
  {
    files: 'agent/dev/telegram-sim/*',
    may: ['protocol/*', 'node', 'grammy/types', 'undici'],
    why: 'shares no mistake with what it tests',
  },
  {
    files: 'agent/setup/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/fs/*',
      'agent/relay/client.ts',
      'agent/dev/{bot-api,bot-errors,local-bot}.ts',
      'agent/setup/cloudflare/*',
      'grammy',
    ],
    why: 'the steps of setup; hooks, daemon and service come from `agent/commands/`',
  },
  {
    files: 'agent/setup/prompt-person.ts',
    may: ['protocol/*', 'agent/*', '@clack/prompts', 'uqr'],
    why: 'a terminal with a person, loaded for nobody else',
  },
  {
    files: 'agent/setup/cloudflare/*',
    may: ['protocol/*', 'node', 'agent/{crypto,http,process}.ts', 'agent/relay/connection.ts'],
    why: "Cloudflare's REST API, and nothing of setup",
  },
  {
    files: 'agent/heavy/*',
    may: [
      'protocol/*',
      'node',
      'agent/log.ts',
      'agent/format/redact.ts',
      'agent/owned/owned.ts',
      'agent/relay/render.ts',
      'agent/approvals/{danger,policy,question}/*',
    ],
    why: 'what runs in worker threads',
  },
  {
    files: 'agent/service/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/workstations.ts'],
    why: 'the service of each operating system',
  },
  {
    files: 'agent/owned/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{fs,journal}/*', 'agent/session/types.ts'],
    why: 'a session that the daemon runs itself, as a host of the turn rules; knows neither agent nor protocol',
  },
  {
    files: 'agent/owned/acp/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/fs/*',
      'agent/owned/{owned,agent-error}.ts',
      'agent/owned/acp/locks/*',
      'agent/drivers/fields.ts',
      'agent/drivers/*/session-keeper.ts',
    ],
    why: 'one driver for every coding agent that speaks ACP',
  },
  {
    files: 'agent/owned/acp/wire.ts',
    may: ['node', 'agent/drivers/fields.ts', '@agentclientprotocol/sdk'],
    why: 'the only file that loads the SDK',
  },
  {
    files: 'agent/owned/owned.ts',
    may: [],
    why: 'words between an owned session and the rest',
  },
  { files: 'agent/fs/*', may: ['protocol/*', 'node', 'agent/*'], why: 'the disk, and no word of what it holds' },
  { files: 'agent/fs/json-line.ts', may: ['jsonc-parser'], why: 'the line of a mistake, for the daemon alone' },
  { files: 'agent/journal/*', may: ['protocol/*', 'node', 'agent/*'], why: 'needs no other room' },
  {
    files: 'agent/mailbox/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{fs,journal,turns}/*'],
    why: 'the two files, whoever else writes them',
  },
  {
    files: 'agent/relay/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{format,fs,journal,mailbox}/*', 'hpagent', 'proxy-from-env'],
    why: 'what crosses the network',
  },
  {
    files: 'agent/session/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{fs,journal,mailbox,relay,turns}/*',
      'agent/drivers/{driver,registry,session-file,tool-words}.ts',
    ],
    why: 'carries out what the rules decide; speaks to no network and no socket',
  },
  {
    files: 'agent/phone/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/format/summary.ts',
      'agent/{journal,relay,sessions}/*',
      'agent/owned/{owned,agent-error}.ts',
      'agent/session/types.ts',
      'leven',
    ],
    why: 'what the phone is told and asks for',
  },
  {
    files: 'agent/local-server/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/drivers/registry.ts', 'valibot'],
    why: 'knows the calls and not what becomes of them',
  },
  {
    files: 'agent/approvals/**',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{format,fs,journal}/*',
      'agent/drivers/*',
      'agent/owned/owned.ts',
      'agent/approvals/**',
      'valibot',
    ],
    why: 'parts of one level meet in `agent/daemon/`',
  },
  {
    files: 'agent/mcp/*',
    may: ['protocol/*', 'node', 'agent/{local-client,process}.ts', '@modelcontextprotocol/sdk', 'zod'],
    why: 'a client of the daemon in a process of its own',
  },
  {
    files: 'agent/drivers/*/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/drivers/*',
      'agent/drivers/install/*',
      'agent/fs/*',
      'jsonc-parser',
      'smol-toml',
    ],
    why: 'one tool, not those of other folders',
  },
  {
    files: 'agent/drivers/{nudge,session-file,session-folder,workstations}.ts',
    may: ['protocol/*', 'node', 'agent/tmux.ts', 'agent/fs/*', 'agent/drivers/*', 'agent/drivers/*/workstation.ts'],
    why: 'what the drivers share',
  },
  {
    files:
      'agent/drivers/{any-agent,driver,fields,footprint,footprints,hook-call,registry,sessions,tool-words,*/driver,*/footprint,*/hook-io,*/session-log,*/tools}.ts',
    may: ['protocol/*', 'agent/drivers/*', 'agent/drivers/*/{driver,footprint,hook-io,session-log,tools}.ts'],
    why: 'pure: no Node',
  },
  {
    files: 'agent/drivers/session-files.ts',
    may: ['agent/drivers/*', 'agent/drivers/*/sessions.ts'],
    why: 'the list of readers of session files',
  },
  {
    files: 'agent/sessions/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/{session-files,sessions}.ts'],
    why: 'the sessions of all agents on this machine; knows the readers and no agent',
  },
  { files: 'agent/turns/*', may: ['protocol/*'], why: 'pure: no Node, no clock, no files' },
  {
    files: 'agent/format/*',
    may: ['protocol/*', 'mdast', 'mdast-util-from-markdown', 'mdast-util-gfm', 'micromark-extension-gfm'],
    why: 'text into text: no Node',
  },
  {
    files: 'agent/workflows/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/{footprint,footprints}.ts', 'smol-toml'],
    why: 'reads workflow files, and knows no coding agent',
  },

  {
    files: 'hooks/*',
    may: [
      'protocol/*',
      'node',
      'agent/{binding,config,crypto,paths,process}.ts',
      'agent/{fs,mailbox,turns}/*',
      'agent/format/{summary,redact}.ts',
      'agent/drivers/**',
    ],
    why: 'what needs no package and starts in milliseconds',
  },
  {
    files: 'scripts/**',
    may: ['node', '{protocol,agent,hooks,scripts,test}/**', 'package.json', 'esbuild', 'undici'],
    why: 'over the built parts: no Worker source',
  },
];

/** Where a process starts: importing one runs it. */
const entries = [
  'agent/cli.ts',
  'agent/dev/relay-process.ts',
  'agent/heavy/work.ts',
  'hooks/fallback.ts',
  'worker/index.ts',
];

const drivers = 'agent/drivers/{registry,footprints,workstations,session-files}.ts';
const agents = ['agent/drivers/*/*', drivers, 'agent/owned/acp/*', 'protocol/README.md', 'protocol/texts/*/owned.ts'];

/** Where a coding agent or a phone platform stands by its name, in code, comment or help. */
const namedIn: Readonly<Record<string, readonly string[]>> = {
  // The folder of the two files is an open contract, and the echo agent imitates one host.
  gemini: [...agents, 'protocol/files.ts', 'agent/dev/echo-agent.ts'],
  claude: agents,
  codex: agents,
  telegram: [
    ...['worker/telegram/*', 'worker/platforms.ts', 'agent/dev/**', 'agent/setup/**'],
    // The settings, which have its name: who reads them, asks a person for them or hides them.
    ...['protocol/telegram-settings.ts', 'agent/process.ts', 'agent/doctor/{secrets,webhook}.ts'],
    ...['agent/commands/{dev,relay,setup,start,uninstall}.ts', 'agent/approvals/danger/own-commands.ts'],
    // What a person or an agent types.
    ...['agent/command-line/{set-up,try-out}.ts', 'protocol/polling.ts'],
  ],
};

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'architecture.md');
const files = ['protocol', 'worker', 'agent', 'hooks', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => posix.join(folder, name.replaceAll(sep, '/'))),
);
const productFiles = ['protocol', 'worker', 'agent', 'hooks'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(relative(root, entry.parentPath).replaceAll(sep, '/'), entry.name)),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** Files by their path below the root, else what the import names; also of types, and those that run later. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'));
  return importedFiles.map(({ fileName }) =>
    fileName.startsWith('.') ? posix.join(posix.dirname(file), fileName) : fileName,
  );
}

function fits(pattern: string, path: string): boolean {
  const source = pattern.replace(/\*\*|[.*{},]/g, (sign) => {
    const signs: Record<string, string> = { '**': '.*', '*': '[^/]*', '{': '(?:', '}': ')', ',': '|' };
    return signs[sign] ?? `\\${sign}`;
  });
  return new RegExp(`^${source}$`).test(path);
}

const roomOf = (file: string) => rooms.findLast((room) => fits(room.files, file));

function mayImport(file: string, imported: string): boolean {
  const may = roomOf(file)?.may ?? [];
  if (imported.startsWith('node:')) return may.includes('node');
  if (imports.has(imported) && dirname(imported) === dirname(file)) return true;
  const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0] ?? '';
  return may.some((each) => fits(each, imported) || each === packageName);
}

it('every file belongs to a row of the table, and every row has files', () => {
  expect(files.filter((file) => !roomOf(file))).toEqual([]);
  expect(rooms.filter((room) => !files.some((file) => roomOf(file) === room))).toEqual([]);
});

it('every file imports only what its row allows', () => {
  const wrong = [...imports].flatMap(([file, all]) =>
    all
      .filter((each) => !each.startsWith('agent/dev/phone/') && !mayImport(file, each))
      .map((each) => `${file} -> ${each}`),
  );
  expect(wrong).toEqual([]);
});

it.each([
  ['protocol/lines.ts', 'node:fs'],
  ['protocol/lines.ts', 'valibot'],
  ['worker/poll.ts', 'agent/log.ts'],
  ['worker/mailbox/tables/log.ts', 'worker/telegram/send.ts'],
  ['agent/paths.ts', 'undici'],
  ['agent/service/systemd.ts', 'agent/relay/client.ts'],
  ['agent/turns/rules.ts', 'agent/mailbox/update.ts'],
  ['agent/relay/pull.ts', 'agent/session/turns.ts'],
  ['agent/drivers/gemini/hook-io.ts', 'node:path'],
  ['agent/mcp/tools.ts', 'agent/journal/journal.ts'],
  ['hooks/gate.ts', 'agent/format/render.ts'],
  ['scripts/chaos.ts', 'worker/poll.ts'],
])('%s may not import %s', (file, imported) => {
  expect(files).toContain(file);
  expect(mayImport(file, imported)).toBe(false);
});

it('every row allows only what some file of it imports', () => {
  const idle = rooms.flatMap((room) => {
    const all = files.filter((file) => roomOf(file) === room).flatMap((file) => imports.get(file) ?? []);
    const isUsed = (may: string) =>
      all.some((each) => fits(may, each) || each.startsWith(`${may}:`) || each.startsWith(`${may}/`));
    return room.may.filter((may) => !isUsed(may) && !may.includes('*')).map((may) => `${room.files} -> ${may}`);
  });
  expect(idle).toEqual([]);
});

it.each(Object.entries(namedIn))('%s is named only in its rooms and in the lists of such rooms', (name, places) => {
  const naming = productFiles.filter((file) =>
    new RegExp(name, 'i').test(file.endsWith('.json') ? '' : readFileSync(join(root, file), 'utf8')),
  );
  expect(naming.filter((file) => !places.some((place) => fits(place, file)))).toEqual([]);
  expect(places.filter((place) => !naming.some((file) => fits(place, file)))).toEqual([]);
});

it('no file imports one that a process starts with', () => {
  const wrong = [...imports].flatMap(([file, all]) =>
    all.filter((each) => entries.includes(each)).map((each) => `${file} -> ${each}`),
  );
  expect(wrong).toEqual([]);
});

it('no files import each other in a circle', () => {
  expect(circles()).toEqual([]);
});

it('the page shows the table', () => {
  const text = readFileSync(page, 'utf8');
  const [before = '', after = ''] = text.split(/(?<=<!-- directions -->\n).*(?=<!-- end of directions -->)/s);
  expect(after).not.toBe('');
  const code = (paths: readonly string[]) => paths.map((each) => (each === 'node' ? 'Node' : `\`${each}\``)).join(', ');
  const lines = rooms.map(({ files: own, may, why }) => `| ${code([own])} | ${code(may) || 'nothing'} | ${why} |`);
  const table = ['| files | may import, beside their own folder | why |', '| --- | --- | --- |', ...lines, ''].join(
    '\n',
  );
  const current = `${before}\n${table}\n${after}`;
  if (process.env.WA_WRITE_DOCS) writeFileSync(page, current);
  else expect(text, 'stale: run WA_WRITE_DOCS=1 npx vitest run test/architecture.test.ts').toBe(current);
});

/** Each group of files that reach each other, as their sorted paths. */
function circles(): string[] {
  const reach = new Map(files.map((file) => [file, reachedFrom(file)]));
  const groups = files.flatMap((file) => {
    const group = [...(reach.get(file) ?? [])].filter((other) => reach.get(other)?.has(file));
    return group.length === 0 ? [] : [group.sort().join(' ')];
  });
  return [...new Set(groups)];
}

function reachedFrom(file: string): Set<string> {
  const reached = new Set<string>();
  const open = [file];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of imports.get(at) ?? []) {
      if (!imports.has(next) || reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}
