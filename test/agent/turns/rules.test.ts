import { describe, expect, it } from 'vitest';
import { decide, selectForTurn } from '../../../agent/turns/rules.ts';
import type { TurnView, WaitingMessage } from '../../../agent/turns/view.ts';
import type { HookCall, TurnEvent } from '../../../protocol/turn-events.ts';

const now = Date.parse('2026-02-15T14:30:00Z');
const nonce = '7f3a9c01';

function waiting(id: string, text = 'Run the tests', changes: Partial<WaitingMessage> = {}): WaitingMessage {
  const entry = { id, timestamp: '2026-02-15T14:30:00Z', from: 'user', text, read: false };
  return { entry, at: now, fromOwner: true, ...changes };
}

function view(changes: Partial<TurnView> = {}): TurnView {
  return {
    now,
    bound: { id: 's1', pid: 100 },
    boundAlive: true,
    waiting: [],
    further: 0,
    carried: [],
    turnRuns: false,
    degraded: false,
    ...changes,
  };
}

function call(event: TurnEvent, session = 's1'): HookCall {
  return { session, transcript: '/t.jsonl', cwd: '/p', event };
}

const turnStart: TurnEvent = { type: 'turnStart', prompt: 'go on' };

describe('a turn that starts', () => {
  it('receives every unread message, oldest first, each with its id, its time and its marks', () => {
    const messages = [waiting('msg_a'), waiting('msg_b', 'and\nlint')];
    const decision = decide(call(turnStart), view({ waiting: messages }), nonce);
    expect(decision.effects).toEqual([{ type: 'turnStarted' }, { type: 'hand', messages }]);
    expect(decision.answer.context?.split('\n').slice(1)).toEqual([
      "[7f3a9c01 begin msg_a · sent 2026-02-15T14:30:00Z · from the owner's phone]",
      'Run the tests',
      '[7f3a9c01 end msg_a]',
      "[7f3a9c01 begin msg_b · sent 2026-02-15T14:30:00Z · from the owner's phone]",
      'and',
      'lint',
      '[7f3a9c01 end msg_b]',
    ]);
  });

  it('gets no context and hands nothing over when nothing waits', () => {
    expect(decide(call(turnStart), view(), nonce)).toEqual({ answer: {}, effects: [{ type: 'turnStarted' }] });
  });

  it('ends a turn whose own end was never seen', () => {
    expect(decide(call(turnStart), view({ turnRuns: true }), nonce).effects).toEqual([
      { type: 'turnEnded', answer: undefined },
      { type: 'turnStarted' },
    ]);
  });

  it('names messages of other programs as such and never as the owner', () => {
    const context = decide(call(turnStart), view({ waiting: [waiting('x', 'hi', { fromOwner: false })] }), nonce).answer
      .context;
    expect(context).toContain('another program on this machine wrote into the wa-sync inbox');
    expect(context).toContain(
      '[7f3a9c01 begin x · sent 2026-02-15T14:30:00Z · written into the inbox by another program]',
    );
    expect(context).not.toContain("owner's phone");
  });

  it('says how old a message is from five minutes on', () => {
    const at = (minutes: number) => {
      const messages = [waiting('msg_a', 'x', { at: now - minutes * 60_000 })];
      return /sent [^·]+/.exec(decide(call(turnStart), view({ waiting: messages }), nonce).answer.context ?? '')?.[0];
    };
    expect([4, 5, 119, 180, 60 * 50].map(at)).toEqual([
      'sent 2026-02-15T14:30:00Z ',
      'sent 2026-02-15T14:30:00Z, 5 minutes ago ',
      'sent 2026-02-15T14:30:00Z, 119 minutes ago ',
      'sent 2026-02-15T14:30:00Z, 3 hours ago ',
      'sent 2026-02-15T14:30:00Z, 2 days ago ',
    ]);
  });

  it('carries the text of a workflow behind the words that named it', () => {
    const messages = [waiting('msg_a', '/startup', { expansion: { name: '/startup', text: 'Read the plan.' } })];
    expect(decide(call(turnStart), view({ waiting: messages }), nonce).answer.context).toContain(
      '/startup\n[7f3a9c01 workflow /startup, follow it]\nRead the plan.\n[7f3a9c01 end msg_a]',
    );
  });

  it('says how many messages come with the next turn', () => {
    const messages = Array.from({ length: 23 }, (_, index) => waiting(`msg_${index}`));
    const { answer, effects } = decide(call(turnStart), view({ waiting: messages, further: 4 }), nonce);
    expect(effects.at(-1)).toEqual({ type: 'hand', messages: messages.slice(0, 20) });
    expect(answer.context).toContain('7 more messages wait and come with the next turn.');
  });
});

describe('what one turn takes', () => {
  it('is at most 32 KB, and one message however large', () => {
    const large = (id: string) => waiting(id, 'ä'.repeat(10_000));
    expect(selectForTurn([large('a'), large('b')]).map((each) => each.entry.id)).toEqual(['a']);
    expect(selectForTurn([waiting('a', 'x'.repeat(100_000)), waiting('b')]).map((each) => each.entry.id)).toEqual([
      'a',
    ]);
  });
});

describe('which session is served', () => {
  it('is the first one that shows an event', () => {
    expect(
      decide(call({ type: 'sessionStart', source: 'startup' }), view({ bound: undefined }), nonce).effects,
    ).toEqual([{ type: 'bind', session: 's1' }]);
  });

  it('stays the bound one while its process lives: a second terminal gets nothing', () => {
    const messages = [waiting('msg_a')];
    expect(decide(call(turnStart, 's2'), view({ waiting: messages }), nonce)).toEqual({ answer: {}, effects: [] });
  });

  it('becomes the next one when the process is gone', () => {
    const messages = [waiting('msg_a')];
    expect(decide(call(turnStart, 's2'), view({ waiting: messages, boundAlive: false }), nonce).effects).toEqual([
      { type: 'bind', session: 's2' },
      { type: 'turnStarted' },
      { type: 'hand', messages },
    ]);
  });

  it('is nobody after the end of a session, which also ends its running turn', () => {
    expect(decide(call({ type: 'sessionEnd', reason: 'exit' }), view({ turnRuns: true }), nonce).effects).toEqual([
      { type: 'turnEnded', answer: undefined },
      { type: 'unbind' },
    ]);
  });
});

describe('the events inside a turn', () => {
  it('are used to look for proof and answer nothing', () => {
    expect(decide(call({ type: 'modelRequest', texts: ['msg_a'] }), view(), nonce)).toEqual({
      answer: {},
      effects: [{ type: 'prove', texts: ['msg_a'] }],
    });
    expect(decide(call({ type: 'toolEnd', tool: 'write_file', input: {} }), view(), nonce)).toEqual({
      answer: {},
      effects: [{ type: 'prove', texts: undefined }],
    });
  });

  it('end with what the host says the answer was', () => {
    expect(decide(call({ type: 'turnEnd', answer: 'Done.' }), view(), nonce).effects).toEqual([
      { type: 'turnEnded', answer: 'Done.' },
    ]);
  });
});
