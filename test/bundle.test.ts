import { readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allDrivers } from '../agent/drivers/registry.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
/** A tripwire against a library: what counts is the time over an empty Node script, which the bench measures. */
const maxBundleBytes = 60_600;
const text = (name: string) => readFileSync(join(dist, name), 'utf8');

interface Metafile {
  inputs: Record<string, unknown>;
  outputs: Record<
    string,
    {
      entryPoint?: string;
      inputs: Record<string, { bytesInOutput: number }>;
      imports: { path: string; kind: string; external?: boolean }[];
    }
  >;
}

/** The rooms that the hook fallback shares with the daemon; none of them imports a package. */
const fallbackRooms = [
  /^hooks\/[\w-]+\.ts$/,
  /^protocol\/(?!relay-api)[\w-]+\.ts$/,
  /^agent\/(binding|config|crypto|paths|process)\.ts$/,
  /^agent\/(fs|mailbox|turns)\/[\w-]+\.ts$/,
  /^agent\/format\/summary\.ts$/,
  /^agent\/drivers\/(fields|hook-call|registry|session-file|session-folder)\.ts$/,
  /^agent\/drivers\/[\w-]+\/(driver|hook-io|session-log|tools)\.ts$/,
];

it('the hook fallback bundles only the rooms it may share with the daemon, and no package', () => {
  const { inputs } = JSON.parse(text('wa-hook-fallback.meta.json')) as Metafile;
  expect(Object.keys(inputs)).toContain('hooks/fallback.ts');
  expect(Object.keys(inputs).filter((input) => !fallbackRooms.some((room) => room.test(input)))).toEqual([]);
});

it('the hook fallback asks for nothing but Node itself when it runs', () => {
  const { outputs } = JSON.parse(text('wa-hook-fallback.meta.json')) as Metafile;
  const external = Object.values(outputs).flatMap((output) => output.imports.map(({ path }) => path));
  expect(external.filter((path) => !path.startsWith('node:'))).toEqual([]);
});

const agents = allDrivers().map(({ name }) => name);

describe.each(agents)('what the fallback runs for %s', (agent) => {
  const bundle = `wa-hook-${agent}.cjs`;

  it('has no payload and no session file of another agent', () => {
    const { outputs } = JSON.parse(text('wa-hook-fallback.meta.json')) as Metafile;
    const inputs = Object.entries(outputs[`dist/${bundle}`]?.inputs ?? {});
    const foreign = inputs.filter(([path]) =>
      agents.some((other) => other !== agent && path.startsWith(`agent/drivers/${other}/`)),
    );
    // The name alone.
    for (const [path, { bytesInOutput }] of foreign) expect([path, bytesInOutput < 50]).toEqual([path, true]);
    expect(inputs.map(([path]) => path)).toContain(`agent/drivers/${agent}/hook-io.ts`);
  });

  it('stays small, because its size is paid at the start of every hook', () => {
    expect(statSync(join(dist, bundle)).size).toBeLessThanOrEqual(maxBundleBytes);
  });

  it('is ASCII, because Latin-1 is what Node reads fastest', () => {
    expect(text(bundle).match(/[^\t\n -~]/)).toBeNull();
  });

  it('touches nothing that Node loads at the first look, which costs a hook more than its own work', () => {
    const late = /\b(performance|rmSync|structuredClone|webcrypto|fetch|AbortController)\b/g;
    expect(text(bundle).match(late)).toBeNull();
    // A helper of the bundler that copies a whole module.
    expect(text(bundle)).not.toContain('getOwnPropertyNames');
  });
});

it('the program asks for nothing but Node itself and its own files, so that no package is installed with it', () => {
  const { outputs } = JSON.parse(text('wa-sync.meta.json')) as Metafile;
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  const modules = imports.filter(({ external }) => external).map(({ path }) => path);
  expect(modules).toContain('node:fs/promises');
  expect(modules.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))).toEqual([]);
});

it.each([
  ['wa-sync.js', ['commander']],
  ['relay-process.js', []],
])('%s loads no other package at its start, whatever a command loads later', (name, packages) => {
  const { outputs } = JSON.parse(text('wa-sync.meta.json')) as Metafile;
  const inputs = atStart(outputs, `dist/${name}`).flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  const named = inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  expect([...new Set(named)]).toEqual(packages);
});

it.each([
  ['agent/commands/start.ts', 'zod'],
  ['agent/commands/start.ts', '@modelcontextprotocol/sdk'],
  ['agent/commands/start.ts', 'mdast-util-from-markdown'],
  ['agent/commands/start.ts', 'hono'],
  ['agent/commands/hooks.ts', 'undici'],
  ['agent/commands/start.ts', 'undici'],
  ['agent/commands/status.ts', 'undici'],
])('%s starts without %s', (command, name) => {
  const { outputs } = JSON.parse(text('wa-sync.meta.json')) as Metafile;
  const [entry = ''] = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === command ? path : [],
  );
  expect(entry).not.toBe('');
  const inputs = atStart(outputs, entry).flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  expect(inputs.filter((path) => path.includes(`node_modules/${name}/`))).toEqual([]);
});

/** The output and all that it imports without a condition. */
function atStart(outputs: Metafile['outputs'], path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
    if (kind === 'import-statement' && !external) atStart(outputs, next, seen);
  }
  return [...seen];
}

it('the Worker is one file that imports nothing but what workerd itself has', () => {
  const named = [...text('worker.js').matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*["']([^"'\n]+)["']/g)];
  const modules = new Set(named.map((match) => match[1] ?? ''));
  const foreign = [...modules].filter((name) => name.startsWith('node:') || builtinModules.includes(name));
  expect(foreign).toEqual([]);
  expect([...modules].filter((name) => name.startsWith('cloudflare:'))).toEqual(['cloudflare:workers']);
});

it('what is shipped names no folder of the machine that built it', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(dist, name)).isFile(),
  );
  expect(files).toContain('wa-sync.js');
  expect(files.filter((name) => text(name).includes(join(root, 'agent')))).toEqual([]);
});

it('what a person or a tool executes is executable and says how', () => {
  const head = (name: string) => text(name).split('\n', 1)[0];
  expect([head('wa-sync.js'), head('wa-hook')]).toEqual(['#!/usr/bin/env node', '#!/bin/sh']);
  for (const name of ['wa-sync.js', 'wa-hook']) expect(statSync(join(dist, name)).mode & 0o111).toBe(0o111);
});
