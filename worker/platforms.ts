// The platforms of this relay: the one list, and which of them a mailbox belongs to.

import { WaError } from '../protocol/errors.ts';
import type { RelayVariables } from '../protocol/relay-settings.ts';
import type { Platform, PlatformKind } from './platform.ts';
import { telegram } from './telegram/platform.ts';

export const platformKinds: readonly PlatformKind[] = [telegram];

const connected = new WeakMap<RelayVariables, Map<PlatformKind, Platform>>();

/** Once for each kind and environment. Raises `misconfigured`. */
export function connect(kind: PlatformKind, variables: RelayVariables): Platform {
  const known = connected.get(variables) ?? new Map<PlatformKind, Platform>();
  connected.set(variables, known);
  const platform = known.get(kind) ?? kind.connect(variables, Date.now);
  known.set(kind, platform);
  return platform;
}

/** Raises `misconfigured`, also when a chat would belong to two platforms. */
export function connectAll(kinds: readonly PlatformKind[], variables: RelayVariables): Platform[] {
  const platforms = kinds.map((kind) => connect(kind, variables));
  const chatIds = platforms.flatMap((platform) => platform.chatIds);
  const double = chatIds.find((id, index) => chatIds.indexOf(id) !== index);
  const owners = platforms.filter((platform) => double !== undefined && platform.chatIds.includes(double));
  if (owners.length > 1) {
    const settings = owners.map(({ chatSetting }) => chatSetting).join(' and ');
    throw new WaError('misconfigured', `${settings} both name the chat ${double}`, {
      hint: `keep the chat in one of ${settings}`,
    });
  }
  return platforms;
}

/** Raises `unknown_mailbox`. */
export function platformOf(platforms: readonly Platform[], mailbox: string): Platform {
  const platform = platforms.find(({ chatIds }) => chatIds.includes(mailbox));
  if (platform !== undefined) return platform;
  const settings = platforms.map(({ chatSetting }) => chatSetting).join(' or ');
  throw new WaError('unknown_mailbox', `this relay does not serve the mailbox ${mailbox}`, {
    hint: `bind the project to a chat of ${settings}, or add the chat there`,
  });
}

/** The account that a mailbox was made for, also when its chat is no longer served. Raises `misconfigured`. */
export function platformNamed(platforms: readonly Platform[], account: string): Platform {
  const platform = platforms.find((each) => each.account === account);
  if (platform !== undefined) return platform;
  throw new WaError('misconfigured', `the relay no longer has the account ${account} of this mailbox`, {
    hint: `set the credentials of ${account} again`,
  });
}
