// One process of an agent: its handshake, its sessions, and its end. Implements the seam over ACP v1; loaded with the first owned session.

import { WaError } from '../../../protocol/errors.ts';
import { list, object, text } from '../../drivers/fields.ts';
import type { Log } from '../../log.ts';
import { AgentError, type Says } from '../agent-error.ts';
import type { ListedSession, OpenOptions, OwnedProcess, SessionHandlers } from '../owned.ts';
import type { AcpRow } from './agents.ts';
import { type AgentChild, startChild } from './child.ts';
import { optionsIn } from './choices.ts';
import { type AnswerLimits, withDeadline, within } from './deadline.ts';
import {
  authMethods,
  callError,
  deathWords,
  failed,
  isLogin,
  isUnknownSession,
  loginError,
  RpcError,
} from './failures.ts';
import { keeperOf } from './keepers.ts';
import { type AcpSession, createSession, type SessionLimits } from './session.ts';
import { openWire, type Wire } from './wire.ts';

type Json = Record<string, unknown>;

export interface AcpLimits extends SessionLimits, AnswerLimits {
  /** From the start to the answer to the handshake. */
  handshakeMs: number;
  /** From the polite end of a process to the next harder one. */
  graceMs: number;
}

export interface ProcessOptions {
  row: AcpRow;
  command: readonly string[];
  cwd: string;
  env: Record<string, string>;
  limits: AcpLimits;
  version: string;
  log: Log;
}

const protocolVersion = 1;
const maxEarly = 1_000;
const maxSessions = 500;
const maxPages = 20;
const maxChars = 500;

/** Errors: `not_found`, `child_failed`, `agent_login`. */
export async function startProcess(options: ProcessOptions): Promise<OwnedProcess> {
  const { row, command, cwd, env, limits, log } = options;
  const child = await startChild(command, { cwd, env, exitBy: row.habits.exitBy, graceMs: limits.graceMs });
  const sessions = new Map<string, AcpSession>();
  /** Updates of sessions whose id is not known yet, while one is made. */
  const early: { id: string; change: Json }[] = [];
  let making = 0;

  const lines = openWire(child.stdin, child.stdout, {
    update(id, change) {
      try {
        const session = sessions.get(id);
        if (session) session.update(change);
        else if (making > 0 && early.length < maxEarly) early.push({ id, change });
      } catch (cause) {
        log('error', 'update of an agent failed', { agent: row.name, why: (cause as Error).name });
      }
    },
    permission: (params, signal) => toSession(params).permission(params, signal),
    question: (params, signal) => toSession(params).question(params, signal),
  });
  const wire = withDeadline(lines, row, limits);
  const toSession = (params: Json) => sessions.get(text(params.sessionId) ?? '') ?? nobody;
  // A message above the bound, for instance: nothing more can be understood.
  wire.closed.then(() => child.close()).catch(() => {});

  const handshake = await greet(wire, child, options).catch(async (cause) => {
    await child.kill();
    throw cause;
  });
  const capabilities = object(handshake.agentCapabilities);
  const ofSessions = object(capabilities.sessionCapabilities);
  const has = (name: string) => Object.hasOwn(ofSessions, name) && ofSessions[name] !== null;
  const can = {
    steer: object(object(handshake._meta).steering).supported === true,
    images: object(capabilities.promptCapabilities).image === true,
    resume: has('resume') || capabilities.loadSession === true,
    list: has('list'),
    cancelStopsTool: row.habits.cancelStopsTool,
    denyEndsTurn: row.habits.denyEndsTurn,
  };

  function sessionOf(id: string, open: OpenOptions, handlers: SessionHandlers): AcpSession {
    const session = createSession({
      ...{ id, row, wire, handlers, limits },
      cwd: open.cwd,
      can: { steer: can.steer, close: has('close'), resume: has('resume') },
      gone: child.ended,
      kill: child.kill,
      forget: () => sessions.delete(id),
    });
    sessions.set(id, session);
    return session;
  }

  async function make(open: OpenOptions, handlers: SessionHandlers): Promise<AcpSession> {
    making++;
    try {
      const answer = await wire.request('session/new', { cwd: open.cwd, mcpServers: [] });
      const id = text(answer.sessionId);
      if (id === undefined || id === '' || id.length > maxChars) throw failed(row, (texts) => texts.noId(row.title));
      const session = sessionOf(id, open, handlers);
      session.take(optionsIn(answer));
      for (const each of early) if (each.id === id) session.update(each.change);
      return session;
    } finally {
      making--;
      if (making === 0) early.length = 0;
    }
  }

  /** The conversation is in the agent's own files; what it replays of them is dropped. */
  async function reopen(id: string, open: OpenOptions, handlers: SessionHandlers): Promise<AcpSession> {
    if (!can.resume) throw noResume(row);
    const session = sessionOf(id, open, handlers);
    const params = { sessionId: id, cwd: open.cwd, mcpServers: [] };
    try {
      if (has('resume')) session.take(optionsIn(await wire.request('session/resume', params)));
      else {
        const load = () => session.replayed(() => wire.request('session/load', params));
        const keeper = await keeperOf(row.habits.keeper);
        await (keeper ? keeper({ id, cwd: open.cwd, env, load }) : load());
      }
      return session;
    } catch (cause) {
      sessions.delete(id);
      throw cause;
    }
  }

  return {
    agent: row.name,
    pid: child.pid,
    version: text(object(handshake.agentInfo).version)?.slice(0, maxChars),
    can,
    ended: child.ended,
    close: child.close,
    async open(open, handlers) {
      try {
        const { resume } = open;
        const session = await (resume === undefined ? make(open, handlers) : reopen(resume, open, handlers));
        await choose(row, session, open);
        return session;
      } catch (cause) {
        throw await openError(row, open.resume, cause, child);
      }
    },
    async list(cwd) {
      if (!can.list) return undefined;
      return listSessions(wire, cwd).catch((cause) => {
        throw callError(row, (texts, why) => texts.notListed(row.title, why), cause);
      });
    },
  };
}

/** For requests that name no session of this process. */
const nobody = {
  permission: async () => ({ outcome: { outcome: 'cancelled' } }),
  question: async () => ({ action: 'cancel' }),
};

async function greet(wire: Wire, child: AgentChild, { row, env, limits, version }: ProcessOptions): Promise<Json> {
  const dead = child.ended.then((end) => {
    throw failed(row, deathWords(row, end));
  });
  const greeted = Promise.race([hello(wire, row, env, version), dead]).catch((cause) => {
    if (cause instanceof WaError) throw cause;
    // The end of the process says more than a connection that closes.
    return dead;
  });
  const { handshakeMs } = limits;
  return within(handshakeMs, greeted, () => failed(row, (texts) => texts.tooSlow(row.title, handshakeMs / 1000)));
}

async function hello(wire: Wire, row: AcpRow, env: Record<string, string>, version: string): Promise<Json> {
  const answer = await wire
    .request('initialize', {
      protocolVersion,
      clientInfo: { name: 'wa-sync', version },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {} },
        // Else warnings come as text of the model, and errors as its answer.
        session: { notices: {} },
        _meta: { jetbrains: { air: { version: 1, capabilities: ['sessionFailure'] } } },
      },
    })
    .catch((cause) => {
      throw cause instanceof RpcError
        ? callError(row, (texts, why) => texts.noHandshake(row.title, why), cause)
        : cause;
    });
  if (answer.protocolVersion !== protocolVersion) {
    const other = String(JSON.stringify(answer.protocolVersion)).slice(0, 20);
    throw failed(row, (texts) => texts.otherVersion(row.title, other, protocolVersion));
  }
  const offered = authMethods(answer);
  const login = row.authenticate.find(
    ({ method, variable }) => offered.includes(method) && (variable === undefined || env[variable]),
  );
  if (login) {
    const key = login.variable && env[login.variable];
    const _meta = key ? { _meta: { 'api-key': key } } : {};
    await wire.request('authenticate', { methodId: login.method, ..._meta }).catch((cause) => {
      throw cause instanceof RpcError ? loginError(row, cause) : cause;
    });
  }
  return answer;
}

/** A session starts in the mode in which a person is asked; an earlier one may have been left in another. */
async function choose(row: AcpRow, session: AcpSession, { mode, model }: OpenOptions): Promise<void> {
  const { all, current } = session.modes;
  const offersAsk = all.some((each) => each.id === row.askMode);
  const wanted = mode ?? (offersAsk ? row.askMode : undefined);
  if (wanted !== undefined && wanted !== current) await session.setMode(wanted);
  if (model !== undefined && model !== session.models.current) await session.setModel(model);
}

async function openError(row: AcpRow, id: string | undefined, cause: unknown, child: AgentChild): Promise<WaError> {
  if (cause instanceof WaError) return cause;
  if (isLogin(cause)) return loginError(row, cause);
  if (id !== undefined && isUnknownSession(cause)) {
    const says: Says = (texts) => texts.noSession(row.title, id.slice(0, maxChars));
    return new AgentError('not_found', says, (texts) => texts.startNew, cause);
  }
  const what = id === undefined ? 'notOpened' : 'notOpenedAgain';
  if (cause instanceof RpcError) return callError(row, (texts, why) => texts[what](row.title, why), cause);
  return failed(row, deathWords(row, await child.ended));
}

function noResume({ title }: AcpRow): WaError {
  return new AgentError(
    'not_found',
    (texts) => texts.noResume(title),
    (texts) => texts.startNew,
  );
}

async function listSessions(wire: Wire, cwd: string): Promise<ListedSession[]> {
  const found: ListedSession[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && found.length < maxSessions; page++) {
    const answer = await wire.request('session/list', { cwd, ...(cursor === undefined ? {} : { cursor }) });
    for (const each of list(answer.sessions)) {
      const { sessionId, cwd: dir, title, updatedAt } = object(each);
      const id = text(sessionId);
      if (id === undefined || id.length > maxChars || (text(dir) ?? cwd) !== cwd) continue;
      const at = Date.parse(text(updatedAt) ?? '');
      found.push({ id, title: text(title)?.slice(0, maxChars), updatedAt: Number.isNaN(at) ? undefined : at });
    }
    cursor = text(answer.nextCursor);
    if (cursor === undefined) break;
  }
  return found.slice(0, maxSessions).sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0));
}
