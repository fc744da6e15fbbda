// When the end of a turn waits for the phone instead of giving the keyboard back. Pure.

export type HoldPolicy = 'auto' | 'always' | 'never';

export interface HoldView {
  policy: HoldPolicy;
  /** The owner has turned away on. */
  away: boolean;
  /** A message from the phone started the turn, and no person was seen at the terminal since. */
  fromPhone: boolean;
  /** No person was seen at the terminal for `presence.awayAfter`. */
  nobody: boolean;
  /** A person's terminal. A headless run would never end. */
  interactive: boolean;
  /** The host takes a prompt from a queue at any time, so a wait would only take the keyboard. */
  queues?: boolean;
}

export function wantsHold({ policy, away, fromPhone, nobody, interactive, queues }: HoldView): boolean {
  if (!interactive || policy === 'never' || (queues && policy !== 'always')) return false;
  return policy === 'always' || away || fromPhone || nobody;
}

/** On the screen before the wait begins: during it, the host shows only that a hook runs. */
export const holdNotice =
  'wa-sync: after this turn the terminal waits for your phone. Any key gives the keyboard back.';

/** On the screen when a key or a prompt has ended the wait. */
export const backNotice = 'wa-sync: the wait for the phone is over; the keyboard is yours.';
export const awayOverNotice = 'wa-sync: welcome back, away is off.';
