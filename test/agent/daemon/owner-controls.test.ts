import { expect, it } from 'vitest';
import { createOwnerControls, type OwnerControlsOptions } from '../../../agent/daemon/owner-controls.ts';
import type { Control, ControlRow } from '../../../protocol/log.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';

it('a tap is answered while the start of an agent before it takes its time, and each of them once', async () => {
  const clock = testClock();
  const journal = await journalIn(await temporaryFolder(), clock);
  const project = journal.project(p);
  let answers = 0;
  let isThere = () => {};
  const started = new Promise<void>((resolve) => {
    isThere = resolve;
  });
  const controls = createOwnerControls({
    ...{ project, journal, clock: clock.now, log: () => {} },
    guard: { answer: async ({ control }: ControlRow) => (control.type === 'button' ? [] : undefined) },
    held: { answer: async () => undefined, tend: async () => {} },
    outbox: { send: async () => {} },
    orders: {
      isSlow: ({ control }: ControlRow) => control.type === 'command' && control.name === 'new',
      async answer() {
        answers += 1;
        await started;
        return 'A new session starts.';
      },
    },
  } as unknown as OwnerControlsOptions);
  const comes = (seq: number, id: string, control: Control) =>
    journal.append([
      { ...{ t: 'row', p, at: clock.now() }, row: { seq, id, at: clock.now(), kind: 'control', control } },
    ]);
  await comes(1, 'new', { type: 'command', name: 'new', args: 'claude' });
  await comes(2, 'tap', { type: 'button', action: 'approve:1', key: 'k', userId: '1' });

  await controls.answer();
  await controls.answer();

  expect([...project.controls.keys()]).toEqual(['new']);
  isThere();
  await expect.poll(() => project.controls.size).toBe(0);
  expect(answers).toBe(1);
});
