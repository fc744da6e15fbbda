// The files of the phone page as text, by their paths: from the bundle if there is one, else from the source tree.

import { readFile } from 'node:fs/promises';

export type PhoneAssets = ReadonlyMap<string, { type: string; text: string }>;

/** Set by the bundler. */
declare const __VERSION__: string | undefined;

const bundled = {
  'phone.html': () => import('./phone/phone.html'),
  'phone.css': () => import('./phone/phone.css'),
  'phone.client.js': () => import('./phone/phone.client.js'),
  'composer.client.js': () => import('./phone/composer.client.js'),
  'elements.client.js': () => import('./phone/elements.client.js'),
};

export async function phoneAssets(): Promise<PhoneAssets> {
  const files = await Promise.all(
    Object.entries(bundled).map(async ([name, load]) => {
      const text = typeof __VERSION__ === 'undefined' ? await fromSource(name) : (await load()).default;
      return [name === 'phone.html' ? '/' : `/${name}`, { type: typeOf(name), text }] as const;
    }),
  );
  return new Map(files);
}

function typeOf(name: string): string {
  const kind = name.endsWith('.js') ? 'javascript' : name.endsWith('.css') ? 'css' : 'html';
  return `text/${kind}; charset=utf-8`;
}

function fromSource(name: string): Promise<string> {
  return readFile(new URL(`./phone/${name}`, import.meta.url), 'utf8');
}
