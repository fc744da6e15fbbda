// The Durable Object shell of one mailbox: starts the parts over real storage, sockets and alarm, and delegates. Decides nothing.

import { DurableObject } from 'cloudflare:workers';
import type { ErrorBody } from '../../protocol/errors.ts';
import { errorBody, WaError } from '../../protocol/errors.ts';
import type { KeyEnd, PhoneFile } from '../../protocol/log.ts';
import type {
  LetterAction,
  LettersAnswer,
  MailboxStatus,
  OutboxAnswer,
  OutboxRequest,
  PollRequest,
} from '../../protocol/relay-api.ts';
import type { RelayVariables } from '../../protocol/relay-settings.ts';
import { readSettings } from '../env.ts';
import type { InboundEvent, SendOutcome } from '../platform.ts';
import { telegramPlatform } from '../telegram/platform.ts';
import { createCounters } from './counters.ts';
import type { DocumentRequest, DocumentStart } from './documents.ts';
import { acceptPollSocket, durableSockets, pollSocket, projectOf } from './durable-sockets.ts';
import { durableSql } from './durable-sql.ts';
import type { Accepted } from './inbox.ts';
import type { MailboxLogic } from './mailbox.ts';
import { createMailbox, watchdogMs } from './mailbox.ts';
import { createReactionQueue } from './reactions.ts';
import type { MailboxMetrics } from './report.ts';
import { createRecentAnswers } from './retry-button.ts';
import { getMeta, openStorage, setMeta } from './schema.ts';
import type { Sql } from './store.ts';
import { answerFrame } from './waiters.ts';

/** Errors lose their fields on the way out of an object, so they travel as data. */
export type ObjectAnswer<T> = { ok: true; value: T } | ({ ok: false } & ErrorBody);

/** When storage fails in the alarm, nothing may throw: the platform gives up after some tries. */
const alarmRetryMs = 30_000;
/** Well below the ten idle seconds after which an object hibernates. */
const reactionTimerMs = 2_000;

export class Mailbox extends DurableObject<RelayVariables> {
  readonly #counters = createCounters();
  #logic: MailboxLogic | WaError;
  #alarmAt: number | null = null;
  /** The last watchdog; it is set while `#alarmAt` is the same. */
  #watchdogAt: number | null = null;
  #sending: Promise<void> | null = null;
  #sendAgain = false;
  #reactionTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(ctx: DurableObjectState, env: RelayVariables) {
    super(ctx, env);
    this.#counters.add('wakes');
    this.#logic = this.#start();
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
      if (!(this.#logic instanceof WaError)) this.#ensureAlarm(this.#logic.nextWakeAt());
    });
  }

  accept(event: InboundEvent): ObjectAnswer<Accepted['kind']> {
    return this.#answer((logic) => logic.accept(event));
  }

  post(request: OutboxRequest): ObjectAnswer<OutboxAnswer> {
    return this.#answer((logic) => logic.post(request));
  }

  status(): ObjectAnswer<MailboxStatus> {
    return this.#answer((logic) => logic.status());
  }

  findFile(project: number, id: string): ObjectAnswer<PhoneFile> {
    return this.#answer((logic) => logic.findFile(project, id));
  }

  beginDocument(request: DocumentRequest): ObjectAnswer<DocumentStart> {
    return this.#answer((logic) => logic.documents.begin(request));
  }

  endDocument(key: string, outcome: SendOutcome): ObjectAnswer<KeyEnd> {
    return this.#answer((logic) => logic.documents.end(key, outcome));
  }

  letters(project: number): ObjectAnswer<LettersAnswer> {
    return this.#answer((logic) => logic.letters(project));
  }

  actOnLetter(project: number, id: string, action: LetterAction['action']): ObjectAnswer<LettersAnswer> {
    return this.#answer((logic) => logic.actOnLetter(project, id, action));
  }

  metrics(): ObjectAnswer<MailboxMetrics> {
    return this.#answer((logic) => logic.metrics());
  }

  override fetch(request: Request): Response {
    return acceptPollSocket(this.ctx, request);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    const poll = pollSocket(socket);
    const answer = this.#answer((logic) => logic.poll(poll, JSON.parse(String(message)) as PollRequest));
    if (!answer.ok)
      poll.finish(answerFrame(answer.error.code === 'storage_failed' ? 503 : 500, { error: answer.error }));
  }

  override webSocketClose(socket: WebSocket): void {
    this.#answer((logic) => logic.pollGone(projectOf(socket)));
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    if (this.#logic instanceof WaError && this.#logic.retryable) this.#logic = this.#start();
    if (this.#logic instanceof WaError) {
      // A storage of another version is left alone, its alarm included.
      if (this.#logic.retryable) this.#ensureAlarm(Date.now() + alarmRetryMs);
      return;
    }
    try {
      this.#logic.tick();
    } catch (error) {
      this.#failed(error);
      return;
    }
    // A call that hangs must not hold up the next alarm; the watchdog of its run is set again.
    const hangs = this.#sending !== null;
    if (hangs) {
      this.#guard();
      this.#ensureAlarm(this.#logic.nextTickAt());
    }
    const sent = this.#send();
    if (!hangs) await sent;
  }

  /** Sends after the current call; another wish meanwhile is one more round of the same run. */
  #send(): Promise<void> {
    this.#sendAgain = true;
    this.#sending ??= this.#sendAll();
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    // Not inside the transaction that asked for it.
    await null;
    try {
      while (this.#sendAgain && !(this.#logic instanceof WaError)) {
        this.#sendAgain = false;
        await this.#logic.send();
        if (!this.#sendAgain) this.#rest(this.#logic);
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#sending = null;
    }
  }

  #failed(error: unknown): void {
    console.error('alarm failed', error instanceof Error ? error.name : 'unknown');
    this.#ensureAlarm(Date.now() + alarmRetryMs);
  }

  #start(): MailboxLogic | WaError {
    try {
      const { ctx } = this;
      const settings = readSettings(this.env);
      const sql = durableSql(ctx.storage, (read, written) => {
        this.#counters.add('rows_read', read);
        this.#counters.add('rows_written', written);
      });
      const epoch = openStorage(sql, newEpoch);
      const platform = telegramPlatform(settings, Date.now);
      return createMailbox({
        core: {
          sql,
          epoch,
          chatId: chatIdOf(sql, ctx.id.name),
          platform,
          counters: this.#counters,
          reactions: createReactionQueue(platform.capabilities.reactions),
          recentAnswers: createRecentAnswers(),
          messageTtlMs: settings.messageTtlMs,
          clock: Date.now,
          randomId,
        },
        alarm: {
          ensure: (atMs) => this.#ensureAlarm(atMs),
          guard: () => this.#guard(),
          soon: (durable) => {
            if (durable) this.#guard();
            void this.#send();
          },
        },
        sockets: durableSockets(ctx),
      });
    } catch (error) {
      return asWaError(error);
    }
  }

  #answer<T>(run: (logic: MailboxLogic) => T): ObjectAnswer<T> {
    // Storage that failed at the start may work by now; a wrong setting or version needs a deploy, which restarts us.
    if (this.#logic instanceof WaError && this.#logic.retryable) this.#logic = this.#start();
    if (this.#logic instanceof WaError) return { ok: false, ...errorBody(this.#logic) };
    try {
      return { ok: true, value: run(this.#logic) };
    } catch (error) {
      return { ok: false, ...errorBody(asWaError(error)) };
    }
  }

  #ensureAlarm(atMs: number): void {
    const due = Math.max(atMs, Date.now());
    if (this.#alarmAt === null || due < this.#alarmAt) this.#setAlarm(due);
  }

  /** A reaction that waits for its turn needs no alarm, which would cost two rows: the object stays awake that long. */
  #rest(logic: MailboxLogic): void {
    const reactionAt = logic.nextReactionAt();
    const inMs = reactionAt === null ? null : Math.max(0, reactionAt - Date.now());
    const isSoon = inMs !== null && inMs <= reactionTimerMs;
    if (isSoon) {
      clearTimeout(this.#reactionTimer);
      this.#reactionTimer = setTimeout(() => void this.#send(), inMs);
    }
    this.#restAlarm(
      Math.min(logic.nextWakeAt(), isSoon ? Number.POSITIVE_INFINITY : (reactionAt ?? Number.POSITIVE_INFINITY)),
    );
  }

  /** Nothing is under way any more: a watchdog is taken back. An alarm that is merely early stays, as moving it costs as much. */
  #restAlarm(atMs: number): void {
    if (this.#alarmAt !== null && this.#alarmAt === this.#watchdogAt) this.#setAlarm(atMs);
    else this.#ensureAlarm(atMs);
  }

  #guard(): void {
    const due = Date.now() + watchdogMs;
    if (this.#alarmAt !== null && this.#alarmAt <= due) return;
    this.#watchdogAt = due;
    this.#setAlarm(due);
  }

  #setAlarm(atMs: number): void {
    const due = Math.max(atMs, Date.now());
    if (this.#alarmAt === due) return;
    this.#alarmAt = due;
    this.#counters.add('rows_written');
    // Not awaited: it belongs to the transaction of the writes around it.
    void this.ctx.storage.setAlarm(due);
  }
}

function asWaError(error: unknown): WaError {
  if (error instanceof WaError) return error;
  console.error('storage failed', error instanceof Error ? error.message : String(error));
  return new WaError('storage_failed', 'the mailbox could not read or write its storage', { cause: error });
}

/** The object's name is `v1:<botId>:<chatId>`; an alarm may start it without telling the name. */
function chatIdOf(sql: Sql, name: string | undefined): string {
  const stored = getMeta(sql, 'chat_id');
  if (stored !== undefined) return stored;
  const chatId = name?.split(':')[2];
  if (chatId === undefined) throw new WaError('internal', `a mailbox object has the name ${name}`);
  setMeta(sql, 'chat_id', chatId);
  return chatId;
}

function newEpoch(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(36).padStart(2, '0')).join('');
}

/** 128 bits as base64url. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
