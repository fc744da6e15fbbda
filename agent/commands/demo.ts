// `wa-sync demo`: one message from the phone to a coding agent and the answer back, through every real part. Prints each hop with
// its time. Exits 0 only when every hop worked.

import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { type EchoAgent, startEchoAgent } from '../dev/echo-agent.ts';
import { type Stack, startStack } from '../dev/stack.ts';
import { changed } from '../fs/changed.ts';
import { fileLog } from '../log.ts';
import { directories } from '../paths.ts';
import type { CommandContext } from './context.ts';
import { ownCommand } from './own-command.ts';

const question = 'Which tests fail? _Answer in one line._';
const answer = 'Two tests fail, both in `auth.test.ts`.\n\n```ts\nexpect(login("")).toBe(false)\n```';
const hopDeadlineMs = 15_000;
const maxTurns = 5;

/** Errors: `child_failed` naming the hop that did not happen, and those of the parts. */
export async function demoCommand(context: CommandContext): Promise<void> {
  const base = await mkdtemp(join(tmpdir(), 'wa-demo-'));
  const projectDir = join(base, 'project');
  await mkdir(projectDir);
  const startedAt = performance.now();
  let last = startedAt;
  const hop = (what: string) => {
    const now = performance.now();
    context.out(`${(now - last).toFixed(0).padStart(6)} ms  ${what}`);
    last = now;
  };
  let stack: Stack | undefined;
  try {
    stack = await context.progress.during('the relay starts', () =>
      startStack({
        isTerminal: false,
        projectDir,
        baseDir: base,
        runtimeDir: join(base, 'run'),
        cacheDir: directories(context).cache,
        workerScript: join(context.distDir, 'worker.js'),
        platform: context.platform,
        home: context.home,
        log: fileLog(join(base, 'demo.log'), Date.now),
        say: context.note,
      }),
    );
    hop('relay (workerd), daemon and a simulated phone are up');
    const launcher = join(context.distDir, 'wa-hook');
    const agent = await startEchoAgent({ launcher, projectDir, workDir: join(base, 'agent'), env: stack.env });
    await roundTrip(stack, agent, projectDir, hop, context.out);
  } catch (cause) {
    // Ids, sizes and codes only: what a person needs to report a demo that failed.
    const logged = await readFile(join(base, 'demo.log'), 'utf8').catch(() => '');
    for (const line of logged.trim().split('\n').slice(-15)) context.note(line);
    throw cause;
  } finally {
    await stack?.stop();
    await rm(base, { recursive: true, force: true });
  }
  context.out('demo: ok');
  context.out(`next: ${await ownCommand('dev', context)}`);
}

async function roundTrip(
  stack: Stack,
  agent: EchoAgent,
  projectDir: string,
  hop: (what: string) => void,
  out: (line: string) => void,
): Promise<void> {
  const { sim } = stack;
  if (!sim) throw new WaError('internal', 'the demo runs on the simulator');
  const inbox = join(projectDir, mailboxFolder, 'wa_inbox.json');
  const outbox = join(projectDir, mailboxFolder, 'wa_outbox.json');

  await sim.say(question);
  out(`phone: ${question}`);
  hop('phone -> relay: the webhook is answered 200, so the text is committed');

  await until(inbox, 'the text reaches wa_inbox.json', async () => (await readFile(inbox, 'utf8')).includes(question));
  hop('relay -> daemon -> wa_inbox.json');

  await givenInTurn(agent);
  await sim.waitForCall(
    (call) => call.method === 'sendMessage' && String(call.params.text).includes('auth.test.ts'),
    hopDeadlineMs,
  );
  const shown = sim.messages().findLast((message) => message.from === 'bot');
  if (!shown?.entities?.some((entity) => entity.type === 'pre')) throw failed('the code block arrives as a code block');
  hop('hooks -> a scripted agent: the text stood in its model request -> wa_outbox.json -> daemon -> relay -> phone');
  for (const line of shown.text.split('\n')) out(`agent: ${line}`);

  await until(
    outbox,
    'the outbox entry is marked sent',
    async () => !(await readFile(outbox, 'utf8')).includes('"sent": false'),
  );
  hop('wa_outbox.json: sent');

  await until(outbox, 'the relay knows that the message is answered', async () => {
    const { mailboxes } = await stack.relayClient.status();
    return mailboxes[0]?.projects.find(({ project }) => project === 0)?.ladder.answered === 1;
  });
  hop('the relay knows: stored, delivered, injected (proved in the session file), answered');
}

/** Several turns: on a busy machine a hook may miss its deadline; then the message stays unread for the next turn. */
async function givenInTurn(agent: EchoAgent): Promise<void> {
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const turn = await agent.turn('go on', (seen) => (seen.includes(question) ? answer : 'Nothing to do.'));
    if (turn.answer === answer) return;
  }
  throw failed('the hook gives the text to the coding agent');
}

function failed(what: string): WaError {
  return new WaError('child_failed', `demo: this did not happen: ${what}`, {
    hint: 'Run `npm test` to see which part is broken.',
  });
}

/** Checks until `holds` is true: after each change in the folder of the file, and every 100 ms. */
async function until(path: string, what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + hopDeadlineMs;
  while (performance.now() < deadline) {
    if (await holds().catch(() => false)) return;
    await changed(dirname(path), 100);
  }
  throw failed(what);
}
