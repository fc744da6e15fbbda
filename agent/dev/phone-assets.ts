// The files of the phone page as text: from the bundle if there is one, else from the source tree.

import { readFile } from 'node:fs/promises';

export interface PhoneAssets {
  html: string;
  css: string;
  script: string;
}

/** Set by the bundler. */
declare const __VERSION__: string | undefined;

export async function phoneAssets(): Promise<PhoneAssets> {
  if (typeof __VERSION__ === 'undefined') return fromSource();
  const [html, css, script] = await Promise.all([
    import('./phone/phone.html'),
    import('./phone/phone.css'),
    import('./phone/phone.client.js'),
  ]);
  return { html: html.default, css: css.default, script: script.default };
}

async function fromSource(): Promise<PhoneAssets> {
  const read = (name: string) => readFile(new URL(`./phone/${name}`, import.meta.url), 'utf8');
  const [html, css, script] = await Promise.all([read('phone.html'), read('phone.css'), read('phone.client.js')]);
  return { html, css, script };
}
