// The poll: judges ownership, takes the acknowledgement and the receipts, then answers or parks; answers parked polls on news.

import { errorBody, WaError } from '../../../protocol/errors.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { PollAnswer, PollRequest } from '../../../protocol/relay-api.ts';
import type { Core } from '../core.ts';
import { countExpired, tellEndings } from '../notices/endings.ts';
import { endOutage } from '../notices/outages.ts';
import { firstHeldSeq } from '../tables/albums.ts';
import { cacheOf } from '../tables/cache.ts';
import { highestSeq } from '../tables/log.ts';
import { openProject, readProject, saveProject } from '../tables/projects.ts';
import { isReactionDue } from '../tables/reactions.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { applyReceipts, type HandOut, handOut } from './hand-out.ts';
import { judgePoll } from './ownership.ts';
import { answerFrame, type PollSocket, type PollSockets, parkedFrame, type Waiter } from './sockets.ts';

export interface Polls {
  /** Answers or parks the socket that carried the request. Raises only when the storage fails. */
  poll(socket: PollSocket, request: PollRequest): void;
  /** Something new for the project: ends the parked polls that it concerns. */
  notify(project: number): void;
  /** A parked socket is gone. */
  gone(project: number): void;
  isParked(project: number): boolean;
  /** When the daemon showed a poll or a parked socket last: infinity = now, null = never. */
  presentAt(row: ProjectRow): number | null;
}

/** `sends` is told that something waits to be sent; `durable` = more than a reaction. */
export function createPolls(core: Core, sockets: PollSockets, sends: (durable: boolean) => void): Polls {
  /** When the last socket of a project went; forgotten with hibernation, then `present_until_at` stands in. */
  const goneAt = new Map<number, number>();
  /** The highest control handed out while an album holds back the rest, so that it does not end every poll. */
  const controlsGiven = new Map<number, number>();

  function isNews(project: number, found: HandOut): boolean {
    const lastControl = found.controls.at(-1)?.seq ?? 0;
    const given = controlsGiven.get(project) ?? 0;
    if (found.rows.length === 0 && lastControl <= given) return false;
    controlsGiven.set(project, Math.max(given, lastControl));
    return true;
  }

  function lastPresentAt(row: ProjectRow): number | null {
    return goneAt.get(row.project) ?? row.present_until_at;
  }

  function judge(row: ProjectRow, request: PollRequest, parked: PollSocket[], nowMs: number): WaError | null {
    const verdict = judgePoll(row, request.daemon, parked.length > 0, lastPresentAt(row) ?? 0, nowMs);
    if (verdict.kind === 'superseded') return supersededError();
    if (verdict.kind === 'held') {
      return new WaError('held_by_other_daemon', `project ${row.project} is polled by another workstation`, {
        hint: 'stop wa-sync on the other workstation: `wa-sync down`',
        retryAfterMs: verdict.retryAfterMs,
      });
    }
    // The older poll of this daemon, or of the start that it replaces, ends now.
    for (const socket of parked) {
      const older = socket.waiter();
      const replaced = older !== null && older.startedAt < request.daemon.startedAt;
      socket.finish(
        replaced
          ? answerFrame(409, errorBody(supersededError()))
          : answerFrame(200, answerOf(core, row, { rows: [], controls: [], expired: [] }, nowMs)),
      );
    }
    return null;
  }

  function poll(socket: PollSocket, request: PollRequest): void {
    const nowMs = core.clock();
    let tells = false;
    const frame = core.sql.transaction(() => {
      core.counters.add('polls');
      const before = openProject(core.sql, request.project);
      const refused = judge(before, request, sockets.parked(request.project), nowMs);
      if (refused) return answerFrame(409, errorBody(refused));
      goneAt.delete(request.project);

      const highest = highestSeq(core.sql, before);
      const isKnown = request.epoch === core.epoch && request.after !== null && request.after <= highest;
      const after = isKnown ? (request.after ?? 0) : 0;
      const row: ProjectRow = {
        ...before,
        daemon_id: request.daemon.id,
        daemon_started_at: request.daemon.startedAt,
        last_seen_at: nowMs,
        cursor: Math.max(before.cursor, after),
      };
      tells = tellEndings(core, row.project, applyReceipts(core, row, request.receipts), nowMs);
      if (row.cursor > before.cursor && getMeta(core.sql, 'full_told') !== undefined)
        setMeta(core.sql, 'full_told', null);

      const found = handOut(core, row, after, firstHeldSeq(core.sql, row.project, nowMs), nowMs);
      const told = endOutage(core, countExpired(core, row, found.expired, nowMs), highest - row.cursor, nowMs);
      tells ||= told.away_told_at !== row.away_told_at || told.expired_told_at !== row.expired_told_at;
      // Known without a look: nothing is above the cursor.
      if (row.cursor >= highest) cacheOf(core.sql).oldest.set(row.project, { from: row.cursor, waiting: null });
      const parks = !isNews(row.project, found) && request.holdMs > 0;
      saveProject(core, { ...told, present_until_at: parks ? nowMs + request.holdMs : nowMs });
      const answer = answerOf(core, row, found, nowMs);
      if (!parks) return answerFrame(200, answer);
      socket.park({ daemonId: request.daemon.id, startedAt: request.daemon.startedAt, after });
      return parkedFrame({ ...answer, rows: [], controls: [] });
    });
    if (frame.startsWith('parked')) socket.send(frame);
    else socket.finish(frame);
    if (tells || isReactionDue(core)) sends(tells);
  }

  return {
    poll,

    notify(project) {
      const parked = sockets.parked(project);
      if (parked.length === 0) return;
      const nowMs = core.clock();
      const row = readProject(core.sql, project);
      if (row === undefined) return;
      for (const socket of parked) {
        const waiter = socket.waiter() as Waiter;
        const found = handOut(core, row, waiter.after, firstHeldSeq(core.sql, project, nowMs), nowMs);
        if (!isNews(project, found)) continue;
        const told = countExpired(core, row, found.expired, nowMs);
        if (found.expired.length > 0) saveProject(core, told);
        if (told.expired_told_at !== row.expired_told_at) sends(true);
        socket.finish(answerFrame(200, answerOf(core, row, found, nowMs)));
        goneAt.set(project, nowMs);
      }
    },

    isParked: (project) => sockets.parked(project).length > 0,
    presentAt: (row) => (sockets.parked(row.project).length > 0 ? Number.POSITIVE_INFINITY : lastPresentAt(row)),
    gone(project) {
      if (sockets.parked(project).length === 0) goneAt.set(project, core.clock());
    },
  };
}

function answerOf(core: Core, row: ProjectRow, found: HandOut, nowMs: number): PollAnswer {
  return {
    epoch: core.epoch,
    now: nowMs,
    rows: found.rows,
    controls: found.controls,
    cursor: row.cursor,
    phone: phoneOf(core),
  };
}

/** The phone at the other end, for the daemon. */
function phoneOf({ platform, chatId }: Core): Phone {
  const { name, capabilities } = platform;
  const messageEveryMs = Math.max(...Object.values(platform.ratesOf(chatId)).map(({ refillMs }) => refillMs));
  return { ...capabilities, platform: name, owner: platform.ownerOf(chatId), messageEveryMs };
}

function supersededError(): WaError {
  return new WaError('superseded', 'a later start of this daemon polls this project', {
    hint: 'keep one daemon: `wa-sync down` stops the other',
  });
}
