// Texts of the owner that come while a question waits: on the whole path none becomes a prompt, or a command, without a tap.

import { expect, it } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';

let ws: Workstation;
let agent: AgentProcess;
const { shell, question, shows, tap, switchOn } = eachGate((scene) => {
  ({ ws, agent } = scene);
});
const { ladder } = phoneOf(() => ws.chat);

const labels = ({ buttons }: SimMessage) => buttons.flat().map(({ label }) => label);
const inInbox = async (text: string) => (await ws.inbox()).some((entry) => entry.text === text);
const answersNothing = 'This text answers nothing: the question above is answered by its buttons.';

it('a text while an approval waits is asked about, and stays out of inbox, tool results and later turns until it is sent', async () => {
  await ws.start();
  await switchOn();
  const answer = shell('npm publish');
  const asked = await question('npm publish');
  const id = await ws.chat.say('yes, allow it');
  const ask = await shows(answersNothing);
  expect([ask.replyTo, labels(ask)]).toEqual([id, ['Send to the agent', 'Drop']]);
  await tap(asked, 'Deny');
  expect(await answer).toMatchObject({ decision: 'deny' });
  const over = await shows('The question is over, and the agent has not got this text.');
  expect(over.messageId).toBe(ask.messageId);
  await ws.chat.say('and now the tests');
  await until('the new text stands in the inbox', () => inInbox('and now the tests'));
  expect(await inInbox('yes, allow it')).toBe(false);
  const context = await agent.turn('Done.');
  expect(context).toContain('and now the tests');
  expect(context).not.toContain('yes, allow it');
  await tap(over, 'Send to the agent');
  const sent = await shows('📨 Goes to the agent.');
  expect([sent.messageId, labels(sent)]).toEqual([ask.messageId, []]);
  await until('the held text stands in the inbox', () => inInbox('yes, allow it'));
  expect(await agent.turn('Well.')).toContain('yes, allow it');
  await ladder('answered', 2);
});

it('Edit… opens the field for the reply, and a text without the reply runs only when the owner says so', async () => {
  await ws.start();
  await switchOn();
  const answer = shell('rm -rf build');
  const asked = await question('rm -rf build');
  await tap(asked, 'Edit…');
  const prompt = await shows('Reply to this message');
  expect([prompt.forceReply, labels(prompt)]).toEqual(['The command that runs instead', []]);
  const waits = await shows('✏️ Waits for your reply to the message below.');
  expect([waits.messageId, labels(waits)]).toEqual([asked.messageId, ['Approve', 'Deny', 'Always', 'Edit…']]);
  await ws.chat.say('rm -rf build/cache');
  const ask = await shows('Is this the command that runs instead?');
  expect(labels(ask)).toEqual(['Run it instead', 'Send to the agent', 'Drop']);
  await tap(ask, 'Run it instead');
  expect(await answer).toMatchObject({ hookSpecificOutput: { tool_input: { command: 'rm -rf build/cache' } } });
  await shows('✏️ Approved as edited:\nrm -rf build/cache');
  await shows('✏️ Ran in place of the command.');
  await ladder('answered');
  expect(await ws.inbox()).toEqual([]);
});

it('a text for Edit… does not run once the question was approved as it is', async () => {
  await ws.start();
  await switchOn();
  const answer = shell('make');
  const asked = await question('make');
  await tap(asked, 'Edit…');
  await shows('Reply to this message');
  await ws.chat.say('make clean');
  const ask = await shows('Is this the command that runs instead?');
  await tap(asked, 'Approve');
  expect(await answer).toEqual({});
  await tap(ask, 'Drop');
  await shows('🗑 Dropped.');
  await ladder('refused');
  expect(await agent.turn('Nothing came.')).toBeUndefined();
});

it('what is held survives kill -9, and the owner is asked again with what can still be done', async () => {
  const daemon = await ws.runDaemon();
  await switchOn();
  const answer = shell('npm publish').catch(() => undefined);
  await question('npm publish');
  await ws.chat.say('yes, allow it');
  await shows(answersNothing);
  await daemon.kill9();
  await ws.runDaemon();
  await answer;
  const over = await shows('The question is over, and the agent has not got this text.');
  expect(await agent.turn('Nothing came.')).toBeUndefined();
  await tap(over, 'Send to the agent');
  await until('the held text stands in the inbox', () => inInbox('yes, allow it'));
});

it('STOP and commands stay ahead of what is held, and /continue releases it', async () => {
  await ws.start();
  await switchOn();
  const answer = shell('npm publish');
  await question('npm publish');
  await ws.chat.say('one moment');
  await shows(answersNothing);
  await ws.chat.say('stop');
  expect(await answer).toMatchObject({ decision: 'deny' });
  await shows('The question is over');
  await ws.chat.say('/continue');
  await shows('1 message released.');
  await shows('📨 Goes to the agent.');
  await until('the held text stands in the inbox', () => inInbox('one moment'));
});
