// What the phone asks about sessions of the daemon's own, with an agent that offers modes and models as the recorded ones do.

import { describe, expect, it } from 'vitest';
import type { OpenSession } from '../../../agent/phone/owned-choices.ts';
import type { AgentFacts } from '../../../agent/phone/owned-commands.ts';
import { createOwnedCommands } from '../../../agent/phone/owned-commands.ts';
import { WaError } from '../../../protocol/errors.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { textsIn } from '../../../protocol/texts.ts';

const owner = '1000001';
const facts: AgentFacts[] = [
  {
    name: 'gemini',
    title: 'Gemini CLI',
    version: '0.61.0',
    hooks: 'missing',
    owned: { needs: 'Needs A.', cost: 'Costs B.' },
  },
  { name: 'agy', title: 'Antigravity CLI', version: undefined, hooks: undefined, owned: undefined },
];

function scene({ isOpen = true, canSwitch = true } = {}) {
  const calls: string[] = [];
  const modes = {
    current: 'default' as string | undefined,
    all: [
      { id: 'default', name: 'Default', description: 'Always asks' },
      { id: 'autoEdit', name: 'Auto Edit' },
      { id: 'yolo', name: 'YOLO\u202e', description: 'Never asks, token hunter2' },
      { id: 'plan', name: 'Plan' },
    ],
  };
  const models = {
    current: 'a-1',
    all: [
      { id: 'a-1', name: 'Model A' },
      { id: 'b-2', name: 'Model B' },
    ],
  };
  const open: OpenSession = {
    agent: 'gemini',
    title: 'Gemini CLI',
    session: {
      id: 's1',
      modes,
      models,
      commands: () => [{ name: 'review', description: 'Looks through a change' }],
      async setMode(id) {
        calls.push(`mode ${id}`);
        modes.current = id;
      },
      async setModel(id) {
        if (id === 'b-2') throw new WaError('child_failed', 'the agent refused it', { hint: 'Take another.' });
        calls.push(`model ${id}`);
      },
    },
    chosen: async (changes) => void calls.push(`chosen ${Object.values(changes)}`),
  };
  const commands = createOwnedCommands({
    texts: () => textsIn('en'),
    desk: {
      session: () => (isOpen ? open : undefined),
      agents: async () => facts,
      skills: async () => [
        { name: 'review', source: '.agents/skills' },
        { name: 'deploy', source: '~/.gemini/skills' },
      ],
      canSwitchSkill: () => canSwitch,
      async switchSkill(agent, skill, on) {
        calls.push(`${agent} ${skill} ${on}`);
        return 'Skill switched.';
      },
    },
    details: {
      thoughts: async (key) => ({
        kind: 'item',
        item: { key, class: 'reply', parts: [{ text: 'I think', entities: [] }] },
      }),
      tapped: async () => undefined,
    },
    refusalOf: async (userId) => (userId === owner ? undefined : 'Only the owner can answer this.'),
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
  });
  let last: OutboxItem | undefined;
  const textOf = (reply: Awaited<ReturnType<typeof commands.tapped>>) => {
    last = reply?.kind === 'item' ? reply.item : undefined;
    return last?.parts[0]?.text;
  };
  return {
    calls,
    send: async (name: Parameters<typeof commands.command>[0], args = '') =>
      textOf(await commands.command(name, args, 'k')),
    labels: () => last?.buttons?.flat().map(({ label }) => label),
    tap: async (label: string, userId = owner) => {
      const action = last?.buttons?.flat().find((each) => each.label === label)?.action ?? '';
      return textOf(await commands.tapped(action, userId, 'k'));
    },
    close: () => {
      open.session.id satisfies string;
      Object.assign(open.session, { id: 's2' });
    },
  };
}

describe('/mode', () => {
  it('lists what the session offers, the current one marked, and those that ask less', async () => {
    const { send, labels } = scene();
    expect(await send('mode')).toBe(
      [
        'Mode of this session of Gemini CLI:',
        '1. Default (now): Always asks',
        '2. ⚠ Auto Edit',
        '3. ⚠ YOLO⟨U+202E⟩: Never asks, token [redacted]',
        '4. Plan',
        '⚠ = may let tools run without asking you; such a mode takes a second tap.',
        'Tap one, or send /mode with its number or name.',
      ].join('\n'),
    );
    // The number of the list, whichever place the button has.
    expect(labels()).toEqual(['2. Auto Edit', '3. YOLO⟨U+202E⟩', '4. Plan']);
  });

  it.each(['4', 'plan', 'PLAN', 'pla'])('%s switches to a mode that asks, at once', async (args) => {
    const { send, calls } = scene();
    expect(await send('mode', args)).toBe('Mode: Plan, from the next step of the agent on.');
    expect(calls).toEqual(['mode plan', 'chosen plan']);
  });

  it('that asks less takes a second tap of the owner, typed or tapped', async () => {
    const { send, tap, labels, calls } = scene();
    expect(await send('mode', 'yolo')).toContain('may let tools run without asking you');
    expect(calls).toEqual([]);
    const [sure = ''] = labels() ?? [];
    expect(await tap(sure, '666')).toBe('Only the owner can answer this.');
    await send('mode', '3');
    expect(await tap(sure)).toBe('Mode: YOLO⟨U+202E⟩, from the next step of the agent on.');
    expect(calls).toEqual(['mode yolo', 'chosen yolo']);
  });

  it('of a session that is over answers nothing', async () => {
    const { send, tap, close, calls } = scene();
    await send('mode');
    close();
    expect(await tap('4. Plan')).toContain('That session is over');
    expect(calls).toEqual([]);
  });

  it('that does not exist, or may be several, lists them', async () => {
    const { send, calls } = scene();
    expect(await send('mode', 'nothing')).toMatch(/^No "nothing" here\.\nMode of this session/);
    expect(await send('mode', 'l')).toMatch(/^"l" may be several of these\./);
    expect(calls).toEqual([]);
  });

  it('on the hook route says where it is changed, and the way that can', async () => {
    const { send } = scene({ isOpen: false });
    expect(await send('mode')).toMatch(/changed in the terminal.*\/new/);
    expect(await send('model')).toMatch(/changed in the terminal.*\/new/);
  });
});

describe('/model', () => {
  it('switches by name, and tells why the agent refuses', async () => {
    const { send } = scene();
    expect(await send('model', 'a-1')).toBe('Model: Model A already.');
    expect(await send('model', '2')).toBe('Not changed: the agent refused it. Take another.');
  });
});

describe('/agents', () => {
  it('says the hook route first, and for each agent what a session from here needs and costs', async () => {
    const { send } = scene({ isOpen: false });
    const text = (await send('agents')) ?? '';
    expect(text).toMatch(/^The usual way is your own session in the terminal: your plan, no second login\./);
    expect(text).toContain(
      'Gemini CLI (gemini): 0.61.0\nIn your terminal: its hooks are not installed; `wa-sync hooks install --agent gemini` does that.\n',
    );
    expect(text).toContain('From here, /new gemini: Needs A. Costs B.');
    expect(text).toContain(
      'Antigravity CLI (agy): not installed\nIn your terminal: wa-sync has no hooks for it.\nFrom here: not possible.',
    );
  });
});

describe('/skills', () => {
  it('lists those of the agent and of the folders, each once, with its source', async () => {
    const { send } = scene();
    expect(await send('skills')).toBe(
      [
        'Gemini CLI offers in this session:',
        '/review (.agents/skills): Looks through a change',
        'In the folders of the project and of the user:',
        '/deploy (~/.gemini/skills)',
        'Send /NAME and what it is for to use one. /skills enable NAME and /skills disable NAME switch one.',
      ].join('\n'),
    );
  });

  it("switches one by the agent's own command, and nothing but a name reaches that command", async () => {
    const { send, calls } = scene();
    expect(await send('skills', 'disable review')).toMatch(/^Skill switched\./);
    for (const args of ['disable', 'disable --all', 'enable a b', 'enable ../x', 'remove a']) {
      expect(await send('skills', args)).toContain('Write /skills');
    }
    expect(calls).toEqual(['gemini review false']);
  });

  it('says what to do where the agent has no such command', async () => {
    const { send, calls } = scene({ canSwitch: false });
    expect(await send('skills', 'enable review')).toContain('no command of its own');
    expect(calls).toEqual([]);
  });
});
