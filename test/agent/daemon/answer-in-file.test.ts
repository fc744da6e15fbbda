import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { answerInFile } from '../../../agent/daemon/answer-in-file.ts';
import { addSession, recorded, recordedText } from '../../helpers/sessions.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let home: string;
let project: string;
beforeEach(async () => {
  home = await temporaryFolder();
  project = await temporaryFolder();
});

type Agent = 'claude' | 'codex';

/** The recorded prompt came from the phone. */
async function filed(agent: Agent): Promise<string> {
  const text = await recordedText(agent, project);
  return addSession({ home, project }, agent, text.replaceAll('RUN: echo', 'msg_1 RUN: echo'));
}

const look = (agent: Agent, carried = ['msg_1']) =>
  answerInFile({ agent, session: recorded[agent].id }, carried, {
    place: { home, env: {}, state: join(home, 'state') },
    within: project,
  });

describe.each(['claude', 'codex'] as const)('%s: the answer that nobody heard', (agent) => {
  it('is found by the message that its prompt carries, under the same id each time', async () => {
    await filed(agent);
    const found = await look(agent);
    expect(found?.answer).toContain('TOOL-RESULT-SEEN');
    expect(found?.prompts.at(-1)).toContain('msg_1');
    expect(found?.id).toMatch(/^resp_/);
    expect(await look(agent)).toEqual(found);
  });

  it('is none where the last prompt is another one, or the file is not there', async () => {
    expect(await look(agent)).toBe(undefined);
    await filed(agent);
    expect(await look(agent, ['msg_2'])).toBe(undefined);
    expect(await look(agent, [])).toBe(undefined);
  });

  it('is none while the turn has not come to its end', async () => {
    const text = await recordedText(agent, project);
    const end = agent === 'claude' ? '"stop_reason": "end_turn"' : '"task_complete"';
    const cut = text.split('\n').filter((line) => !line.includes(end));
    await addSession({ home, project }, agent, `${cut.join('\n').replaceAll('RUN: echo', 'msg_1 RUN: echo')}\n`);
    expect(await look(agent)).toBe(undefined);
  });
});

it('a text of Claude Code before a tool is no answer', async () => {
  const path = await filed('claude');
  const message = { id: 'm', role: 'assistant', stop_reason: 'tool_use' };
  const said = { ...message, content: [{ type: 'text', text: 'I look at it.' }] };
  const call = { ...message, content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] };
  for (const each of [said, call])
    await appendFile(path, `${JSON.stringify({ type: 'assistant', uuid: 'u', message: each })}\n`);
  expect(await look('claude')).toBe(undefined);
});
