// The settings of the relay that every platform needs: names and forms. Checked by the Worker and by `wa-sync dev`,
// so that both refuse the same. Pure; never puts the value of a secret into an error.

import { WaError } from './errors.ts';
import { relayLimits } from './limits.ts';

/** The bindings of the Worker, or the environment of `wa-sync dev`. */
export type RelayVariables = { readonly [name: string]: unknown };

export interface Settings {
  /** Lower-case hex; one, or two during a rotation. */
  agentTokenHashes: readonly string[];
  /** How long a message waits for its workstation. */
  messageTtlMs: number;
}

/** Says how a setting is repaired where it was read. */
export type HintFor = (name: string) => string;

/** Raises `misconfigured`, naming the setting. */
export function checkSettings(env: RelayVariables, hintFor: HintFor): Settings {
  const agentTokenHashes = listOf(env.WA_AGENT_TOKEN_SHA256).map((hash) => hash.toLowerCase());
  if (
    agentTokenHashes.length < 1 ||
    agentTokenHashes.length > 2 ||
    !agentTokenHashes.every((hash) => /^[0-9a-f]{64}$/.test(hash))
  ) {
    throw misconfigured('WA_AGENT_TOKEN_SHA256', 'is not one or two SHA-256 sums in hex', hintFor);
  }
  const hours = textOf(env.WA_MESSAGE_TTL_HOURS);
  const ttlMs = messageTtlMs(hours);
  if (ttlMs === undefined) {
    const problem = `is not a number of hours from 1 to ${maxTtlHours}: ${hours}`;
    throw misconfigured('WA_MESSAGE_TTL_HOURS', problem, hintFor);
  }
  return { agentTokenHashes, messageTtlMs: ttlMs };
}

const maxTtlHours = 168;

/** Undefined = not a number of hours that is allowed. */
function messageTtlMs(text: string): number | undefined {
  if (text === '') return relayLimits.messageTtlMs;
  const hours = Number(text);
  return Number.isInteger(hours) && hours >= 1 && hours <= maxTtlHours ? hours * 3_600_000 : undefined;
}

export function misconfigured(name: string, problem: string, hintFor: HintFor): WaError {
  return new WaError('misconfigured', `the relay's ${name} ${problem}`, { hint: hintFor(name) });
}

export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

export function listOf(value: unknown): string[] {
  return textOf(value)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
