// The poll: judges ownership, takes the acknowledgement and the receipts, then answers or parks; answers parked polls on news.

import { errorBody } from '../../../protocol/errors.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { PollAnswer, PollRequest } from '../../../protocol/relay-api.ts';
import type { Core } from '../core.ts';
import { languageOf } from '../language.ts';
import { countExpired, tellEndings } from '../notices/endings.ts';
import { endOutage } from '../notices/outages.ts';
import { cacheOf } from '../tables/cache.ts';
import { highestSeq } from '../tables/log.ts';
import { openProject, readProject, saveProject } from '../tables/projects.ts';
import { isReactionDue } from '../tables/reactions.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { readTopics } from '../topics.ts';
import { applyReceipts, type HandOut, handOut } from './hand-out.ts';
import { presentAt, refusalOf, supersededError } from './ownership.ts';
import { slowDownOf, tellSlowDown } from './slow-down.ts';
import { answerFrame, type PollSocket, parkedFrame, type Waiter } from './sockets.ts';

/** `sends` is told that something waits to be sent; `durable` = more than a reaction. */
export function createPolls(core: Core, sends: (durable: boolean) => void) {
  /** The highest control handed out while an album holds back the rest, so that it does not end every poll. */
  const controlsGiven = new Map<number, number>();

  function isNews(project: number, found: HandOut): boolean {
    const lastControl = found.controls.at(-1)?.seq ?? 0;
    const given = controlsGiven.get(project) ?? 0;
    if (found.rows.length === 0 && lastControl <= given) return false;
    controlsGiven.set(project, Math.max(given, lastControl));
    return true;
  }

  /** The older poll of this daemon, or of the start that it replaces, ends now. */
  function endOlder(row: ProjectRow, startedAt: number): void {
    for (const socket of core.parked(row.project)) {
      const older = socket.waiter();
      const isSuperseded = older !== null && older.startedAt < startedAt;
      const empty = answerOf(core, row, { rows: [], controls: [], expired: [] });
      socket.finish(isSuperseded ? answerFrame(409, errorBody(supersededError())) : answerFrame(200, empty));
    }
  }

  /** Answers or parks the socket that carried the request. Raises only when the storage fails. */
  function poll(socket: PollSocket, request: PollRequest): void {
    const nowMs = core.clock();
    let tells = false;
    const frame = core.sql.transaction(() => {
      core.counters.add('polls');
      const before = openProject(core.sql, request.project);
      const refused = refusalOf(before, request.daemon, presentAt(core, before) ?? 0, nowMs);
      if (refused) return answerFrame(409, errorBody(refused));
      endOlder(before, request.daemon.startedAt);
      cacheOf(core.sql).goneAt.delete(request.project);

      const highest = highestSeq(core.sql, before);
      const isKnown = request.epoch === core.epoch && request.after !== null && request.after <= highest;
      const after = isKnown ? (request.after ?? 0) : 0;
      const row: ProjectRow = {
        ...before,
        daemon_id: request.daemon.id,
        daemon_started_at: request.daemon.startedAt,
        last_seen_at: nowMs,
        cursor: Math.max(before.cursor, after),
        ...standingOf(before, request, nowMs),
      };
      tells = tellEndings(core, row.project, applyReceipts(core, row, request.receipts));
      if (row.cursor > before.cursor && getMeta(core.sql, 'full_told') !== undefined)
        setMeta(core.sql, 'full_told', null);

      const found = handOut(core, row, after);
      const told = endOutage(core, countExpired(core, row, found.expired), highest - row.cursor);
      tells ||= told.away_told_at !== row.away_told_at || told.expired_told_at !== row.expired_told_at;
      // Known without a look: nothing is above the cursor.
      if (row.cursor >= highest) cacheOf(core.sql).oldest.set(row.project, { from: row.cursor, waiting: null });
      const parks = !isNews(row.project, found) && request.holdMs > 0;
      const answer = answerOf(core, row, found);
      const silentMs = request.holdMs + (answer.slow?.pollAfterMs ?? 0);
      saveProject(core, { ...told, present_until_at: parks ? nowMs + silentMs : nowMs });
      tells = tellSlowDown(core) || tells;
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

    /** Something new for the project: ends the parked polls that it concerns. */
    notify(project: number): void {
      const row = readProject(core.sql, project);
      if (row === undefined) return;
      for (const socket of core.parked(project)) {
        const found = handOut(core, row, (socket.waiter() as Waiter).after);
        if (!isNews(project, found)) continue;
        const told = countExpired(core, row, found.expired);
        if (found.expired.length > 0) saveProject(core, told);
        if (told.expired_told_at !== row.expired_told_at) sends(true);
        socket.finish(answerFrame(200, answerOf(core, row, found)));
        cacheOf(core.sql).goneAt.set(project, core.clock());
      }
    },

    /** A parked socket is gone. */
    gone(project: number): void {
      if (core.parked(project).length === 0) cacheOf(core.sql).goneAt.set(project, core.clock());
    },
  };
}

function answerOf(core: Core, { cursor }: ProjectRow, { rows, controls }: HandOut): PollAnswer {
  const slow = slowDownOf(core);
  const answer = { epoch: core.epoch, now: core.clock(), rows, controls, cursor, phone: phoneOf(core) };
  return slow === null ? answer : { ...answer, slow };
}

/** What the daemon tells now; what another daemon has told is no longer so. */
function standingOf(before: ProjectRow, { daemon, standing }: PollRequest, nowMs: number): Partial<ProjectRow> {
  if (standing !== undefined) return { standing: JSON.stringify(standing), standing_at: nowMs };
  return before.daemon_id === daemon.id ? {} : { standing: null, standing_at: null };
}

/** The phone at the other end, for the daemon. */
function phoneOf(core: Core): Phone {
  const { platform, chatId } = core;
  const { name, capabilities } = platform;
  const messageEveryMs = Math.max(...Object.values(platform.ratesOf(chatId)).map(({ refillMs }) => refillMs));
  const topics = readTopics(core) ?? false;
  const language = languageOf(core);
  return { ...capabilities, topics, platform: name, language, owner: platform.ownerOf(chatId), messageEveryMs };
}
