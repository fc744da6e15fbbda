// What Codex's answer about its hooks means, on recorded exchanges of `codex app-server`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hookQuestion, type Place } from '../../../../agent/drivers/codex/hook-question.ts';

const recorded = (name: string) =>
  readFileSync(
    join(import.meta.dirname, '../../../fixtures/codex-0.169.0/app-server', `hooks-list.${name}.jsonl`),
    'utf8',
  )
    .trimEnd()
    .split('\n');
const events = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PreCompact',
].concat(['Stop', 'Interrupt', 'SessionEnd']);
const project = '/home/dev/project';
const hooks = events.map((event) => ({ event, group: 0, index: 0, command: 'recorded' }));
const user: Place = { path: '/home/dev/.codex/hooks.json', paths: [], project: undefined, hooks, unread: undefined };
const ofProject: Place = { ...user, path: `${project}/.codex/hooks.json`, project };
const ask = (...places: Place[]) =>
  hookQuestion(
    places.map((place) => ({ ...place, paths: [place.path] })),
    [project],
    { root: '/', version: '0.1.0' },
  );

/** The recorded answer as that question takes it. */
function judged(name: string, places: Place[], change: (answer: { result: unknown }) => unknown = (same) => same) {
  const question = ask(...places);
  const answers = recorded(name).filter(question.isAnswer);
  expect(answers).toHaveLength(1);
  return question.judge(JSON.stringify(change(JSON.parse(answers[0] ?? ''))));
}
const told = (found: ReturnType<typeof judged>) => found?.faults.map(({ what }) => what);

it('hooks that Codex trusts are no fault', () => {
  expect(judged('trusted', [user, ofProject])).toEqual({ faults: [], says: 'Codex trusts all 18 hooks' });
});

it('each hook that Codex skips is named with the reason, also a trusted one that has been modified', () => {
  expect(judged('mixed', [user, ofProject])?.faults).toEqual([
    {
      state: 'fail',
      what:
        '/home/dev/.codex/hooks.json: Codex skips 4 of 9 hooks of wa-sync ' +
        '(modified: PreToolUse, Stop; untrusted: SessionStart; switched off: Interrupt)',
      repair: 'Start `codex` there, type /hooks, and trust and switch on the hooks of wa-sync.',
    },
    expect.objectContaining({
      what: '/home/dev/project/.codex/hooks.json: Codex skips 1 of 9 hooks of wa-sync (untrusted: SessionStart)',
    }),
  ]);
});

it('a hook that Codex does not list is missing', () => {
  const moved = { ...user, hooks: hooks.map((hook) => (hook.event === 'Stop' ? { ...hook, group: 1 } : hook)) };
  expect(told(judged('trusted', [moved]))).toEqual([expect.stringMatching(/skips 1 of 9 .*\(missing: Stop\)$/)]);
});

it('the reason in the settings files counts where Codex lists no hook of a file, and nowhere else', () => {
  const unread = { state: 'fail', what: 'no trusted folder', repair: 'trust it' } as const;
  const elsewhere = { ...ofProject, path: '/home/dev/other/.codex/hooks.json', unread };
  expect(judged('trusted', [elsewhere])?.faults).toEqual([unread]);
  expect(judged('trusted', [{ ...ofProject, unread }])?.faults).toEqual([]);
  expect(judged('trusted', [{ ...elsewhere, unread: undefined }])?.faults[0]?.repair).toMatch(
    /^Start `codex` there: it/,
  );
});

it('a project whose settings switch off the hooks of the user is named', () => {
  const off = (answer: { result: unknown }) => {
    const [all] = (answer.result as { data: unknown[] }).data;
    return { ...answer, result: { data: [all, { cwd: project, hooks: [], warnings: [], errors: [] }] } };
  };
  expect(told(judged('trusted', [user], off))).toEqual([
    'Codex reads no hook of wa-sync in /home/dev/project, which switches hooks off',
  ]);
});

it('what is no list of hooks is no answer, and nothing is thrown', () => {
  const { judge, isAnswer } = ask(user);
  for (const line of ['', 'garbage', '{"id":1}', '{"id":1,"error":{"code":-32601}}', '{"id":1,"result":{"data":{}}}'])
    expect(judge(line)).toBeUndefined();
  expect(told(judge('{"id":1,"result":{"data":[null,{"cwd":"/","hooks":[7,{"key":{}}]}]}}'))).toHaveLength(1);
  expect([isAnswer('{"id":1,"error":{}}'), isAnswer('{"id":0,"result":{}}'), isAnswer('x')]).toEqual([
    true,
    false,
    false,
  ]);
});

it('the question asks for the hooks of each project, and grants nothing', () => {
  const sent = ask(user)
    .input.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(sent.map(({ method }) => method)).toEqual(['initialize', 'initialized', 'hooks/list']);
  expect(sent[2].params).toEqual({ cwds: ['/', project] });
  const many = Array.from({ length: 1_000 }, (_, index) => `/p/${index}`);
  const { input } = hookQuestion([user], many, { root: '/', version: '0.1.0' });
  expect(JSON.parse(input.trimEnd().split('\n')[2] ?? '').params.cwds).toHaveLength(51);
});
