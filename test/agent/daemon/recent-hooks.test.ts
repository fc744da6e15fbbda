import { expect, it } from 'vitest';
import { createRecentHooks } from '../../../agent/daemon/recent-hooks.ts';
import type { HookRun } from '../../../agent/local-server/app.ts';

it('the daemon remembers the last 20 hook calls that it could read, of whatever folder', () => {
  let now = 0;
  const recent = createRecentHooks(() => now);
  const call = (payload: unknown, tool = 'gemini') =>
    recent.note({ tool, event: 'Notification', payload } as unknown as HookRun);
  call('no payload');
  call({ session_id: 'a', cwd: '/' }, 'nobody');
  expect(recent.list()).toEqual([]);
  for (now = 1; now <= 25; now += 1) call({ session_id: `s${now}`, cwd: '/' });
  expect(recent.list()).toHaveLength(20);
  expect(recent.list().at(-1)).toEqual({ agent: 'gemini', event: 'Notification', session: 's25', at: 25 });
});
