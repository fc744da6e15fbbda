// The dialog in a terminal and its owner: what is told, and what a tap may press. The terminal is a recorded screen.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDialogs } from '../../../agent/approvals/dialogs.ts';
import { geminiWorkstation } from '../../../agent/drivers/gemini/workstation.ts';
import type { OpenDialog } from '../../../agent/journal/records.ts';
import { emptyProject, type ProjectState } from '../../../agent/journal/state.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import type { HookCall, HostDialog, TurnEvent } from '../../../protocol/turn-events.ts';

const recorded = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../fixtures/gemini-0.61.0/screens', `${name}.txt`), 'utf8');
const dialog: HostDialog = { kind: 'exec', title: 'Confirm Shell Command', text: 'touch a\ntouch b\n# Allow once' };
const call = (event: TurnEvent): HookCall => ({
  agent: 'gemini',
  session: 's1',
  transcript: undefined,
  cwd: '/home/dev/shop',
  event,
});
const owner = '1000001';
const over = { type: 'toolEnd', tool: 'run_shell_command', input: {} } as const;

let project: ProjectState;
let screen: string | undefined;
let pressed: string[];
/** What the screen shows after a key. */
let afterKey: string | undefined;
let items: OutboxItem[];
let kept: (OpenDialog | null)[];
let audited: string[];
let cancelled: string[];
let onPress: () => void;
let isPresent: boolean;
let seenAt: number;
let now: number;
let dialogs: ReturnType<typeof createDialogs>;

const restart = () =>
  createDialogs({
    project,
    async record({ dialog: open }) {
      kept.push(open);
      project.dialog = open ?? undefined;
    },
    send: async (item) => void items.push(item),
    shows: { hide: async (text) => ({ text, places: 0 }) },
    refusalOf: async (userId) => (userId === owner ? undefined : 'Only the owner can answer this.'),
    audit: ({ answer, by, text }) => audited.push(`${answer} by ${by}: ${text}`),
    keysFor: (agent) => (agent === 'gemini' ? geminiWorkstation.dialogs : undefined),
    terminal: {
      screen: async () => screen,
      async press(_pid, key) {
        pressed.push(key);
        screen = afterKey;
        onPress();
        return true;
      },
    },
    isAlive: () => true,
    isPresent: () => isPresent,
    seenAt: () => seenAt,
    clock: () => now,
    onCancelled: (why) => cancelled.push(why),
    log: () => {},
  });

beforeEach(() => {
  project = emptyProject('1000001.0');
  screen = recorded('command-lines');
  afterKey = recorded('cancelled');
  [pressed, items, kept, audited, cancelled] = [[], [], [], [], []];
  onPress = () => {};
  isPresent = false;
  seenAt = 0;
  now = 1_790_000_000_000;
  dialogs = restart();
});

async function open(pid: number | undefined = 7, shown = dialog) {
  const event = { type: 'dialog', dialog: shown } as const;
  const hook = call(event);
  dialogs.sees(hook);
  dialogs.opened(hook, pid, shown);
  await dialogs.idle();
}
const text = () => items.at(-1)?.parts[0]?.text;
const buttons = () => items.at(-1)?.buttons?.flat() ?? [];
const tap = (label: string, userId = owner) =>
  dialogs.answer(buttons().find((button) => button.label === label)?.action ?? '', userId);

describe('while a person sits at the terminal', () => {
  beforeEach(() => {
    isPresent = true;
  });

  it('a dialog rings after half a minute, and at once when the person leaves', async () => {
    await open();
    now += 29_999;
    await dialogs.tick();
    expect(items).toEqual([]);
    now += 1;
    await dialogs.tick();
    expect(items).toHaveLength(1);
    expect(buttons()).toHaveLength(2);
    await dialogs.tick();
    expect(items).toHaveLength(1);
    await open();
    const before = items.length;
    isPresent = false;
    await dialogs.tick();
    expect(items).toHaveLength(before + 1);
  });

  it('a dialog that is read there, as a key shows, rings only when the person leaves', async () => {
    await open();
    now += 10_000;
    seenAt = now;
    now += 60_000;
    await dialogs.tick();
    expect(items).toEqual([]);
    isPresent = false;
    await dialogs.tick();
    expect(items).toHaveLength(1);
  });

  it('a dialog that was answered there never rings, whether an event or only the screen says so', async () => {
    await open();
    dialogs.sees(call(over));
    screen = recorded('cancelled');
    await dialogs.idle();
    screen = recorded('command-lines');
    await open();
    screen = recorded('cancelled');
    for (let looks = 0; looks < 3; looks += 1) await dialogs.tick();
    now += 60_000;
    await dialogs.tick();
    expect([items, project.dialog]).toEqual([[], undefined]);
  });
});

describe('a dialog that the screen shows', () => {
  it('is told once it stands there, with its buttons, and a tap presses its key', async () => {
    await open();
    expect(text()).toBe(
      'A dialog waits in the terminal: Confirm Shell Command\ntouch a\ntouch b\n# Allow once\nAnswer it here or in the terminal.',
    );
    expect(buttons().map(({ label }) => label)).toEqual(['Allow once', 'Deny']);
    expect(await tap('Allow once')).toBeUndefined();
    expect({ pressed, audited, cancelled }).toEqual({
      pressed: ['1'],
      audited: [`allow by ${owner}: ${dialog.text}`],
      cancelled: [],
    });
    expect([text()?.split('\n').at(-1), buttons(), project.dialog]).toEqual([
      '✅ Allowed once, from here.',
      [],
      undefined,
    ]);
  });

  it('is refused by its own key, which ends the turn', async () => {
    await open();
    await tap('Deny');
    expect(pressed).toEqual(['3']);
    expect(cancelled).toEqual(['You denied the dialog in the terminal, which ends the turn.']);
  });

  it('is answered by its owner alone, and not by a tap on the buttons of another dialog', async () => {
    await open();
    expect(await tap('Allow once', '2000002')).toBe('Only the owner can answer this.');
    expect(await dialogs.answer('dialog:0123456789ab:allow', owner)).toContain('no longer there');
    expect(await dialogs.answer('dialog:x:approve', owner)).toContain('no longer there');
    expect(pressed).toEqual([]);
  });

  it.each([
    ['another dialog', () => recorded('command-wrapped')],
    ['nothing of it', () => recorded('cancelled')],
    ['nothing that can be seen', () => undefined],
  ])('is not answered while the terminal shows %s', async (_what, now) => {
    await open();
    screen = now();
    expect(await tap('Allow once')).toContain('no key was pressed');
    expect({ pressed, audited }).toEqual({ pressed: [], audited: [] });
  });

  it('is not answered when the next dialog was announced, whatever the screen still shows', async () => {
    await open();
    const tapped = tap('Allow once');
    dialogs.sees(call({ type: 'dialog', dialog }));
    expect(await tapped).toContain('no key was pressed');
    expect(pressed).toEqual([]);
  });

  it('gets one key, also when the key did nothing, or the daemon ended before it knew', async () => {
    await open();
    afterKey = screen;
    onPress = () => {
      throw new Error('the daemon ends here');
    };
    await tap('Allow once').catch(() => {});
    onPress = () => {};
    dialogs = restart();
    expect(await tap('Allow once')).toContain('no key was pressed');
    expect(pressed).toEqual(['1']);
    expect(kept.at(-1)).toMatchObject({ pressed: true });
  });

  it('loses its buttons when the screen shows it no longer, and not for one look at a screen that is drawn anew', async () => {
    await open();
    const shown = screen;
    screen = '';
    await dialogs.tick();
    screen = shown;
    await dialogs.tick();
    expect(buttons()).toHaveLength(2);
    screen = recorded('cancelled');
    await dialogs.tick();
    await dialogs.tick();
    expect([text()?.split('\n').at(-1), buttons()]).toEqual([
      '▫️ It is over: answered or cancelled in the terminal.',
      [],
    ]);
  });

  it('stays while the screen shows it, whatever else the session does', async () => {
    await open();
    dialogs.sees(call(over));
    await dialogs.idle();
    expect(project.dialog?.seen).toBe(true);
  });

  it('is told and answered whatever another session does meanwhile', async () => {
    const hook = call({ type: 'dialog', dialog });
    dialogs.sees(hook);
    dialogs.opened(hook, 7, dialog);
    dialogs.sees({ ...call(over), session: 's2' });
    dialogs.sees({ ...call({ type: 'dialog', dialog }), session: 's2' });
    await dialogs.idle();
    expect(await tap('Allow once')).toBeUndefined();
    expect(pressed).toEqual(['1']);
  });

  it('is cancelled by a STOP', async () => {
    await open();
    expect(await dialogs.stop()).toBe('cancelled');
    expect([pressed, text()?.split('\n').at(-1)]).toEqual([['Escape'], '⛔ Cancelled by your STOP.']);
    expect(await dialogs.stop()).toBe('none');
  });
});

describe('a dialog that no key can answer', () => {
  const sentence = (first: string) =>
    `Only the terminal can answer it. To be asked here instead, ${first}start the agent there with \`gemini --approval-mode yolo\`.`;

  it.each([
    ['off', 'send /approvals risky, then '],
    ['risky', ''],
  ] as const)('is told with the way to be asked on the phone, in mode %s', async (mode, first) => {
    project.approvals.mode = mode;
    screen = undefined;
    await open();
    expect([text()?.split('\n').at(-1), buttons()]).toEqual([sentence(first), []]);
  });

  it('is over with the next event that cannot come while it waits', async () => {
    screen = undefined;
    await open();
    dialogs.sees(call({ type: 'gate', tool: 'read_file', input: {}, server: undefined }));
    await dialogs.idle();
    expect(project.dialog).toBeDefined();
    dialogs.sees(call(over));
    await dialogs.idle();
    expect(project.dialog).toBeUndefined();
  });

  it('keeps a STOP waiting, and says so', async () => {
    screen = undefined;
    await open();
    expect(await dialogs.stop()).toBe('waits');
    expect(pressed).toEqual([]);
  });

  it('and was answered before the phone heard of it stays untold', async () => {
    screen = recorded('cancelled');
    const hook = call({ type: 'dialog', dialog });
    dialogs.sees(hook);
    dialogs.opened(hook, 7, dialog);
    dialogs.sees(call(over));
    await dialogs.idle();
    expect({ items, open: project.dialog }).toEqual({ items: [], open: undefined });
  });
});
