// The times that the acceptance criteria promise, on the built program: a message of the phone in the agent's context, the answer
// on the phone, and a hook whose daemon hangs. The session file is as large as that of a long day, and what it costs is measured too.

import { randomUUID } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { modeOf } from '../../../agent/drivers/registry.ts';
import { onChange, readEntries } from '../inbox-file.ts';
import { peakRssMb, startRunner } from '../processes.ts';
import type { Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { round, spread } from '../stats.ts';

const samples = 15;
const muteSamples = 15;
/** The relay keeps to Telegram's one message a second for a chat. */
const spacingMs = 1_100;
const mostTries = 10;
const sessionBytes = 53 * 1024 * 1024;
const prompt = 'Go on with the next open task.';

export const turn: Part = {
  name: 'turn',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const sessionFile = join(stage.dir, 'session.jsonl');
      await writeLargeSession(sessionFile);
      const { pid } = await stage.startDaemon();
      const runner = startRunner();
      const hook = async (event: string, fields: object) => {
        const { projectDir: cwd } = stage;
        const common = { session_id: 'of-a-long-day', transcript_path: sessionFile, cwd, hook_event_name: event };
        const stdin = JSON.stringify({ ...common, timestamp: new Date().toISOString(), ...fields });
        const env = { ...stage.env, GEMINI_PROJECT_DIR: cwd };
        return runner.run({
          file: join(lab.distDir, 'wa-hook'),
          args: ['gemini', event, '60', modeOf('gemini', event)],
          cwd,
          env,
          stdin,
        });
      };
      const context: number[] = [];
      const summary: number[] = [];
      const mute: number[] = [];
      try {
        for (let index = 0; index < samples; index += 1) {
          const text = `Message ${index}: use the blue one.`;
          const answer = `Answer ${index}: the blue one is in place.`;
          await hook('BeforeAgent', { prompt });
          await appendFile(sessionFile, line('user', [{ text: prompt }]));
          const saidAt = performance.now();
          await stage.post(text);
          await onChange(stage.inboxFile, 10_000, () =>
            readEntries(stage.inboxFile).some((entry) => entry.text === text) ? true : undefined,
          );
          await untilGiven(text, () => hook('AfterTool', { tool_name: 'run_shell_command', tool_input: {} }));
          context.push(performance.now() - saidAt);
          const output = `<hook_context>${readEntries(stage.inboxFile).find((entry) => entry.text === text)?.id}</hook_context>`;
          const response = [{ functionResponse: { name: 'run_shell_command', response: { output } } }];
          await appendFile(sessionFile, line('user', response) + line('gemini', answer));
          const endedAt = performance.now();
          const told = stage.sim.waitForCall(
            ({ method, params }) => method === 'sendMessage' && String(params.text).includes(answer),
          );
          await hook('AfterAgent', { prompt, prompt_response: answer, stop_hook_active: false });
          await told;
          summary.push(performance.now() - endedAt);
          await delay(spacingMs);
        }
        const peak = peakRssMb(pid);
        process.kill(pid, 'SIGSTOP');
        for (let index = 0; index < muteSamples; index += 1) mute.push((await hook('BeforeAgent', { prompt })).tookMs);
        const times = { context: spread(context), summary: spread(summary), mute: spread(mute) };
        return { turn: { ...times, ...(peak === undefined ? {} : { peakRssMb: round(peak) }) } };
      } finally {
        process.kill(pid, 'SIGCONT');
        runner.stop();
      }
    }),
};

/** A hook that a busy machine kept from its answer gives nothing; the next tool's does, and the time goes on. */
async function untilGiven(text: string, hook: () => Promise<{ stdout: string }>): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) if ((await hook()).stdout.includes(text)) return;
  throw new Error(`turn: ${mostTries} hooks did not give the message`);
}

function line(type: string, content: unknown, tokens?: object): string {
  return `${JSON.stringify({ id: randomUUID(), type, content, ...(tokens ? { tokens } : {}) })}\n`;
}

async function writeLargeSession(path: string): Promise<void> {
  const block = Array.from({ length: 64 }, () => line('gemini', 'x'.repeat(16_000), { input: 5_000, total: 6_000 }));
  const text = block.join('');
  await writeFile(path, '');
  for (let bytes = 0; bytes < sessionBytes; bytes += text.length) await appendFile(path, text);
}
