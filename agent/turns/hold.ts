// When the end of a turn waits for the phone instead of giving the keyboard back. Pure.

export type HoldPolicy = 'auto' | 'always' | 'never';

export interface HoldView {
  policy: HoldPolicy;
  /** The owner has turned away on. */
  away: boolean;
  /** A message from the phone started the turn; a prompt that was typed at the terminal does not count. */
  fromPhone: boolean;
  /** A person's terminal. A headless run would never end. */
  interactive: boolean;
}

export function wantsHold({ policy, away, fromPhone, interactive }: HoldView): boolean {
  if (!interactive || policy === 'never') return false;
  return policy === 'always' || away || fromPhone;
}

/** On the screen before the wait begins: during it, the host shows only that a hook runs. */
export const holdNotice =
  'wa-sync: after this turn the terminal waits for messages from the phone. Esc gives the keyboard back.';
