// The capabilities and the owner of the phone behind a mailbox, which come with every poll. Pure.

import { isLanguage, type Language } from './languages.ts';
import { relayLimits } from './limits.ts';

/** What a platform can do. */
export interface Capabilities {
  /** Messages can be edited in place. */
  edit: boolean;
  reactions: boolean;
  topics: boolean;
  buttons: boolean;
  /** A message can open the field in which it is answered. */
  replyField: boolean;
  /** The phone offers a list of commands. */
  menu: boolean;
  /** An accepted message is only on its way: whether it arrived comes later, as an event. */
  confirms: boolean;
  /** UTF-16 units of one message, from `minText` to `relayLimits.partUnits`. */
  maxText: number;
}

export interface Phone extends Capabilities {
  platform: string;
  /** The user of a private chat; null = a group. */
  owner: string | null;
  /** Of the chat: what the owner reads there. */
  language: Language;
  /** In the long run the chat takes one message in this time. */
  messageEveryMs: number;
}

/** Less would not hold a part's number and a word. */
const minText = 64;

export function isPhone(value: unknown): value is Phone {
  if (typeof value !== 'object' || value === null) return false;
  const { platform, owner, language, messageEveryMs, maxText, ...rest } = value as Record<string, unknown>;
  const switches = ['edit', 'reactions', 'topics', 'buttons', 'replyField', 'menu', 'confirms'].map(
    (name) => rest[name],
  );
  return (
    isShort(platform) &&
    (owner === null || isShort(owner)) &&
    isLanguage(language) &&
    isWhole(messageEveryMs, 0, 24 * 3_600_000) &&
    isWhole(maxText, minText, relayLimits.partUnits) &&
    switches.every((each) => typeof each === 'boolean')
  );
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 64;
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
