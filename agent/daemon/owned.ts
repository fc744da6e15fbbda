// Puts together what a project needs for a session that the daemon runs itself. Decides nothing.

import { createHash } from 'node:crypto';
import { oneLine } from '../../protocol/lines.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { Guard } from '../approvals/guard.ts';
import type { Binding } from '../config.ts';
import type { Journal } from '../journal/journal.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createOrders, type KnownSession } from '../owned/orders.ts';
import type { OwnedEvent } from '../owned/owned.ts';
import { promptParts } from '../owned/parts.ts';
import type { OwnedPhone } from '../owned/run.ts';
import { createOwnedSessions } from '../owned/sessions.ts';
import { createTerminals } from '../owned/terminals.ts';
import { markOwned } from '../owned-marks.ts';
import type { Turns } from '../session/types.ts';
import { listSessions, type SessionsPlace } from '../sessions/list.ts';
import type { OwnedAgents } from './owned-agents.ts';

export interface OwnedParts {
  project: ProjectState;
  journal: Journal;
  binding: Binding;
  runtimeDir: string;
  /** Where session files lie. */
  place: SessionsPlace;
  agents: OwnedAgents;
  guard: Pick<Guard, 'admit' | 'follow'> & { owned: Pick<Guard['owned'], 'permission' | 'question' | 'cancel'> };
  /** What the agent says, for the message on the phone that is edited in place. */
  streamed(event: OwnedEvent): void;
  turns: Turns;
  tell(about: string, text: string): Promise<void>;
  /** Without secrets. */
  redact(text: string): string;
  isAlive(pid: number): boolean;
  clock: () => number;
  log: Log;
}

const maxListed = 100;
const noticeChars = 1_000;

export type OwnedPart = ReturnType<typeof createOwned>;

export function createOwned(parts: OwnedParts) {
  const {
    project,
    journal,
    binding,
    runtimeDir,
    place,
    agents,
    guard,
    turns,
    tell,
    redact,
    isAlive,
    streamed,
    clock,
    log,
  } = parts;
  const terminals = createTerminals(isAlive);

  const untold = (cause: unknown) => log('warn', 'phone not told', { error: (cause as Error).message });
  const phone: OwnedPhone = {
    event: streamed,
    permission: guard.owned.permission,
    question: guard.owned.question,
    cancelled: (session) => void guard.owned.cancel(session).catch(untold),
    notice(text, isOurs) {
      const title = agents.titleOf(project.owned?.agent ?? '');
      const words = oneLine(text, noticeChars);
      const said = isOurs ? words : phoneTexts(project).owned.sessions.says(title, words);
      void tell(`notice_${createHash('sha256').update(said).digest('hex').slice(0, 16)}`, said).catch(untold);
    },
    stray: (text) => void tell(`stray_${clock()}`, text).catch(untold),
  };

  const sessions = createOwnedSessions({
    ...{ project, journal, guard, phone, turns, tell, clock, log },
    dir: binding.dir,
    env: process.env,
    startAgent: agents.start,
    mark: () => markOwned(runtimeDir),
    titleOf: agents.titleOf,
    partsOf: (text, can) => promptParts(text, { project, dir: binding.dir, takesImages: can.images }),
  });

  /** What the session files of the project and the journal know; the newest first. */
  async function list(): Promise<KnownSession[]> {
    const { owned } = project;
    const filed: KnownSession[] = await listSessions(place, { within: binding.dir, max: maxListed, how: 'ends' });
    const isFiled = filed.some(({ id }) => id === owned?.session);
    if (!owned?.used || owned.session === undefined || isFiled) return filed;
    return [{ agent: owned.agent, id: owned.session, title: undefined, updatedAt: undefined }, ...filed];
  }

  const orders = createOrders({
    ...{ project, sessions, turns, list, redact, clock },
    agents: agents.list,
    terminalOf: terminals.holderOf,
    resumeCommand: agents.resumeCommand,
  });

  return {
    sessions,
    orders,
    /** Of every call of a hook, before the turn rules see it. */
    async sees(call: Parameters<Turns['handle']>[0], pid: number | undefined): Promise<void> {
      if (call.owned) return;
      terminals.sees(call, pid);
      if (call.event.type === 'sessionStart' || call.event.type === 'turnStart')
        await sessions.openedElsewhere(call.session);
    },
    /** It waits for the start or the end of an agent. */
    isSlow: ({ control }: ControlRow): boolean =>
      control.type === 'command' && (control.name === 'new' || control.name === 'resume' || control.name === 'end'),
    /** The text of the answer; undefined = another control. */
    async answer({ id, control }: ControlRow): Promise<string | undefined> {
      if (control.type !== 'command') return undefined;
      if (control.name === 'new') return orders.new(id, control.args);
      if (control.name === 'resume') return orders.resume(id, control.args);
      if (control.name === 'cancel') return orders.cancel();
      return control.name === 'end' ? orders.end() : undefined;
    },
    openSession() {
      const now = sessions.current();
      const { chosen } = sessions;
      return now && { agent: now.agent, title: agents.titleOf(now.agent), session: now.session, chosen };
    },
    /** For `wa-sync status`. */
    status() {
      const { owned } = project;
      const now = sessions.current();
      if (!owned?.open) return null;
      const { modes, models } = now?.session ?? {};
      return {
        agent: owned.agent,
        session: owned.session ?? null,
        state: now ? ('open' as const) : ('starting' as const),
        mode: modes?.current ?? owned.mode ?? null,
        model: models?.current ?? owned.model ?? null,
      };
    },
  };
}
