// Which session the owner means.

import { expect, it } from 'vitest';
import { beginsId } from '../../../agent/owned/short-id.ts';

it('a session is meant by the beginning of its id, as it is typed and as the phone makes it tappable', () => {
  const id = '01a1fae9-1b2c-7000-8000-0123456789ab';
  // Two sessions of Codex within a minute share the first eight digits, so that the phone names more.
  for (const typed of ['01a1', '01A1FAE9', '01a1fae91b', '01a1fae9-1b', id]) expect(beginsId(id, typed)).toBe(true);
  for (const typed of ['01a', '01-', '', '----', 'fae9', `${id}0`]) expect(beginsId(id, typed)).toBe(false);
});
