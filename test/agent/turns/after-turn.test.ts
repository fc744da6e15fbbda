import { describe, expect, it } from 'vitest';
import { afterTurn, nextPrompt } from '../../../agent/turns/after-turn.ts';
import type { TurnOutcome, TurnView, WaitingMessage } from '../../../agent/turns/view.ts';
import type { Sprint } from '../../../protocol/sprint.ts';
import { turnView } from '../../helpers/turn-view.ts';

const now = 1_000_000;
const nonce = '7f3a9c01';
const stop = { id: 'stop_1', type: 'stop', text: '/stop', fromOwner: true } as const;
const sprint: Sprint = { id: 's', tasks: 3, done: 0, goal: '', startedAt: now, turn: 'task', idleTurns: 0 };
const away = { policy: 'auto', away: true, fromPhone: false, nobody: false, interactive: true } as const;

function waiting(text: string): WaitingMessage {
  const entry = { id: 'msg_a', timestamp: '2026-02-15T14:30:00Z', from: 'user', text, read: false };
  return { entry, at: now, fromOwner: true };
}

const view = (changes: Partial<TurnView> = {}) => turnView({ now, ...changes });

function outcome(changes: Partial<TurnOutcome> = {}): TurnOutcome {
  return { answer: 'Done.', failed: false, cancelled: false, lost: false, toolCalls: 1, ...changes };
}

describe('after a turn', () => {
  it('the keyboard is free when no message waits and the owner is not away', () => {
    expect(afterTurn(outcome(), view(), nonce)).toEqual({
      sprint: undefined,
      warns: false,
      stopped: false,
      next: undefined,
      holds: false,
    });
  });

  it.each([
    ['away', { away: true }, true],
    ['a turn of the phone', { fromPhone: true }, true],
    ['always', { policy: 'always' }, true],
    ['never, however away', { policy: 'never', away: true }, false],
    ['a headless run, however always', { policy: 'always', away: true, interactive: false }, false],
  ] as const)('it is held or not: %s', (_, hold, holds) => {
    expect(afterTurn(outcome(), view({ hold: { ...view().hold, ...hold } }), nonce).holds).toBe(holds);
  });

  it('messages come first, as they were written, and the screen shows them', () => {
    const after = afterTurn(outcome(), view({ waiting: [waiting('Go on\nwith it')], sprint, hold: away }), nonce);
    expect(after.next?.text).toContain('\nGo on\nwith it\n[7f3a9c01 end msg_a]');
    expect(after.next?.notice).toMatch(/^From the phone: Go on\n {2}with it\n\(The next prompt of this session\./);
    expect(after.sprint).toMatchObject({ done: 1, turn: 'message' });
    expect(after.holds).toBe(false);
  });

  it('a sprint goes on with its next task', () => {
    const after = afterTurn(outcome({ answer: 'A\nwa: done' }), view({ sprint }), nonce);
    expect(after.next?.text).toMatch(/^wa-sync sprint, task 2 of at most 3\./);
    expect(after.sprint).toMatchObject({ done: 1, turn: 'task' });
  });

  it('a STOP ends the sprint, and the terminal waits as it would otherwise', () => {
    const after = afterTurn(outcome(), view({ sprint, stop, hold: away }), nonce);
    expect(after).toEqual({
      sprint: undefined,
      ended: { sprint, end: 'stopped' },
      warns: false,
      stopped: true,
      next: undefined,
      holds: true,
    });
  });

  it('what was written after a STOP is the next prompt, without the STOP', () => {
    const after = afterTurn(outcome(), view({ stop, waiting: [waiting('do this instead')] }), nonce);
    expect(after.next?.text).toMatch(/^A message from the owner's phone[\s\S]*\ndo this instead\n/);
    expect(after.stopped).toBe(true);
  });

  it('a failed turn ends the sprint as an error', () => {
    expect(afterTurn(outcome({ answer: undefined, failed: true }), view({ sprint }), nonce).ended?.end).toBe('error');
  });

  it('Esc at the terminal takes back the keyboard, even when messages wait', () => {
    const wanted = view({ waiting: [waiting('x')], sprint, hold: away });
    for (const ended of [{ lost: true }, { cancelled: true, failed: true }]) {
      expect(afterTurn(outcome({ ...ended, answer: undefined }), wanted, nonce)).toMatchObject({
        next: undefined,
        holds: false,
        ended: { end: 'stopped' },
      });
    }
  });

  it('a prompt that the host drops at its budget of turns does not count as Esc: the next turn gets it again', () => {
    const dropped = view({ waiting: [waiting('x')], continuations: 100, maxContinuations: 99 });
    expect(afterTurn(outcome({ lost: true, answer: undefined }), dropped, nonce).next?.text).toContain('\nx\n');
  });
});

describe('a held hook', () => {
  it('goes on waiting while there is nothing for it', () => {
    expect(nextPrompt(view(), nonce)).toBeUndefined();
  });

  it('says the words of a STOP before what was written with it', () => {
    const next = nextPrompt(view({ stop, waiting: [waiting('please stop')] }), nonce);
    expect(next?.continuation.text).toMatch(/^⛔ STOP signal received from user\.[\s\S]*\nplease stop\n/);
  });
});
