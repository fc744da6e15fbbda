import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { allDrivers } from '../agent/drivers/registry.ts';
import packageJson from '../package.json' with { type: 'json' };
import { findCommand, phoneCommands } from '../protocol/commands.ts';
import { errorCodes, isErrorCode } from '../protocol/errors.ts';
import { fileLimits, hookLimits, relayLimits } from '../protocol/limits.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'protocol/README.md',
  ...filesBelow('docs').filter((path) => path.endsWith('.md')),
];
/** What a user reads. */
const guides = [
  'README.md',
  ...['first-message', 'using', 'hooks', 'relay', 'configuration', 'troubleshooting'].map((name) => `docs/${name}.md`),
];
const sources = ['agent', 'worker', 'hooks', 'protocol'].flatMap(filesBelow).filter((path) => path.endsWith('.ts'));

/** Every first group of `pattern`, with the file that has it. */
function named(files: readonly string[], pattern: RegExp): { file: string; name: string }[] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map((match) => ({ file, name: match[1] ?? '' })));
}

/** First cells of the rows of every table whose first column has this heading; one entry per name in backticks. */
function firstColumn(page: string, heading: string): string[] {
  const tables = read(page).split(/\n\n+/);
  const rows = tables.filter((part) => part.startsWith(`| ${heading} |`)).flatMap((part) => part.split('\n').slice(2));
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''));
}

function help(...args: string[]): string {
  return execFileSync(process.execPath, [join(root, 'dist', 'wa-sync.js'), ...args, '--help'], { encoding: 'utf8' });
}

const commands = [...help().matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map((match) => match[1] ?? '');

it('every path in backticks exists', () => {
  const paths = named(
    pages,
    /`((?:agent|worker|hooks|protocol|test|scripts|docs|\.ci)\/[\w./-]*|(?:biome|package)\.json)`/g,
  );
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter(({ name }) => !existsSync(join(root, name)))).toEqual([]);
});

it('every link between the pages has a target', () => {
  const links = named(pages, /\]\((?!https?:)([^)#\s]+)[^)]*\)/g);
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter(({ file, name }) => !existsSync(join(root, dirname(file), name)))).toEqual([]);
});

it('every error code has exactly one row with cause and repair, and no row is for an unknown code', () => {
  expect(firstColumn('docs/errors.md', 'code').sort()).toEqual([...errorCodes].sort());
  const rows = read('docs/errors.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.filter((row) => row.split(' | ').some((cell) => cell.replaceAll('|', '').trim() === ''))).toEqual([]);
});

it('the error table of the protocol names only known codes', () => {
  const codes = firstColumn('protocol/README.md', 'code');
  expect(codes).toContain('unauthorized');
  expect(codes.filter((code) => !isErrorCode(code))).toEqual([]);
});

it('the event table of the protocol is the list that the code has', () => {
  const rows = allDrivers().map(({ name, events }) => `| ${name} | ${Object.keys(events).join(', ')} |`);
  const page = read('protocol/README.md').split('\n');
  const heading = page.indexOf('| tool | events |');
  expect(page.slice(heading + 2, page.indexOf('', heading))).toEqual(rows);
});

it('the command table of the protocol is the list that the code has', () => {
  const rows = ['relay', 'daemon', 'halt'].map((by) =>
    phoneCommands
      .filter((command) => command.by === by)
      .flatMap(({ name, aliases }) => [name, ...aliases])
      .map((name) => `/${name}`),
  );
  const page = read('protocol/README.md').split('\n');
  const heading = page.indexOf('| answered by | commands |');
  const table = page.slice(heading + 2, page.indexOf('', heading));
  expect(table.map((row) => [...row.matchAll(/`(\/\w+)`/g)].map((match) => match[1]))).toEqual(rows);
});

it('every phone command that a page or a text of the program names exists', () => {
  const inPages = named(pages, /`\/([a-z]+)(?: [^`/]*)?`/g);
  const inTexts = named(
    sources,
    /(?<=[a-z,;:.] )\/([a-z]+)(?= (?:lists|releases|ends|halts|shows|off|on|on the phone)\b)/g,
  );
  // Routes of the relay, commands of Telegram's @BotFather, and the name that stands for any workflow.
  const others = ['healthz', 'v1', 'newbot', 'setprivacy', 'deletebot', 'name'];
  const all = [...inPages, ...inTexts].filter(({ name }) => !others.includes(name));
  expect(all.length).toBeGreaterThan(15);
  expect(all.filter(({ name }) => findCommand(name) === undefined)).toEqual([]);
});

it('every limit that a page names exists', () => {
  const limits: Record<string, object> = { relayLimits, fileLimits, hookLimits };
  const full = named(pages, /\b((?:relay|file|hook)Limits\.\w+)/g);
  const unknown = full.filter(({ name }) => {
    const [group = '', key = ''] = name.split('.');
    return !Object.hasOwn(limits[group] ?? {}, key);
  });
  expect(unknown).toEqual([]);
  const wireFields = ['holdMs', 'retryAfterMs', 'messageEveryMs'];
  const short = named(['protocol/README.md'], /`([a-z]+[A-Za-z]*(?:Bytes|Ms|PerCall|PerMinute))`/g);
  const known = [...Object.values(limits).flatMap(Object.keys), ...wireFields];
  expect(short.filter(({ name }) => !known.includes(name))).toEqual([]);
});

it('every command that a page or a text of the program names exists', () => {
  expect(commands).toContain('start');
  const inPages = named(pages, /`(?:npx )?wa-sync ([a-z]+)/g);
  const inGuides = named(guides, /^ {4}(?:npx )?wa-sync ([a-z]+)/gm);
  // A backtick behind a word quotes a command; any other begins a text.
  const inSources = named(sources, /(?<=[a-zA-Z,;] |\\)`(?:npx )?wa-sync ([a-z]+)/g);
  expect(inSources.length).toBeGreaterThan(20);
  const inHints = named(sources, /hint:[^\n]*?(?:: |[Rr]un |with )wa-sync ([a-z]+)/g);
  const all = [...inPages, ...inGuides, ...inSources, ...inHints];
  expect(all.filter(({ name }) => !commands.includes(name))).toEqual([]);
});

it('every option that a guide gives a command exists', () => {
  const text = guides.map(read).join('\n');
  const calls = [...text.matchAll(/(?:wa-sync (dev|hooks|status|send|start)|npm run (dev) --)((?: +[^\s`|]+)*)/g)];
  const wrong = calls.flatMap(([, direct, script, rest = '']) => {
    const command = direct ?? script ?? '';
    const known = help(command);
    return [...rest.matchAll(/--[a-z-]+/g)]
      .filter(([option]) => !known.includes(option))
      .map(([o]) => `${command} ${o}`);
  });
  expect(calls.length).toBeGreaterThan(5);
  expect(wrong).toEqual([]);
});

it('every npm script that a page names exists', () => {
  const scripts = named(pages, /npm run ([\w:]+)/g);
  expect(scripts.filter(({ name }) => !Object.hasOwn(packageJson.scripts, name))).toEqual([]);
});

it('every variable of the configuration page is read somewhere', () => {
  const code = sources.map(read).join('\n');
  const variables = firstColumn('docs/configuration.md', 'variable');
  expect(variables).toContain('WA_RELAY_URL');
  expect(variables.filter((name) => !code.includes(name))).toEqual([]);
});

it('every dependency has a record that says why, and no record is left of one that went', () => {
  const dependencies = Object.keys(packageJson.devDependencies);
  expect(firstColumn('docs/decisions/0001-dependencies.md', 'package').sort()).toEqual(dependencies.sort());
});

it('the dependencies that stand under "Bundled" are those that the build puts into dist', () => {
  const [, bundled = ''] = read('docs/decisions/0001-dependencies.md').split(/^## /m);
  const listed = [...bundled.matchAll(/^\| (`.*?) \|/gm)].flatMap((row) => row[1]?.match(/[^`, ]+/g) ?? []);
  const inputs = readdirSync(join(root, 'dist'))
    .filter((name) => name.endsWith('.meta.json'))
    .flatMap((name) => Object.keys(JSON.parse(read(join('dist', name))).inputs));
  const packages = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]));
  const dependencies = Object.keys(packageJson.devDependencies);
  expect(listed.sort()).toEqual(dependencies.filter((name) => packages.has(name)).sort());
});

it('every dependency is pinned to one version', () => {
  const versions = Object.entries(packageJson.devDependencies);
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
});

it('every file that a page links to is in the package', () => {
  const links = named(['README.md'], /\]\((?!https?:)([^)#\s]+)[^)]*\)/g).map(({ name }) => name);
  const always = ['LICENSE'];
  const packed = (name: string) => [...packageJson.files, ...always].some((each) => `${name}/`.startsWith(`${each}/`));
  expect(links.filter((name) => !packed(name))).toEqual([]);
});

it('the README fits on one page', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150);
});
