// Between Telegram, relay and workstation: answers that never come, processes that die around a commit, two who ask at once.

import { readFile, rename } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { type Line, startLine } from '../../scripts/lab/line.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { startAgent } from '../helpers/launcher.ts';
import { type FarSide, startFarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
const closers: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  far = await startFarSide();
});
afterAll(() => far.close());
beforeEach(async () => {
  ws = await createWorkstation(far);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await ws.close();
});

const texts = async (of = ws) => (await of.inbox()).map((entry) => entry.text);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);
const phone = () => ws.chat.fromBot().map((message) => message.text);
const reply = (text: string) => ({
  messages: [{ id: 'r', timestamp: isoSeconds(Date.now()), from: 'agent', text, sent: false }],
});

/** The relay behind a line that breaks, as another address of it. */
async function brokenLine(): Promise<{ line: Line; far: FarSide }> {
  const line = await startLine(() => Number(new URL(far.url).port));
  closers.push(() => line.close());
  return { line, far: { ...far, url: `http://127.0.0.1:${line.port}` } };
}

describe('a webhook', () => {
  it('that the relay accepted just before it was killed comes again, and the message once', async () => {
    await ws.start();
    let accepted = 0;
    let killed: Promise<void> | undefined;
    const gate: Server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = {
        'content-type': 'application/json',
        'x-telegram-bot-api-secret-token': String(request.headers['x-telegram-bot-api-secret-token']),
      };
      const body = Buffer.concat(chunks).toString('utf8');
      const answer = await fetch(`${far.url}/telegram/webhook`, { method: 'POST', headers, body }).catch(
        () => undefined,
      );
      if (answer?.status === 200) accepted += 1;
      // Telegram never hears of the first commit.
      killed ??= far.killRelay();
      await Promise.resolve(killed);
      if (accepted === 1) response.destroy();
      else response.writeHead(answer?.status ?? 503).end();
    });
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      far.sim.setWebhook(`${far.url}/telegram/webhook`, far.secret);
      gate.closeAllConnections();
      await new Promise((resolve) => gate.close(resolve));
    });
    far.sim.setWebhook(`http://127.0.0.1:${(gate.address() as AddressInfo).port}`, far.secret);
    await ws.chat.say('once');
    await until('the relay is killed', () => killed !== undefined);
    await Promise.resolve(killed);
    await far.startRelay();
    await until('Telegram brought it again', () => accepted >= 2 && far.sim.pendingUpdates() === 0);
    await until('it is there', async () => (await texts()).length > 0);
    await until('the relay is rid of it', async () => (await ws.chat.ladder()).delivered === 1);
    expect(await texts()).toEqual(['once']);
  });
});

describe('a line that breaks', () => {
  it('at every answer of the relay, half of it or all: each message once, in order', async () => {
    const { line, far: behind } = await brokenLine();
    await ws.close();
    ws = await createWorkstation(behind);
    await ws.start();
    for (const [index, text] of numbered(6).entries()) {
      line.arm({ kind: index % 2 === 0 ? 'truncateAnswer' : 'dropAnswer' });
      await ws.chat.say(text);
      await until('it is there', async () => (await texts()).includes(text));
    }
    await until('the relay is rid of them', async () => (await ws.chat.ladder()).delivered === 6);
    expect(await texts()).toEqual(numbered(6));
  });

  it('at the answer to a status update: posted again, once on the phone, marked sent', async () => {
    const { line, far: behind } = await brokenLine();
    await ws.close();
    ws = await createWorkstation(behind);
    await ws.start();
    line.setDown(true);
    await ws.foreignWrite(ws.outboxFile, reply('done'));
    await until('the journal has it', async () => (await journalOf(ws)).includes('"t":"entry"'));
    for (let lost = 0; lost < 4; lost += 1) line.arm({ kind: lost % 2 === 0 ? 'dropAnswer' : 'truncateAnswer' });
    line.setDown(false);
    await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
    expect(phone()).toEqual(['done']);
  });
});

describe('a row that was handed out', () => {
  it('to one daemon is not handed to a second workstation, which says why and waits', async () => {
    const other = await createWorkstation(far, ws.chat);
    closers.push(() => other.close());
    await ws.start();
    await ws.chat.say('mine');
    await until('it is there', async () => (await texts()).length === 1);
    const second = await other.start();
    const [project] = await until('the second one is refused', () => {
      const { projects } = second.status() as { projects: [{ error?: string }] };
      return projects[0].error !== undefined && projects;
    });
    await ws.chat.say('mine too');
    await until('it is there', async () => (await texts()).length === 2);
    expect(project.error).toBe('held_by_other_daemon');
    expect(await texts()).toEqual(['mine', 'mine too']);
    expect(await texts(other)).toEqual([]);
  });

  it('is run although the workstation died between its journal and everything else, and the relay brings it again', async () => {
    // A folder in the place of the file stops the daemon before the message is shown and before the next poll.
    await ws.foreignWrite(join(ws.inboxFile, 'in-the-way'), '');
    const { line, far: behind } = await brokenLine();
    const behindLine = await createWorkstation(behind, ws.chat);
    closers.push(() => behindLine.close());
    await behindLine.foreignWrite(join(behindLine.inboxFile, 'in-the-way'), '');
    const first = behindLine.run('start', '--quiet');
    await until('the daemon runs', () => first.stdout().includes('is running'));
    await ws.chat.say('run me');
    await until('the journal has it', async () => (await journalOf(behindLine)).includes('run me'));
    line.setDown(true);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    await rename(behindLine.inboxFile, join(behindLine.root, 'away'));
    line.setDown(false);
    behindLine.run('start', '--quiet');
    await until('it is shown', async () => (await texts(behindLine)).length > 0);
    await until('the relay is rid of it', async () => (await ws.chat.ladder()).delivered === 1);
    const agent = await startAgent({
      project: behindLine.project,
      env: behindLine.env,
      dir: join(behindLine.root, 'agent'),
    });
    closers.push(() => agent.kill());
    expect(await agent.turn('Ran.')).toContain(']\nrun me\n[');
    expect(await agent.turn('idle')).toBeUndefined();
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
  });
});

describe('a status update', () => {
  it('whose Bot API call hung when the relay was killed is sent once more and then marked', async () => {
    await ws.start();
    far.sim.failNext({ method: 'sendMessage', hang: true });
    await ws.foreignWrite(ws.outboxFile, reply('hung'));
    await far.sim.waitForCall((call) => call.params.chat_id === ws.chat.id);
    await far.killRelay();
    await far.startRelay();
    await until('it is on the phone', () => phone().includes('hung'));
    await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
    expect(phone()).toEqual(['hung']);
  });
});

const journalOf = (of: Workstation) => readFile(join(of.stateDir, 'journal.jsonl'), 'utf8').catch(() => '');
