import { readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
/** A tripwire against a library: what counts is the time over an empty Node script, which the bench measures. */
const maxFallbackBytes = 54_000;
const text = (name: string) => readFileSync(join(dist, name), 'utf8');

interface Metafile {
  inputs: Record<string, unknown>;
  outputs: Record<string, { imports: { path: string; external?: boolean }[] }>;
}

/** The rooms that the hook fallback shares with the daemon; none of them imports a package. */
const fallbackRooms = [
  /^hooks\/[\w-]+\.ts$/,
  /^protocol\/(?!relay-api)[\w-]+\.ts$/,
  /^agent\/(binding|config|crypto|paths|process)\.ts$/,
  /^agent\/(files|turns)\/[\w-]+\.ts$/,
  /^agent\/format\/(summary|redact|redaction-rule|secrets|personal)\.ts$/,
  /^agent\/drivers\/registry\.ts$/,
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

it('the hook fallback stays small, because its size is paid at the start of every hook', () => {
  expect(statSync(join(dist, 'wa-hook-fallback.cjs')).size).toBeLessThanOrEqual(maxFallbackBytes);
});

it('the hook fallback touches nothing that Node loads at the first look, which costs a hook more than its own work', () => {
  const late = /\b(performance|rmSync|structuredClone|webcrypto|fetch|AbortController)\b/g;
  expect(text('wa-hook-fallback.cjs').match(late)).toBeNull();
  // A helper of the bundler that copies a whole module.
  expect(text('wa-hook-fallback.cjs')).not.toContain('getOwnPropertyNames');
});

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
