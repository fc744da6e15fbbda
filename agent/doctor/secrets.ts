// Secrets where others find them: in a file that git tracks, in the environment of a shell. Says where, never what.

import { lstat } from 'node:fs/promises';
import { mailboxFolder } from '../../protocol/files.ts';
import { botTokenPattern, ownerSecrets } from '../../protocol/telegram-settings.ts';
import { pathBelow } from '../fs/below.ts';
import { excludeFromGit, gitTakes, trackedWith } from '../fs/git.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';
import type { World } from './world.ts';

export const secretChecks: readonly Check[] = [
  { name: 'environment', run: environment },
  { name: 'tracked-token', run: trackedToken },
  { name: 'git', run: git },
];

async function environment({ env }: World): Promise<Finding[]> {
  const given = ownerSecrets.filter((name) => env[name]);
  if (given.length === 0) return [ok('environment', 'no secret of the relay is in the environment')];
  const names = given.join(' and ');
  const evidence = `${names} in the environment: a coding agent that is started from this shell can read it and act as you`;
  return [fail('environment', evidence, `unset ${given.join(' ')}, and remove it from the files of your shell`)];
}

async function trackedToken(world: World): Promise<Finding[]> {
  const known = world.config();
  const token = known.ok ? known.value.relay?.token : undefined;
  // A short value would be found everywhere.
  const own = token !== undefined && token.length >= 16 ? [token.replace(/[.[\]()*+?{}|^$\\]/g, '\\$&')] : [];
  const folders = [...(await world.folders()), world.dirs.config];
  const found = await Promise.all(
    folders.map(async (dir) => {
      const files = await trackedWith(dir, [botTokenPattern, ...own]);
      if (!Array.isArray(files)) return files.reason === undefined ? [] : [skipped('tracked-token', files.reason)];
      return files.map((file) =>
        fail(
          'tracked-token',
          `git tracks a token in ${file}`,
          'Remove it from the file, and make a new token: the history of the repository keeps the old one.',
        ),
      );
    }),
  );
  return found.flat().length > 0 ? found.flat() : [ok('tracked-token', 'git tracks no token in the bound folders')];
}

/** The two files hold what was said on the phone. */
async function git(world: World): Promise<Finding[]> {
  const folders = await world.folders();
  const found = await Promise.all(
    folders.map(async (dir) => {
      const mailbox = await pathBelow(dir, mailboxFolder);
      const hasMailbox = await lstat(`${mailbox}/wa_inbox.json`).then(
        () => true,
        () => false,
      );
      const why = hasMailbox ? await gitTakes(mailbox) : undefined;
      if (why === undefined) return [];
      const isTracked = why.endsWith('is tracked');
      const step = isTracked
        ? 'Run `git rm --cached` for the file, commit, and start wa-sync again.'
        : 'Run `wa-sync doctor --fix`: it adds the names to .git/info/exclude.';
      const exclude = async () => {
        await excludeFromGit(dir);
        return `the mailbox of ${dir} stands in .git/info/exclude now`;
      };
      return [fail('git', `git would commit the messages of the phone: ${why}`, step, isTracked ? undefined : exclude)];
    }),
  );
  return found.flat().length > 0 ? found.flat() : [ok('git', 'git would commit no mailbox')];
}
