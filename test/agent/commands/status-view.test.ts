// The screen of `wa-sync status`, as lines.

import { expect, it } from 'vitest';
import { type StatusView, statusLines } from '../../../agent/commands/status-view.ts';
import type { DaemonStatus } from '../../../agent/daemon-status.ts';
import { createScreen } from '../../../agent/screen.ts';
import { WaError } from '../../../protocol/errors.ts';
import { noUse, shareOf } from '../../../protocol/free-plan.ts';
import type { StatusAnswer } from '../../../protocol/relay-api.ts';

const now = Date.parse('2026-02-15T15:00:00Z');
const second = 1_000;

const daemon = {
  version: '1.2.0',
  pid: 77,
  startedAt: now - 3 * 3_600 * second,
  daemonId: 'd',
  hooks: [],
  projects: [
    {
      dir: '/home/dev/shop',
      files: '/home/dev/shop/.gemini',
      filesNote: null,
      mailbox: '42',
      project: 7,
      relay: 'connected',
      waiting: 2,
      leased: [{ id: 'msg_1', client: 'codex', pid: 9, untilAt: now + 90 * 60 * second }],
      unsent: 1,
      cursor: 4,
      session: 's-1',
      agent: 'gemini',
      transcript: '/x',
      turnRuns: true,
      held: false,
      sprint: { done: 2, tasks: 5 },
      away: true,
      follow: 'auto',
      inboxTrouble: null,
      outboxTrouble: 'the disk is full',
      approvals: { mode: 'risky', asked: 1, policies: ['user'], problems: [] },
      usage: [],
      last: { message: now - 120 * second, sent: null, poll: now - 4 * second, hook: now - 12 * second },
    },
  ],
} as unknown as DaemonStatus;

const answer = {
  version: '1.1.0',
  now,
  platforms: [],
  mailboxes: [
    {
      mailbox: '42',
      projects: [{ project: 7, ladder: { delivered: 2, answered: 5 }, deadLetters: 1 }],
    },
  ],
  today: shareOf(noUse('2026-02-15')),
} as unknown as StatusAnswer;

const view: StatusView = {
  now,
  version: '1.2.0',
  daemon,
  relay: { url: 'https://wa.example', answer },
  isLocal: false,
  troubles: [],
  usage: new Map([['/home/dev/shop', { model: 'gemini-3-pro', tokens: 121_000, contextShare: 0.34 }]]),
  claim: undefined,
};

const textOf = (changes: Partial<StatusView> = {}, columns = 80) =>
  statusLines({ ...view, ...changes }, columns).map(({ text }) => text);

it('one screen of 80 columns says all of a project', () => {
  expect(textOf()).toEqual([
    'wa-sync     1.2.0, pid 77, up 3 h',
    'relay       https://wa.example, 1.1.0',
    '            daemon and relay differ (1.2.0 and 1.1.0): wa-sync relay upgrade',
    '',
    '/home/dev/shop (chat 42, project 7)',
    '  relay     connected',
    '  session   s-1, a turn runs, gemini-3-pro, 121,000 tokens, context 34 %',
    '  modes     away, approvals risky (1 asked on the phone), policy of yours',
    '            active, sprint: 2 of 5 tasks done, follow auto',
    '  waiting   2 for the coding agent, 1 for the phone',
    '  held      1 by codex (pid 9), back unread in 1 h 30 min',
    '  receipts  2 delivered, 5 answered; 1 in `wa-sync letters`',
    '  last      message 2 min ago, answer -, poll 4 s ago, hook 12 s ago',
    '  trouble   the disk is full',
  ]);
  expect(Math.max(...textOf().map((line) => line.length))).toBeLessThanOrEqual(80);
});

it('names the claim link and the end of a temporary account, and a daemon of another version', () => {
  const claim = {
    url: 'https://dash.example/claim?token=a-link-to-copy-in-one-piece',
    expiresAt: now + 54 * 60 * second,
  };
  const text = textOf({ claim, version: '1.3.0' });
  expect(text).toContain(`            ${claim.url}`);
  expect(text).toContain('account     temporary, ends in 54 min; keep it:');
  expect(text).toContain('            this command is 1.3.0: `wa-sync restart` brings the daemon to it');
  expect(textOf({ claim: { ...claim, expiresAt: now } })).toContain(
    'account     the temporary account has ended. Claimed: `wa-sync setup --claimed`;',
  );
});

it('says what is known without daemon or relay', () => {
  const gone = new WaError('daemon_not_running', 'no daemon answers in /run/x', { hint: 'Start it.' });
  const away = new WaError('relay_unreachable', 'the relay did not answer', { hint: 'Check it.' });
  expect(textOf({ daemon: gone, relay: { url: 'https://wa.example', answer: away } })).toEqual([
    'wa-sync     1.2.0; no daemon answers in /run/x',
    '            Start it.',
    'relay       https://wa.example: the relay did not answer (relay_unreachable)',
    '            Check it.',
  ]);
});

it('is coloured on a terminal, plain with NO_COLOR or in a pipe, and shows control characters', () => {
  const written = (isTTY: boolean, env: Record<string, string>) => {
    const texts: string[] = [];
    const screen = createScreen({ isTTY, write: (text: string) => texts.push(text) }, env);
    screen.draw([{ text: 'trouble \u001b[2J', tone: 'bad' }]);
    return texts.join('').replaceAll('\u001b', 'ESC');
  };
  expect(written(true, {})).toMatch(/^ESC\[HESC\[2JESC\[31mtrouble .*(?!ESC).*ESC\[0m\n$/);
  expect(written(true, { NO_COLOR: '1' })).toMatch(/^ESC\[HESC\[2Jtrouble (?:(?!ESC).)+\n$/);
  expect(written(false, {})).toMatch(/^trouble (?:(?!ESC).)+\n$/);
});

it('a relay that the daemon runs is named as that, whether it answers or not', () => {
  const local = { isLocal: true, relay: { url: 'http://127.0.0.1:9', answer } };
  expect(textOf(local)[1]).toBe('relay       on this machine, run by the daemon');
  expect(textOf(local).join('\n')).not.toMatch(/upgrade|free plan|WA_RELAY_URL/);
  const gone = new WaError('relay_unreachable', 'no answer from the relay');
  expect(textOf({ ...local, relay: { url: 'http://127.0.0.1:9', answer: gone } }, 120).slice(1, 3)).toEqual([
    'relay       on this machine, run by the daemon, does not answer: no answer from the relay (relay_unreachable)',
    '            Start both anew with `wa-sync restart`.',
  ]);
  expect(textOf({ isLocal: true, relay: undefined }).slice(1, 3)).toEqual([
    'relay       on this machine, run by the daemon, does not answer',
    '            Start both anew with `wa-sync restart`.',
  ]);
});
