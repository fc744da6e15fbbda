import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMcpRoutes, type PollingProject } from '../../../agent/local-server/mcp-routes.ts';
import { createLocalApp } from '../../../agent/local-server/serve.ts';
import { anyJson } from '../../fuzz/any-json.ts';
import { posted } from '../../helpers/local-call.ts';
import { runs } from '../../property/runs.ts';

const from = { connection: 'c', client: 'x', pid: 1, started: '', space: '', parent: 2 };
const tools = ['poll', 'send', 'ack', 'release', 'typing'];

function routes() {
  const calls: string[] = [];
  const does = async <T>(tool: string, result: T): Promise<T> => {
    calls.push(tool);
    return result;
  };
  const project: PollingProject = {
    mailbox: '7',
    poll: () => does('poll', { messages: [] }),
    send: () => does('send', { success: true, chunks_sent: 1 }),
    ack: () => does('ack', { acked: [], unanswered: [], notHeld: [] }),
    release: () => does('release', undefined),
    typing: () => does('typing', undefined),
  };
  const app = createLocalApp(
    createMcpRoutes(async () => project),
    '{}',
  );
  const post = async (tool: string, body: string) => {
    const response = await posted(app, `/mcp/${tool}`, { body });
    return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
  };
  return { calls, post };
}

it('a call of any other shape is refused as JSON and reaches no project', async () => {
  const { calls, post } = routes();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tools), anyJson, fc.boolean(), async (tool, value, known) => {
      const body = JSON.stringify(known ? { cwd: '/p', from: value, ids: value, text: value } : value) ?? 'garbage';
      expect(await post(tool, body)).toMatchObject({ status: 200, body: { error: { code: 'bad_request' } } });
    }),
    { numRuns: runs(500) },
  );
  expect(await post('poll', 'garbage')).toMatchObject({ body: { error: { code: 'bad_request' } } });
  expect(calls).toEqual([]);
});

it('a call that is right runs, and one for another chat does not', async () => {
  const { calls, post } = routes();
  const bodies: Record<string, object> = {
    poll: { timeoutMs: 0, limit: 1 },
    send: { text: 'x', mode: 'Plain', sendId: '0123-abcd', waitMs: 0 },
    ack: { ids: ['msg_1'] },
    release: {},
    typing: {},
  };
  for (const [tool, own] of Object.entries(bodies)) {
    const call = { from, cwd: '/p', ...own };
    expect((await post(tool, JSON.stringify({ ...call, chat: '8' }))).body.error).toMatchObject({
      code: 'bad_arguments',
    });
    expect((await post(tool, JSON.stringify({ ...call, chat: '7' }))).body.error).toBeUndefined();
  }
  expect(calls).toEqual(tools);
});
