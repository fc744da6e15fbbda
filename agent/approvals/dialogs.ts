// The dialog of a coding agent that waits in its terminal: told on the phone, and answered by a key there when the owner taps and the
// screen shows exactly that dialog. Presses nothing else, and nothing twice.

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { HookCall, HostDialog } from '../../protocol/turn-events.ts';
import type { Dialogs as HostDialogs } from '../drivers/workstation.ts';
import type { OpenDialog } from '../journal/records.ts';
import { maxTextOf, type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { plainPart } from '../plain-text.ts';
import { visible } from '../visible.ts';
import type { AnsweredDialog } from './audit-lines.ts';
import { dialogItem, whereToAnswer } from './dialog-items.ts';
import { headAndTail, type Shows, withCode } from './question/question.ts';

export interface DialogsOptions {
  project: ProjectState;
  record(record: { t: 'dialog'; dialog: OpenDialog | null }): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  shows: Pick<Shows, 'hide'>;
  /** Why this user's answer does not count; undefined = it does. */
  refusalOf(userId: string): Promise<string | undefined>;
  audit(line: AnsweredDialog): void;
  /** What keys can do in the dialogs of an agent; undefined = nothing. */
  keysFor(agent: string): HostDialogs | undefined;
  terminal: Terminal;
  isAlive(pid: number): boolean;
  /** A person sits at the terminal, who may answer there before the phone rings. */
  isPresent(): boolean;
  /** When that person pressed a key last, in epoch milliseconds. */
  seenAt(): number;
  clock: () => number;
  /** The turn ended with the dialog, which no event tells. */
  onCancelled(why: string): void;
  log: Log;
}

/** The terminal of a process, where it can be seen and typed into. */
export interface Terminal {
  /** Undefined = it cannot be seen. */
  screen(pid: number): Promise<string | undefined>;
  /** False = it was not pressed. */
  press(pid: number, key: string): Promise<boolean>;
}

/** The hook comes before the dialog stands on the screen. */
const appearsWithinMs = 3_000;
/** After a key, until the dialog is gone. */
const goesWithinMs = 2_000;
const lookEveryMs = 100;
/** How long a person at the terminal has to look at it: after a key there the phone hears of it when the person has left. */
export const answerHereMs = 30_000;
/** A screen that is drawn anew shows no dialog for a moment. */
const missesUntilGone = 2;
/** UTF-16 units; a longer dialog fits on no screen. */
const maxTextUnits = 16_000;
const bodyShare = 0.6;

const over: ReadonlySet<HookCall['event']['type']> = new Set([
  'turnStart',
  'turnEnd',
  'sessionEnd',
  'toolEnd',
  'modelRequest',
]);

export function createDialogs(options: DialogsOptions) {
  const { project, terminal, log } = options;
  const texts = () => phoneTexts(project).dialogs;
  /** Of each session: rises with every event that may replace the dialog on its screen. */
  const generations = new Map<string, number>();
  const generationOf = (session: string) => generations.get(session) ?? 0;
  const announcedBy = new WeakMap<HookCall['event'], Announced>();
  /** How many dialogs each session has announced, and which of them has this id: only the newest may be answered. */
  const announced = new Map<string, number>();
  const numberOf = new Map<string, number>();
  let misses = 0;
  /** Of a dialog that a person at the terminal may answer first: when that person was asked. */
  let askedAt = options.clock();
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work, work);
    last = done.catch((cause) =>
      log('error', 'dialog failed', { project: project.key, error: (cause as Error).message }),
    );
    return done;
  }

  /** The keys that answer it now; undefined = the screen does not show exactly this dialog. */
  async function keysNow({ agent, pid, dialog }: OpenDialog) {
    const known = options.keysFor(agent);
    const screen = known && pid !== undefined ? await terminal.screen(pid) : undefined;
    const keys = screen === undefined ? undefined : known?.keysOn(screen, dialog);
    return known && keys && { ...keys, cancel: known.cancel };
  }

  const keep = (dialog: OpenDialog | null) => options.record({ t: 'dialog', dialog });

  async function show(dialog: OpenDialog): Promise<void> {
    await keep(dialog);
    const where = dialog.seen ? texts().hereOrThere : whereToAnswer(dialog, project);
    const text = `${dialog.part.text}\n${where}`;
    await options.send(dialogItem(dialog, { ...dialog.part, text }, texts()));
  }

  async function close(dialog: OpenDialog, outcome: string): Promise<void> {
    // One that was over before the phone heard of it stays untold.
    if (dialog.rev > 0) {
      const part = { ...dialog.part, text: `${dialog.part.text}\n${outcome}` };
      await options.send(dialogItem({ ...dialog, rev: dialog.rev + 1, seen: false }, part, texts()));
    }
    await keep(null);
  }

  async function open(
    call: HookCall,
    pid: number | undefined,
    dialog: HostDialog,
    { begun, number }: Announced,
  ): Promise<void> {
    const { agent, session } = call;
    if (project.dialog) await close(project.dialog, texts().over);
    const id = randomBytes(6).toString('hex');
    numberOf.clear();
    numberOf.set(id, number);
    const cut = { ...dialog, text: dialog.text.slice(0, maxTextUnits) };
    const part = await partOf(cut);
    let opened: OpenDialog = { id, agent, session, pid, dialog: cut, part, rev: 0, seen: false, pressed: false };
    // From now on a text of the owner may be meant for it.
    await keep(opened);
    const isHere = options.keysFor(agent) !== undefined && pid !== undefined && dialog.kind !== 'question';
    const until = performance.now() + appearsWithinMs;
    while (isHere && generationOf(session) === begun && (await terminal.screen(pid)) !== undefined) {
      if (await keysNow(opened)) {
        opened = { ...opened, seen: true };
        break;
      }
      if (performance.now() > until) break;
      await delay(lookEveryMs);
    }
    misses = 0;
    askedAt = options.clock();
    if (generationOf(session) === begun && isDue()) await show({ ...opened, rev: 1 });
    else if (generationOf(session) === begun) await keep(opened);
    else if (project.dialog?.id === id) await close(opened, texts().over);
  }

  function isDue(): boolean {
    const isUnseen = options.seenAt() <= askedAt && options.clock() - askedAt >= answerHereMs;
    return isUnseen || !options.isPresent();
  }

  async function partOf({ kind, title, text }: HostDialog): Promise<TextPart> {
    const hidden = visible((await options.shows.hide(text, phoneTexts(project))).text);
    const body = headAndTail(hidden, Math.floor(bodyShare * maxTextOf(project)), phoneTexts(project));
    if (kind === 'question') return plainPart(texts().asks(body));
    const head = texts().waits(visible(title).slice(0, 200));
    return body === '' ? plainPart(head) : withCode(head, body);
  }

  /** Presses one key in exactly this dialog, once. `pressed` = and the dialog is gone. */
  async function press(dialog: OpenDialog, answer: 'allow' | 'deny' | 'cancel', by: string): Promise<PressResult> {
    const { pid, agent, session } = dialog;
    const begun = generationOf(session);
    // The host waits for the hook before it shows the next dialog.
    const isNewest = () => (announced.get(session) ?? 0) === (numberOf.get(dialog.id) ?? 0);
    if (pid === undefined || dialog.pressed || !isNewest() || !(await keysNow(dialog))) return 'unseen';
    const taken = { ...dialog, pressed: true };
    // Before the key: a tap that comes again after a crash must not answer a later dialog that looks the same.
    await keep(taken);
    const key = (await keysNow(taken))?.[answer];
    if (key === undefined || generationOf(session) !== begun || !isNewest()) {
      await keep(dialog);
      return 'unseen';
    }
    if (!(await terminal.press(pid, key))) {
      await keep(dialog);
      return 'unseen';
    }
    options.audit({ answer, by, session, title: dialog.dialog.title, text: dialog.dialog.text });
    log('info', 'dialog answered', { project: project.key, agent, answer });
    const until = performance.now() + goesWithinMs;
    while (generationOf(session) === begun && (await keysNow(taken))) {
      if (performance.now() > until) return 'stays';
      await delay(lookEveryMs);
    }
    return 'pressed';
  }

  async function tapped(action: string, userId: string): Promise<string | undefined> {
    const match = /^dialog:([0-9a-f]+):(allow|deny)$/.exec(action);
    const answer = match?.[2] as 'allow' | 'deny' | undefined;
    const refusal = await options.refusalOf(userId);
    if (refusal !== undefined) return refusal;
    const { dialog } = project;
    if (!answer || dialog?.id !== match?.[1] || !dialog) return texts().gone;
    switch (await press(dialog, answer, userId)) {
      case 'unseen':
        return texts().unseen;
      case 'stays':
        return texts().stays;
      case 'pressed':
        await close(dialog, answer === 'allow' ? texts().allowed : texts().denied);
        if (answer === 'deny') options.onCancelled(texts().deniedTurn);
        return undefined;
    }
  }

  async function look(): Promise<void> {
    const { dialog } = project;
    if (!dialog) return;
    if (dialog.pid !== undefined && !options.isAlive(dialog.pid)) return close(dialog, texts().over);
    const isShown = (await keysNow(dialog)) !== undefined;
    misses = isShown ? 0 : misses + 1;
    const isNew = isShown && !dialog.seen && !dialog.pressed;
    if (dialog.seen && misses >= missesUntilGone) await close(dialog, texts().overThere);
    else if (dialog.rev === 0 ? isDue() : isNew) {
      await show({ ...dialog, seen: dialog.seen || isShown, rev: dialog.rev + 1 });
    }
  }

  return {
    /** A hook of the bound session: the host is about to show it. */
    opened(call: HookCall, pid: number | undefined, dialog: HostDialog): void {
      void inOrder(() =>
        open(call, pid, dialog, announcedBy.get(call.event) ?? { begun: generationOf(call.session), number: 0 }),
      ).catch(() => {});
    },
    /** Each call, as soon as it comes: an event that cannot come while the dialog waits ends it. */
    sees({ session, event }: HookCall): void {
      const isNext = event.type === 'dialog' || (event.type === 'gate' && event.asks !== undefined);
      if (!isNext && !over.has(event.type)) return;
      generations.set(session, generationOf(session) + 1);
      if (isNext) announced.set(session, (announced.get(session) ?? 0) + 1);
      if (event.type === 'sessionEnd') announced.delete(session);
      announcedBy.set(event, { begun: generationOf(session), number: announced.get(session) ?? 0 });
      if (isNext) return;
      void inOrder(async () => {
        const { dialog } = project;
        // A dialog that the screen shows is over when the screen says so.
        if (dialog?.session !== session || (dialog.seen && (await keysNow(dialog)))) return;
        await close(dialog, texts().overThere);
      }).catch(() => {});
    },
    /** What the phone gets for a tap; undefined = the dialog's message shows what became of it. */
    answer: (action: string, userId: string) => inOrder(() => tapped(action, userId)),
    /** A STOP: cancels the dialog where a key can. */
    stop: (): Promise<StoppedDialog> =>
      inOrder(async () => {
        const { dialog } = project;
        if (!dialog) return 'none';
        if ((await press(dialog, 'cancel', 'stop')) !== 'pressed') return 'waits';
        await close(dialog, texts().stopped);
        options.onCancelled(texts().stoppedTurn);
        return 'cancelled';
      }),
    /** Called by the daemon's clock. Never rejects. */
    tick: (): Promise<void> => inOrder(look).catch(() => {}),
    /** Resolves when nothing is under way. */
    idle: (): Promise<unknown> => last,
  };
}

interface Announced {
  /** The generation of its hook. */
  begun: number;
  number: number;
}

type PressResult = 'unseen' | 'stays' | 'pressed';

/** What became of an open dialog at a STOP. `waits` = it must be answered in the terminal. */
export type StoppedDialog = 'none' | 'cancelled' | 'waits';
