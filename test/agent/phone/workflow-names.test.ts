import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import { createWorkflowNames } from '../../../agent/phone/workflow-names.ts';
import type { MessageRow } from '../../../protocol/log.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';
const clock = testClock();
let dir: string;
let journal: Journal;
let sent: OutboxItem[];
let found: string[];

beforeEach(async () => {
  dir = await temporaryFolder();
  journal = await journalIn(dir, clock);
  sent = [];
  found = [];
});

const names = (isWorkflow: (text: string) => Promise<boolean> = async (text) => text.startsWith('/startup')) =>
  createWorkflowNames({
    project: journal.project(p),
    journal,
    isWorkflow,
    send: async (item) => void sent.push(item),
    onFound: (id) => found.push(id),
    onReceipts: () => {},
    clock: clock.now,
    log: () => {},
  });

async function comes(text: string, seq = 1): Promise<string> {
  const id = `msg_e_0_${seq}`;
  const row: MessageRow = {
    seq,
    id,
    at: clock.now(),
    kind: 'message',
    text,
    workflow: true,
    expiresAt: clock.now() + 1e9,
  };
  await journal.append([{ t: 'row', p, at: clock.now(), row }]);
  return id;
}

const phaseOf = (id: string) => journal.project(p).messages.get(id)?.phase;

describe('a text that may name a workflow', () => {
  it('is hidden until the workflow is found, also over a restart', async () => {
    const id = await comes('/startup now');
    expect(journal.project(p).waiting.size).toBe(0);
    await journal.close();
    journal = await journalIn(dir, clock);
    expect(phaseOf(id)).toBe('fetching');
    await names().look();
    expect([phaseOf(id), found, sent]).toEqual(['waiting', [id], []]);
  });

  it('of no workflow is not for the agent, and the owner is asked with buttons', async () => {
    const id = await comes('/nosuch do it');
    await names().look();
    await names().look();
    expect(phaseOf(id)).toBe('ended');
    expect(journal.project(p).receipts.get(id)).toMatchObject({ state: 'refused' });
    expect(sent).toEqual([
      {
        key: `named_${id}`,
        class: 'reply',
        replyTo: id,
        parts: [{ text: 'No workflow "nosuch" in this project; the agent did not get this.', entities: [] }],
        buttons: [[{ label: 'Send as text', action: `relay:text:${id}`, once: true }]],
      },
    ]);
  });

  it('near a command is asked about with the command', async () => {
    const id = await comes('/stpo');
    await names().look();
    expect(sent[0]?.parts[0]?.text).toMatch(/Did you mean \/stop\?$/);
    expect(sent[0]?.buttons).toEqual([
      [{ label: '/stop', action: `relay:say:${id}:/stop`, once: true }],
      [{ label: 'Send as text', action: `relay:text:${id}`, once: true }],
    ]);
  });

  it('that is edited while it is looked for is what it says then', async () => {
    const id = await comes('/nosuch');
    const edit = { seq: 2, id: 'msg_e_0_2', at: clock.now(), kind: 'edit', editOf: id, text: '/startup' } as const;
    await names(async (text) => {
      if (text === '/nosuch')
        await journal.append([{ t: 'row', p, at: clock.now(), row: { ...edit, workflow: true } }]);
      return text === '/startup';
    }).look();
    expect([phaseOf(id), found, sent]).toEqual(['waiting', [id], []]);
  });

  it('that is edited into plain words is a message, and after the question a message of its own', async () => {
    const first = await comes('/nosuch');
    const edit = { at: clock.now(), kind: 'edit', text: 'do it' } as const;
    await journal.append([{ t: 'row', p, at: clock.now(), row: { ...edit, seq: 2, id: 'msg_e_0_2', editOf: first } }]);
    expect(phaseOf(first)).toBe('waiting');
    const second = await comes('/nosuch', 3);
    await names().look();
    await journal.append([{ t: 'row', p, at: clock.now(), row: { ...edit, seq: 4, id: 'msg_e_0_4', editOf: second } }]);
    expect(journal.project(p).waiting.get('msg_e_0_4')?.row).not.toHaveProperty('corrects');
  });
});
