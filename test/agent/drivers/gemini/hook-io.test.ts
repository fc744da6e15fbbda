import { expect, it } from 'vitest';
import { readCall } from '../../../../agent/drivers/gemini/hook-io.ts';

const promptOf = (prompt: string) => {
  const payload = { session_id: 's', transcript_path: '/t.jsonl', cwd: '/p', hook_event_name: 'BeforeAgent', prompt };
  return readCall('BeforeAgent', payload)?.event;
};

it('a headless prompt is read without what hooks said at the start of the session, and any other as it is', () => {
  const context = '<hook_context>wa-sync connects &lt;this&gt; session.\nIt waits.</hook_context>\n\n';
  expect(promptOf(`${context}/wa:away: I leave`)).toEqual({ type: 'turnStart', prompt: '/wa:away: I leave' });
  const later = `go on\n\n${context}/wa:away: I leave`;
  expect(promptOf(later)).toEqual({ type: 'turnStart', prompt: later });
});
