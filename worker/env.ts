// The only reader of the Worker's settings: checked once, frozen, closed when something is missing.

import { checkSettings, type HintFor, type RelayVariables, type Settings } from '../protocol/relay-settings.ts';

export type { Settings };

const checked = new WeakMap<object, Settings>();

export const secretHint: HintFor = (name) => `set it: \`npx wrangler secret put ${name}\``;

/** Raises `misconfigured`, naming the setting and never its value when that is a secret. */
export function readSettings(env: RelayVariables): Settings {
  const known = checked.get(env);
  if (known) return known;
  const settings = Object.freeze(checkSettings(env, secretHint));
  checked.set(env, settings);
  return settings;
}
