// The licences of the packages that are bundled: what THIRD_PARTY_LICENSES says, and which licences may be in it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

const allowed = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'Unlicense', 'CC0-1.0']);

export interface BundledPackage {
  name: string;
  version: string;
  /** The SPDX expression of its package.json. */
  licence: string;
  text: string;
}

/** Folders below `root` of the packages of which at least one byte is in an output. */
export function bundledFolders(metafiles: readonly Pick<Metafile, 'outputs'>[]): string[] {
  const outputs = metafiles.flatMap(({ outputs }) => Object.values(outputs));
  const inputs = outputs.flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []);
  return [...new Set(folders)].sort();
}

/** Throws for a package without a text that a copy of it could carry. */
export function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(file));
  if (files.length === 0) throw new Error(`${name} ${version} is bundled and has no licence file in ${folder}`);
  const text = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { name, version, licence: typeof license === 'string' ? license : 'none', text: text.join('\n\n') };
}

/** The content of THIRD_PARTY_LICENSES. Throws when a licence is not among the allowed ones. */
export function thirdPartyLicences(packages: readonly BundledPackage[]): string {
  const refused = packages.filter(({ licence }) => !isAllowed(licence));
  if (refused.length > 0) {
    const list = refused.map(({ name, version, licence }) => `${name} ${version} (${licence})`).join(', ');
    throw new Error(`bundled under a licence that is not allowed: ${list}; allowed are ${[...allowed].join(', ')}`);
  }
  const sections = packages.map(
    ({ name, version, licence, text }) => `${'-'.repeat(80)}\n${name} ${version} (${licence})\n\n${text}\n`,
  );
  return `wa-sync contains code of these packages, each under its own licence.\n\n${sections.join('\n')}`;
}

/** One identifier, or a choice of which one is enough; anything else wants a person. */
function isAllowed(licence: string): boolean {
  const choices = /^\(([^()]+)\)$/.exec(licence)?.[1] ?? licence;
  return choices.split(' OR ').some((each) => allowed.has(each));
}
