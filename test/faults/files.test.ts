// What other programs do to the two files while the workstation looks away: sleeps, is down, or has nothing to say.

import { stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let ws: Workstation;
let newAgent: Scene['newAgent'];
let arrives: Scene['arrives'];
eachTest((scene) => {
  ({ ws, newAgent, arrives } = scene);
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const entry = (fields: object) => ({ id: 'x', timestamp: isoSeconds(Date.now()), text: 'theirs', ...fields });

describe('a foreign mv that leaves a file readable for everybody', () => {
  it('is repaired in the outbox although there is nothing to send', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [entry({ from: 'agent', sent: true })] });
    await until('the mode is restored', async () => (await modeOf(ws.outboxFile)) === 0o600);
  });

  it('is repaired in the inbox although the phone never said anything', async () => {
    await ws.start();
    await ws.foreignWrite(ws.inboxFile, { messages: [entry({ from: 'script', read: false })] });
    await until('the mode is restored', async () => (await modeOf(ws.inboxFile)) === 0o600);
  });

  it('is repaired at the next start when nobody was there', async () => {
    await ws.foreignWrite(ws.inboxFile, { messages: [entry({ from: 'script', read: true })] });
    await ws.foreignWrite(ws.outboxFile, { messages: [entry({ from: 'agent', sent: true })] });
    await ws.start();
    await until('both modes are restored', async () =>
      [await modeOf(ws.inboxFile), await modeOf(ws.outboxFile)].every((mode) => mode === 0o600),
    );
  });
});

describe('a program that rewrites the inbox without having seen the newest message', () => {
  it('takes nothing away, although the workstation slept until long after', async () => {
    let sleptMs = 0;
    const clock = () => Date.now() + sleptMs;
    await ws.start({ clock });
    await ws.chat.say('one');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    await until('the relay is rid of it', async () => (await ws.chat.ladder()).delivered === 1);
    // The daemon notices the rewrite when it wakes, long after it wrote the message and the other program wrote the file.
    sleptMs = 60_000;
    await ws.foreignWrite(ws.inboxFile, { messages: [] });
    await until('it is put back', async () => (await ws.inbox()).length === 1);
    expect(await ws.inbox()).toEqual([expect.objectContaining({ text: 'one', read: false })]);
    expect(await ws.chat.ladder()).toEqual({ delivered: 1 });
  });

  it('takes nothing away, although no daemon ran until long after', async () => {
    const first = await ws.start();
    await ws.chat.say('one');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    await until('the relay is rid of it', async () => (await ws.chat.ladder()).delivered === 1);
    await first.stop();
    await ws.foreignWrite(ws.inboxFile, { messages: [] });
    await ws.start({ clock: () => Date.now() + 60_000 });
    await until('it is put back', async () => (await ws.inbox()).length === 1);
    expect(await ws.inbox()).toEqual([expect.objectContaining({ text: 'one', read: false })]);
  });
});

describe('a program that rewrites the outbox without having seen the newest status update', () => {
  it('takes nothing away of the answer to a message that a hook gave while no daemon ran: once on the phone', async () => {
    const first = await ws.start();
    await arrives('to a hook alone');
    await until('it is in the file', async () => (await ws.inbox()).length === 1);
    await first.stop();
    const agent = await newAgent('agent');
    expect(await agent.turn('Done by myself.')).toContain('to a hook alone');
    expect((await ws.outbox()).map(({ text }) => text)).toEqual(['Done by myself.']);
    await ws.foreignWrite(ws.outboxFile, { messages: [entry({ from: 'agent', sent: false })] });
    await ws.start();
    await until('theirs is marked', async () => (await ws.outbox()).some((each) => each.id === 'x' && each.sent));
    // The session file has the end that nothing else tells any more; the next prompt shows that it was one.
    expect(await agent.turn('Next.')).toBeUndefined();
    await until('all are on the phone', () => ws.chat.fromBot().length >= 3);
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
    const texts = ws.chat.fromBot().map(({ text }) => text);
    expect(texts.sort()).toEqual(['Done by myself.', 'Next.', 'theirs']);
  });
});

describe('a program that appends without ids to what it had read before its first entry got one', () => {
  const said = (text: string) => ({ text, sent: false });
  const onPhone = () => ws.chat.fromBot().map(({ text }) => text);

  it('is told once of each, and each entry is marked', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [said('one')] });
    await until('it has an id', async () => (await ws.outbox())[0]?.id !== undefined);
    await ws.foreignWrite(ws.outboxFile, { messages: [said('one'), said('two')] });
    await until('both are marked', async () => {
      const entries = await ws.outbox();
      return entries.length === 2 && entries.every(({ sent }) => sent);
    });
    expect(onPhone()).toEqual(['one', 'two']);
  });
});
