// What sessions that the daemon runs itself cost it: one in each of three projects, after each has had a streamed turn. The agents are
// processes of their own and do not count.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import { usageOf } from '../processes.ts';
import type { Part } from '../result.ts';
import { type Stage, until, withStage } from '../stage.ts';
import { round } from '../stats.ts';

const agentFile = fileURLToPath(new URL('../../../test/helpers/acp/agent.ts', import.meta.url));
const chats = [-1_001, -1_002, -1_003];
const settleMs = 3_000;
const turns = 3;
/** Two updates each. */
const paragraphs = 10;

export const owned: Part = {
  name: 'owned',
  run: (lab) =>
    withStage(
      lab,
      async (stage) => {
        await bindAll(stage);
        const { pid } = await stage.startDaemon();
        for (const chat of chats) {
          for (let turn = 0; turn < turns; turn++) await streamedTurn(stage, chat, turn);
        }
        await delay(settleMs);
        const usage = usageOf(pid);
        if (!usage) {
          lab.say('owned: not measured, this system has no /proc');
          return {};
        }
        return { owned: { rssMb: round(usage.rssMb), ownMb: round(usage.ownMb) } };
      },
      { groups: chats },
    ),
};

/** A project for each chat, and the scripted agent that speaks ACP. */
async function bindAll({ dir, configDir }: Stage): Promise<void> {
  const bindings = chats.map((chat, at) => ({ dir: join(dir, `owned-${at}`), mailbox: String(chat), project: 0 }));
  for (const binding of bindings) {
    await mkdir(binding.dir, { mode: 0o700 });
    await rememberBound(configDir, binding, null, Date.now());
  }
  const file = join(configDir, 'config.json');
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', agentFile];
  const env = { ACP_SESSIONS: join(dir, 'acp'), ACP_GATES: dir };
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, bindings, agents: { scripted: { command, env } } }));
}

async function streamedTurn({ sim }: Stage, chatId: number, turn: number): Promise<void> {
  const end = `The end of turn ${turn}.`;
  const said = Array.from(
    { length: paragraphs },
    (_, at) => `[[say: **Part ${at}** of the answer, with \`code\`.\n\n]]`,
  );
  const text = `${turn === 0 ? '/new scripted ' : ''}[[think: hm]]${said.join('')}[[say: ${end}]]`;
  await sim.say(text, { chatId });
  await until(`the answer of turn ${turn} is on the phone`, async () =>
    sim.messages(chatId).some(({ from, text: shown }) => from === 'bot' && shown.includes(end)),
  );
}
