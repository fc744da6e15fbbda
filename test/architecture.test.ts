// Who may import whom, and who may name whom. The table of rooms is printed into docs/architecture.md
// (WA_WRITE_DOCS=1 npx vitest run test/architecture.test.ts).
// A type import counts as any other.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { rooms } from './architecture-table.ts';

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
