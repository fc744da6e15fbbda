// Where the mailbox of a project lies, and whether its files may be looked at: not before what came with the repository is
// settled, and not while git would commit them. Decides for everybody; hooks and commands read what it wrote down.

import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { projectKey } from '../../protocol/ids.ts';
import type { Binding, Config } from '../config.ts';
import { gitTakes, indexMark } from '../fs/git.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { stateFiles } from '../paths.ts';
import { settleEarlier } from './earlier.ts';
import { ensureMailbox, excludeFromGit, locateMailbox, type MailboxPlace, projectGone } from './location.ts';
import { boundFolder, forgetBound, rememberBound } from './served.ts';
import type { Signer } from './signing.ts';

export interface MailboxDeps {
  config: Config;
  project: ProjectState;
  signer: Signer;
  clock: () => number;
  log: Log;
  /** To the phone; the same `about` once. */
  tell(about: string, text: string): Promise<void>;
  onQuarantined(aside: { path: string; salvaged: number }): void;
}

export interface OpenMailbox {
  readonly place: MailboxPlace;
  /** Why it does not lie where one would look for it, with the repair. */
  readonly note: string | undefined;
  /** Before the files are read. Errors: `file_unusable`, and those of the files at the first look. */
  admit(): Promise<void>;
  /** After they were read, without waiting: what was read may be used. Never throws. */
  isAdmitted(): Promise<boolean>;
  /** Git would commit the files: no hook uses them either, and the journal alone says what was given. */
  isLeftOut(): boolean;
  /** Before they are written: the folder is there, too. Errors: those of `ensureMailbox` as well. */
  prepare(): Promise<void>;
}

/** Errors: `outside_project`. */
export async function openMailbox(binding: Binding, deps: MailboxDeps): Promise<OpenMailbox> {
  const { config, project, clock, log } = deps;
  const key = projectKey(binding.mailbox, binding.project);
  const chosen = config.mailboxDir === undefined ? undefined : join(config.mailboxDir, key);
  const apart = join(stateFiles(config.dirs.state).mailboxes, key);
  const wanted = await locateMailbox({ projectDir: binding.dir, override: chosen });
  if (wanted.inProject) await excludeFromGit(binding.dir).catch(() => {});
  /** What git was asked about last, and what it said. */
  let asked = { ...(await indexMark(wanted.dir)), reason: await gitTakes(wanted.dir) };
  const before = await boundFolder(config.dirs.config, binding);
  // Once apart it stays so: what is unread there must not be forgotten when git changes its mind.
  const isApart = asked.reason !== undefined || (before?.mailboxDir === apart && (await isFolder(apart)));
  const override = isApart ? apart : chosen;
  const place = await locateMailbox({ projectDir: binding.dir, override });
  const note = isApart ? apartNote(wanted.dir, apart, asked.reason) : undefined;
  let isBound = false;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    await askGit();
    if (!isBound) await bind();
  }

  async function askGit(): Promise<void> {
    if (isApart) return;
    const seen = await whenUnlocked(place.dir);
    if (seen.mark !== asked.mark || asked.lock !== undefined) {
      if (place.inProject) await excludeFromGit(binding.dir).catch(() => {});
      asked = { ...seen, reason: await gitTakes(place.dir) };
    }
    if (asked.reason === undefined) return;
    const what = `git would commit the messages in ${place.dir}: ${asked.reason}`;
    const hint =
      'Run `wa-sync down` and start wa-sync again: it then uses a folder outside of the repository. Until then messages pass without the files.';
    // Whatever git has put there is treated like the files of a fresh clone, also by hooks and by the next daemon.
    isBound = false;
    await forgetBound(config.dirs.config, binding);
    await tell(`taken_${key}_${asked.reason}`, `${what}. ${hint}`);
    throw new WaError('file_unusable', what, { hint });
  }

  async function bind(): Promise<void> {
    const dir = await realpath(binding.dir).catch(() => {
      throw projectGone(binding.dir);
    });
    const known = await boundFolder(config.dirs.config, binding);
    if (known === undefined || known.mailboxDir !== (override ?? null)) {
      const { unread, unsent } = await settleEarlier(place, project, {
        now: clock,
        signer: deps.signer,
        onQuarantined: deps.onQuarantined,
      });
      if (unread + unsent > 0) {
        log('warn', 'messages from before the binding', { project: key, unread, unsent });
        await tell(`earlier_${key}_${place.dir}_${clock()}`, earlierText(dir, unread, unsent));
      }
    }
    await rememberBound(config.dirs.config, binding, override ?? null, clock());
    if (note !== undefined) {
      log('warn', 'mailbox apart', { project: key, dir: apart, reason: asked.reason ?? 'was before' });
      await tell(`apart_${key}_${apart}`, note);
    }
    isBound = true;
  }

  function tell(about: string, text: string): Promise<void> {
    return deps.tell(about, text).catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));
  }

  const admit = () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  return {
    place,
    note,
    admit,
    isLeftOut: () => !isApart && asked.reason !== undefined,
    async isAdmitted() {
      if (!isBound || isApart) return isBound;
      const { mark, lock } = await indexMark(place.dir);
      return asked.reason === undefined && lock === undefined && mark === asked.mark;
    },
    async prepare() {
      await admit();
      await ensureMailbox(place, binding.dir);
    },
  };
}

/** Errors: `file_unusable` when git has not ended by then, or was killed. */
async function whenUnlocked(dir: string): Promise<{ mark: string; lock: undefined }> {
  for (let waitedMs = 0; ; waitedMs += lockLookMs) {
    const { mark, lock } = await indexMark(dir);
    if (lock === undefined) return { mark, lock };
    if (waitedMs >= lockLimitMs) {
      throw new WaError('file_unusable', `git is at work in the repository of ${dir}: ${lock}`, {
        hint: `Nothing is lost, it is tried again. If no git runs there, remove ${lock}.`,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, lockLookMs));
  }
}

const lockLookMs = 20;
const lockLimitMs = 2_000;

function earlierText(dir: string, unread: number, unsent: number): string {
  const counts = [
    unread > 0 ? `${unread} for the coding agent` : undefined,
    unsent > 0 ? `${unsent} for the phone` : undefined,
  ].filter((text) => text !== undefined);
  const total = unread + unsent;
  const messages = `${total} ${total === 1 ? 'message' : 'messages'} (${counts.join(', ')})`;
  return `The mailbox files of ${dir} held ${messages} before wa-sync served them, perhaps from the repository itself. ${total === 1 ? 'It was' : 'They were'} marked as settled, neither given nor sent.`;
}

function apartNote(wanted: string, apart: string, reason: string | undefined): string {
  const why = reason === undefined ? 'git would have committed it once' : `git would commit it: ${reason}`;
  return `The mailbox of this project lies in ${apart} and not in ${wanted}, because ${why}. To have it in the project, untrack and ignore its wa_* files (git rm --cached), run \`wa-sync down\`, remove that folder and start wa-sync again.`;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}
