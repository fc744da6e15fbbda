import { describe, expect, it } from 'vitest';
import type { AlarmState, Due } from '../../../worker/mailbox/alarm.ts';
import { alarmRetryMs, planAlarm, reactionTimerMs, watchdogMs } from '../../../worker/mailbox/alarm.ts';

const nowMs = 1_000_000;
const hour = 3_600_000;
const due = (times: Partial<Due> = {}): Due => ({ tickAt: nowMs + hour, sendAt: null, reactionAt: null, ...times });
const resting: AlarmState = { nowMs, setAt: nowMs + hour, guards: false, run: 'none', due: due() };
const stays = { setTo: null, guards: false, timerInMs: null };

describe('the alarm', () => {
  it.each([
    ['is set when none is set', { setAt: null }, { setTo: nowMs + hour }],
    ['stays when it is what is due', {}, {}],
    ['stays when it is merely early', { setAt: nowMs + 10 }, {}],
    ['is moved to what is due before it', { due: due({ sendAt: nowMs + 5_000 }) }, { setTo: nowMs + 5_000 }],
    ['is never set into the past', { due: due({ tickAt: nowMs - 5_000 }) }, { setTo: nowMs }],
    [
      'guards a run whose work must survive the object',
      { run: 'durable', due: due({ sendAt: null }) },
      { setTo: nowMs + watchdogMs, guards: true },
    ],
    ['needs no guard below an earlier one', { run: 'durable', setAt: nowMs + 9 }, {}],
    ['does not guard a run that a fresh object repeats by itself', { run: 'light' }, {}],
    [
      'stays a guard while the run goes on',
      { run: 'durable', setAt: nowMs + 40_000, guards: true },
      { setTo: null, guards: true },
    ],
    ['is taken back when it only guarded', { setAt: nowMs + 40_000, guards: true }, { setTo: nowMs + hour }],
    ['that guarded stays when it is what is due', { guards: true }, {}],
    [
      'leaves a reaction that comes soon to a timer',
      { due: due({ reactionAt: nowMs + reactionTimerMs }) },
      { timerInMs: reactionTimerMs },
    ],
    [
      'comes for a reaction that waits longer',
      { due: due({ reactionAt: nowMs + reactionTimerMs + 1 }) },
      { setTo: nowMs + reactionTimerMs + 1 },
    ],
    ['and its timer wait for the run that shows reactions', { run: 'light', due: due({ reactionAt: nowMs }) }, {}],
    ['comes again when the storage cannot say what is due', { due: null }, { setTo: nowMs + alarmRetryMs }],
    ['that comes sooner is kept then', { setAt: nowMs + 10, due: null }, {}],
  ] satisfies [string, Partial<AlarmState>, object][])('%s', (_title, state, plan) => {
    expect(planAlarm({ ...resting, ...state })).toEqual({ ...stays, ...plan });
  });
});
