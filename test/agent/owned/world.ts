// A project whose sessions the daemon runs itself, without relay and files: real journal, turn rules and driver, the scripted ACP agent.
// Holds no expectations.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createOwned } from '../../../agent/daemon/owned.ts';
import { ownedAgents } from '../../../agent/daemon/owned-agents.ts';
import type { Journal } from '../../../agent/journal/journal.ts';
import type { OwnedEvent } from '../../../agent/owned/owned.ts';
import type { ControlRow } from '../../../protocol/log.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { type ScriptedOptions, scriptedCommand } from '../../helpers/acp/scripted.ts';
import { plainTurns } from '../../helpers/plain-turns.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { journalIn, temporaryFolder } from '../../helpers/surroundings.ts';

export const p = '1000001.0';

export interface OwnedWorldOptions {
  /** Names of config.json; default: one of each style. */
  agents?: Readonly<Record<string, ScriptedOptions>>;
}

const usual = { claude: { style: 'claude' }, gemini: { style: 'gemini' }, codex: { style: 'codex' } } as const;

export async function ownedWorld({ agents = usual }: OwnedWorldOptions = {}) {
  const root = await temporaryFolder();
  const dir = join(root, 'project');
  const home = join(root, 'home');
  await mkdir(dir);
  await mkdir(home);
  const file = join(root, 'config.json');
  const agentCommands = Object.fromEntries(
    Object.entries(agents).map(([name, options]) => [name, scriptedCommand(root, options)]),
  );
  const config = { file, agents: {}, agentCommands, dirs: { cache: join(root, 'cache') } };
  const journal: Journal = await journalIn(root, { now: Date.now, advance: () => {} });
  const project = journal.project(p);
  const reports: { text: string; failed: boolean }[] = [];
  const told: string[] = [];
  const events: OwnedEvent[] = [];
  const livingTerminals = new Set<number>();
  const isAlive = (pid: number) => livingTerminals.has(pid);
  const turns = plainTurns({
    ...{ journal, p, clock: Date.now, reports, told },
    more: { isAlive, cancelOwned: () => owned.sessions.cancel(), routes: () => [owned.sessions.route] },
  });
  const owned = createOwned({
    ...{ project, journal, turns, isAlive, clock: Date.now },
    binding: { dir, mailbox: '1000001', project: 0 },
    runtimeDir: join(root, 'run'),
    place: { home, env: {}, state: join(root, 'state') },
    agents: ownedAgents({
      config,
      env: { PATH: '' },
      platform: process.platform,
      version: '0.0.0',
      log: () => {},
    }),
    guard: {
      admit: async () => undefined,
      follow: async () => ({}),
      owned: {
        permission: async ({ options }) => ({ option: options.find(({ kind }) => kind === 'allowOnce')?.id }),
        question: async () => 'cancelled' as const,
        cancel: async () => {},
      },
    },
    streamed: (event) => void events.push(event),
    tell: async (_, text) => void told.push(text),
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    log: () => {},
  });
  onTestFinished(() => owned.sessions.stop());
  let controls = 0;
  let messages = 0;
  return {
    ...{ root, dir, home, journal, project, turns, owned, reports, told, events, livingTerminals },
    /** The chat speaks German from now on. */
    async german(): Promise<void> {
      await journal.append([{ t: 'phone', p, at: Date.now(), phone: { ...privatePhone, language: 'de' } }]);
    },
    /** Lets `[[wait: name]]` go on. */
    release: (gate: string) => writeFile(join(root, gate), ''),
    /** A command of the phone, and its answer. */
    command(line: string): Promise<string | undefined> {
      const [, name = '', args = ''] = /^\/(\S+) ?([\s\S]*)$/.exec(line) ?? [];
      controls += 1;
      const control = { type: 'command', name, args, userId: '1000001' } as ControlRow['control'];
      return owned.answer({ kind: 'control', seq: controls, id: `c${controls}`, at: Date.now(), control });
    },
    /** A message of the phone. Returns its id. */
    async message(text: string): Promise<string> {
      messages += 1;
      const [id, at] = [`msg_${messages}`, Date.now()];
      const row = { seq: 1_000 + messages, id, at, kind: 'message', text, expiresAt: at + 1e9 } as const;
      await journal.append([{ t: 'row', p, at, row }]);
      turns.wake();
      return id;
    },
    /** What a hook of a terminal says. */
    async terminal(session: string, pid: number, event: TurnEvent) {
      const call = { agent: 'gemini', event, session, cwd: dir, transcript: undefined };
      livingTerminals.add(pid);
      await owned.sees(call, pid);
      return turns.handle(call, { tool: 'gemini', pid, maxMs: 60_000, isGone: () => false });
    },
  };
}
