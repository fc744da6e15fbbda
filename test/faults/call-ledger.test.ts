// What the fault lab calls a tool that ran without a yes: its own judgement of hook answers, taps and runs.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  type CallLedger,
  createCallLedger,
  emptyApprovals,
  type IssuedCall,
} from '../../scripts/chaos/approvals/calls.ts';
import { runsWith } from '../../scripts/chaos/approvals/tool-host.ts';

const input = { command: 'make' };

describe('the coding agent', () => {
  it.each([
    [0, '{}'],
    [0, ''],
    [0, 'Approved?'],
    [0, '{"decision":"allow"}'],
    [0, '{"decision":"de'],
    [1, 'Traceback'],
    [2, '{}'],
    [2, ''],
    [137, ''],
    [137, 'half an ans'],
  ])('runs the tool when its hook ends with %i and prints "%s"', (code, stdout) => {
    expect(runsWith({ code, stdout }, input)).toEqual(input);
  });

  it.each([
    [0, '{"decision":"deny","reason":"no"}'],
    [1, ' {"decision":"block"}\n'],
    [0, '{"decision":"ask"}'],
    [0, '{"continue":false}'],
    [2, 'no'],
    [127, 'not found'],
  ])('does not run the tool when its hook ends with %i and prints "%s"', (code, stdout) => {
    expect(runsWith({ code, stdout }, input)).toBeUndefined();
  });

  it('runs the arguments of its hook in place of its own', () => {
    const stdout = '{"hookSpecificOutput":{"tool_input":{"command":"make -n"}}}';
    expect(runsWith({ code: 0, stdout }, input)).toEqual({ command: 'make -n' });
  });
});

describe('a call', () => {
  let now = 0;
  let ledger: CallLedger;
  let call: IssuedCall;
  beforeEach(() => {
    now = 1_000;
    ledger = createCallLedger(() => now++);
    call = ledger.issue((name) => `make ${name}`);
  });
  const clean = { ...emptyApprovals(), calls: 1, asked: 1 };
  const ask = (question = 1) => ledger.asked(call.name, question, 100);
  const yes = (question = 1, command = call.command) => ledger.yes(call.name, question, command);
  const runs = (command = call.command) => ledger.ended(call.name, command, '{}');

  it('that ran after a yes is approved, and edited when the owner gave other words', () => {
    ask();
    yes();
    runs();
    expect(ledger.verdict()).toEqual({ ...clean, approved: 1 });
    ask(2);
    yes(2, 'make -n');
    runs('make -n');
    expect(ledger.verdict()).toEqual({ ...clean, calls: 2, asked: 2, approved: 2, edited: 1 });
  });

  it('that did not run is denied, and a yes that had no effect is counted', () => {
    ask();
    ledger.ended(call.name, undefined, 'no');
    expect(ledger.verdict()).toEqual({ ...clean, denied: 1 });
    yes();
    expect(ledger.verdict()).toEqual({ ...clean, denied: 1, deniedDespiteYes: 1 });
  });

  it.each([
    ['nobody was asked', () => {}],
    ['nobody answered', () => ask()],
    [
      'the yes came when it ran already',
      () => {
        ask();
        now += 10;
        yes();
        now -= 10;
      },
    ],
    [
      'the yes came too late',
      () => {
        ask();
        now += 100;
        yes();
      },
    ],
    [
      'the owner had said no before',
      () => {
        ask();
        ledger.closed(call.name, 1);
        yes();
      },
    ],
    [
      'the yes was for other arguments',
      () => {
        ask();
        yes(1, 'make -n');
      },
    ],
    ['the yes was for a question that was never shown', () => yes(2)],
  ])('that ran although %s ran without a yes', (_, prepare) => {
    prepare();
    runs();
    expect(ledger.verdict().ranWithoutYes).toEqual([call.name]);
  });

  it('that ran twice needs two questions and two yeses', () => {
    ask();
    yes();
    yes();
    runs();
    runs();
    expect(ledger.verdict()).toEqual({ ...clean, calls: 2, approved: 1, runTwice: [call.name] });
  });
});
