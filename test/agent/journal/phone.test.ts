import { expect, it } from 'vitest';
import { apply } from '../../../agent/journal/apply.ts';
import { compact } from '../../../agent/journal/compact.ts';
import { type JournalState, maxTextOf } from '../../../agent/journal/state.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

it('what the phone can show outlives a restart and a compaction, the newest of it', () => {
  const state: JournalState = new Map();
  const record = { t: 'phone', p: '1000001.0', at: 1, phone: privatePhone } as const;
  apply(state, record);
  apply(state, { ...record, phone: { ...privatePhone, maxText: 1_000 } });
  const again: JournalState = new Map();
  for (const each of compact(state, 2)) if (each.t !== 'journal') apply(again, each);
  const project = again.get('1000001.0');
  expect(project && maxTextOf(project)).toBe(1_000);
});
