// Which Node a launcher looks for, and where: those of the system first, which outlive the version managers, then the one that ran
// the installation under a name that its manager keeps, then what the managers have now.

import { existsSync } from 'node:fs';

/** The oldest that package.json promises. */
export const oldestNode = [20, 18, 1] as const;

export const systemNodes: readonly string[] = [
  '/usr/bin/node',
  '/usr/local/bin/node',
  '/opt/homebrew/bin/node',
  '/opt/local/bin/node',
];

/** Below the home folder; `*` = each entry of a folder. */
export const managedNodes: readonly string[] = [
  '.volta/bin/node',
  '.local/share/fnm/aliases/default/bin/node',
  '.local/share/mise/installs/node/latest/bin/node',
  '.asdf/shims/node',
  '.nvs/default/bin/node',
  'n/bin/node',
  '.nvm/versions/node/*/bin/node',
  '.local/share/mise/installs/node/*/bin/node',
  '.local/share/fnm/node-versions/*/installation/bin/node',
  '.asdf/installs/nodejs/*/bin/node',
  '.nodenv/versions/*/bin/node',
];

interface Manager {
  /** What stands before and after the version in a path, and the path below the first part that follows upgrades. */
  before: string;
  after: string;
  stable: string;
}

const managers: readonly Manager[] = [
  { before: '/.nvm/versions/node/', after: '/bin/node', stable: '/.nvm/current/bin/node' },
  { before: '/.volta/tools/image/node/', after: '/bin/node', stable: '/.volta/bin/node' },
  { before: '/fnm/node-versions/', after: '/installation/bin/node', stable: '/fnm/aliases/default/bin/node' },
  { before: '/mise/installs/node/', after: '/bin/node', stable: '/mise/installs/node/latest/bin/node' },
  { before: '/.asdf/installs/nodejs/', after: '/bin/node', stable: '/.asdf/shims/node' },
  { before: '/.nvs/node/', after: '/bin/node', stable: '/.nvs/default/bin/node' },
  { before: '/Cellar/node/', after: '/bin/node', stable: '/opt/node/bin/node' },
];

/** The running Node, before it the name under which its version manager or Homebrew keeps the newest, when there is one. */
export function recordedNodes(execPath: string, exists: (path: string) => boolean = existsSync): string[] {
  const stable = managers.flatMap(({ before, after, stable }) => {
    const at = execPath.indexOf(before);
    return at > 0 && execPath.endsWith(after) ? [execPath.slice(0, at) + stable] : [];
  });
  return [...stable.filter(exists), execPath];
}
