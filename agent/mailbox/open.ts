// Where the mailbox of a project lies, and whether its files may be looked at: not before what came with the repository is settled,
// and not while git would commit them. The daemon alone decides; hooks and commands read what it wrote down.

import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorCode, WaError } from '../../protocol/errors.ts';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import { textsIn } from '../../protocol/texts.ts';
import type { Binding, Config } from '../config.ts';
import { excludeFromGit, gitTakes, indexMark } from '../fs/git.ts';
import { sweepTemporary } from '../fs/sweep.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { stateFiles } from '../paths.ts';
import { isOurStop, isOurs } from './inbox-entries.ts';
import type { Entry, MailboxKind } from './merge.ts';
import {
  boundFolder,
  ensureMailbox,
  forgetBound,
  locateMailbox,
  type MailboxPlace,
  projectGone,
  rememberBound,
} from './served.ts';
import { outboxKey, type Signer } from './signing.ts';
import { patientLockMs, readMailbox, updateMailboxFile } from './update.ts';

export interface MailboxDeps {
  config: Config;
  project: ProjectState;
  signer: Signer;
  clock: () => number;
  log: Log;
  /** Sends a text to the phone; the same `about` once. */
  tell(about: string, text: string): Promise<void>;
  /** The file was no mailbox; its content lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
}

export interface OpenMailbox {
  readonly place: MailboxPlace;
  /** Why the mailbox lies in an unexpected place, with the repair. */
  readonly note: string | undefined;
  /** Called before the files are read; may wait. Errors: `file_unusable`, and those of the files at the first look. */
  admit(): Promise<void>;
  /** Called after the files were read; waits for nothing. True = what was read may be used. Never throws. */
  isAdmitted(): Promise<boolean>;
  /** True = git would commit the files: no hook uses them either, and the journal alone says what was given. */
  isLeftOut(): boolean;
  /** Called before the files are written: as `admit`, and makes the folder. Errors: those of `ensureMailbox` as well. */
  prepare(): Promise<void>;
}

/** Of the status. */
const english = textsIn('en').notes;

/** Also removes what killed writers left in the folder. Errors: `outside_project`. */
export async function openMailbox(binding: Binding, deps: MailboxDeps): Promise<OpenMailbox> {
  const { config, project, clock, log } = deps;
  const key = projectKey(binding.mailbox, binding.project);
  const texts = () => phoneTexts(project).notes;
  const chosen = config.mailboxDir === undefined ? undefined : join(config.mailboxDir, key);
  const apart = join(stateFiles(config.dirs.state).mailboxes, key);
  const wanted = await locateMailbox(binding.dir, chosen);
  /** What git was asked about last, and its answer. */
  const { mark: firstMark, lock: firstLock } = await indexMark(wanted.dir);
  let asked = await ask(firstLock === undefined ? firstMark : 'while git was at work');
  const before = await boundFolder(config.dirs.config, binding);
  // Once apart it stays so: what is unread there must not be forgotten when git changes its mind.
  const apartFolder = before?.mailboxDir === apart ? await stat(apart).catch(() => undefined) : undefined;
  const isApart = asked.reason !== undefined || apartFolder?.isDirectory() === true;
  const override = isApart ? apart : chosen;
  const place = isApart ? await locateMailbox(binding.dir, apart) : wanted;
  const why = [wanted.dir, apart, asked.reason] as const;
  const note = isApart ? english.apart(...why) : undefined;
  let isBound = false;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (!isApart) await askGit();
    if (!isBound) await bind();
  }

  async function ask(mark: string): Promise<{ mark: string; reason: string | undefined }> {
    if (wanted.inProject) await excludeFromGit(binding.dir).catch(() => {});
    return { mark, reason: await gitTakes(wanted.dir) };
  }

  async function askGit(): Promise<void> {
    const mark = await markOnceUnlocked(place.dir);
    if (mark !== asked.mark) asked = await ask(mark);
    if (asked.reason === undefined) return;
    const what = `git would commit the messages in ${place.dir}: ${asked.reason}`;
    const hint =
      'Run `wa-sync down` and start wa-sync again: it then uses a folder outside of the repository. Until then messages pass without the files.';
    // Whatever git has put there is treated like the files of a fresh clone, also by hooks and by the next daemon.
    isBound = false;
    await forgetBound(config.dirs.config, binding);
    await tell(`taken_${key}_${asked.reason}`, texts().gitWouldCommit(place.dir, asked.reason));
    throw new WaError('file_unusable', what, { hint });
  }

  async function bind(): Promise<void> {
    const dir = await realpath(binding.dir).catch(() => {
      throw projectGone(binding.dir);
    });
    const known = await boundFolder(config.dirs.config, binding);
    if (known === undefined || known.mailboxDir !== (override ?? null)) {
      const { unread, unsent } = await settleEarlier(place, deps);
      if (unread + unsent > 0) {
        log('warn', 'messages from before the binding', { project: key, unread, unsent });
        await tell(`earlier_${key}_${place.dir}_${clock()}`, texts().earlier(dir, unread, unsent));
      }
    }
    await rememberBound(config.dirs.config, binding, override ?? null, clock());
    if (note !== undefined) {
      log('warn', 'mailbox apart', { project: key, dir: apart, reason: asked.reason ?? 'was before' });
      await tell(`apart_${key}_${apart}`, texts().apart(...why));
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
  await sweepTemporary(place.dir, clock());
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

/** Errors: `file_unusable` when git was killed, or has not ended after `lockLimitMs`. */
async function markOnceUnlocked(dir: string): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += lockLookMs) {
    const { mark, lock } = await indexMark(dir);
    if (lock === undefined) return mark;
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

const error: ErrorCode = 'before_binding';

/**
 * Marks as settled what stood in the two files before a folder was first served, except what the journal knows: it may have come with
 * the repository, so neither the coding agent nor the phone gets it. Returns the numbers of entries. Errors: `lock_timeout`,
 * `file_unusable`.
 */
async function settleEarlier(place: MailboxPlace, deps: MailboxDeps): Promise<{ unread: number; unsent: number }> {
  const { project, signer } = deps;
  const isKnown = (entry: InboxEntry) => isOurs(project, entry) || isOurStop(project, entry);
  const unread = await settle<InboxEntry>(place.inbox, 'inbox', deps, (entry) =>
    entry.read || isKnown(entry) ? entry : { ...entry, read: true },
  );
  const unsent = await settle<OutboxEntry>(place.outbox, 'outbox', deps, (entry) =>
    entry.sent || project.outbox.has(outboxKey(entry, signer)) ? entry : { ...entry, sent: true, error },
  );
  return { unread, unsent };
}

/** Creates no file. Returns the number of entries that `settled` changed. */
async function settle<E extends Entry>(
  path: string,
  kind: MailboxKind,
  { clock, onQuarantined }: MailboxDeps,
  settled: (entry: E) => E,
): Promise<number> {
  if ((await readMailbox(path, kind)).state === 'missing') return 0;
  let count = 0;
  const update = { path, kind, now: clock, lockTimeoutMs: patientLockMs };
  const { quarantined } = await updateMailboxFile<E>(update, (entries) => {
    const next = entries.map(settled);
    count = next.filter((entry, index) => entry !== entries[index]).length;
    return next;
  });
  if (quarantined) onQuarantined(quarantined);
  return count;
}
