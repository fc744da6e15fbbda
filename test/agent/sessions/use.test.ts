// Which sessions somebody may write into now.

import { expect, it } from 'vitest';
import { boundProject } from '../../../agent/sessions/use.ts';

it('a session is in use by its file in a terminal, and by its id where the daemon runs it itself', () => {
  const wanted = { id: 'a1', path: '/home/dev/.codex/sessions/a1.jsonl' };
  const free = { session: null, transcript: null, owned: null };
  const owned = { agent: 'codex', session: 'a1', state: 'open', mode: null, model: null } as const;
  const ofTerminal = { ...free, session: 'a1', transcript: wanted.path };
  const ofDaemon = { ...free, session: 'a1', owned };
  const starting = { ...free, session: 'starting-1', owned };
  const ended = { ...free, transcript: wanted.path };
  expect([ofTerminal, ofDaemon, starting].map((each) => boundProject([free, each], wanted))).toEqual([
    ofTerminal,
    ofDaemon,
    starting,
  ]);
  expect(boundProject([free, ended, { ...ofDaemon, session: 'b2', owned: null }], wanted)).toBeUndefined();
});
