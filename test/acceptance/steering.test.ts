// The promises to the owner who steers from the phone: an agent that works alone says what it does, and stops when told.

import { describe, expect, it } from 'vitest';
import type { AgentProcess, HookAnswer } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let scene: Scene;
let agent: AgentProcess;
eachTest(async (given) => {
  scene = given;
  agent = await scene.newAgent();
});

const { phone, told } = phoneOf(() => scene.ws.chat);
const tool = () => agent.hook('AfterTool', { tool_name: 'write_file' });

/** A turn as the host plays it, with one tool in it; `during` runs before the tool's result. */
async function turn(
  prompt: string,
  answer: string,
  during = async () => {},
): Promise<{ tool: HookAnswer; end: HookAnswer }> {
  await agent.hook('BeforeAgent', { prompt });
  await agent.record('user', [{ text: prompt }]);
  await agent.hook('BeforeTool', { tool_name: 'write_file', tool_input: { file_path: 'a' } });
  await during();
  const result = await tool();
  await agent.record('gemini', answer);
  return { tool: result, end: await agent.hook('AfterAgent', { prompt, prompt_response: answer }) };
}

async function sprint(tasks: number): Promise<string> {
  await scene.ws.start();
  await scene.ws.chat.say(`/sprint ${tasks} make it green`);
  await told(/^Sprint of at most/);
  const { end } = await turn('go on', 'Ready.');
  return end.reason ?? '';
}

describe('a sprint', () => {
  it('goes on by itself from task to task, tells the phone the status of each, and ends with a last one', async () => {
    let prompt = await sprint(2);
    for (const number of [1, 2]) {
      expect(prompt).toMatch(new RegExp(`^wa-sync sprint, task ${number} of at most 2\\.[\\s\\S]*make it green`));
      const { end } = await turn(prompt, `Task number ${number} works.\nwa: done`);
      expect(end.decision).toBe('block');
      prompt = end.reason ?? '';
      // The status comes with the task, not with the sprint's end.
      await told(new RegExp(`^Task ${number} of 2 done:\\nTask number ${number} works\\.$`));
    }
    expect(prompt).toMatch(/^The wa-sync sprint ends here/);
    expect((await turn(prompt, 'Both work.')).end).toEqual({});
    await told(/^Sprint over after \d+ (?:s|min): all 2 tasks are done\.$/);
    expect(phone().filter((text) => !/^Sprint/.test(text))).toEqual([
      'Ready.',
      'Task 1 of 2 done:\nTask number 1 works.',
      'Task 2 of 2 done:\nTask number 2 works.',
      'Final status of the sprint:\nBoth work.',
    ]);
  });
});

describe('STOP', () => {
  it('halts a sprint after the current turn, which ends with its status; the next turn is a turn like any other', async () => {
    const prompt = await sprint(5);
    const { tool: result, end } = await turn(prompt, 'Half of it works.', async () => {
      await scene.ws.chat.say('STOP');
      await told(/^Stop requested/);
    });
    expect(result.additionalContext).toMatch(/^⛔ STOP signal received from user\. Complete your current action/);
    expect(end).toEqual({});
    await told(/^Stopped after the running turn/);
    await told(/Half of it works\./);
    await told(/Sprint over .*: stopped\.$/);
    expect(await scene.ws.inbox()).toMatchObject([{ control: 'stop', text: 'STOP', read: true }]);
    expect(await turn('at the desk again', 'As you wish.')).toEqual({ tool: {}, end: {} });
  });
});
