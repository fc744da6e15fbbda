// A user's own command hooks in ~/.gemini/settings.json: each writes the JSON of its stdin to a file of its own.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../hosts/processes.ts';
import type { GeminiHome } from './harness.ts';

export interface HookPayload {
  session_id: string;
  transcript_path: string;
  cwd: string;
  hook_event_name: string;
  timestamp: string;
  [field: string]: unknown;
}

export interface HookRecorder {
  /** What the hooks have got so far, in the order in which they started. */
  payloads(event?: string): Promise<HookPayload[]>;
  /** Resolves with the payloads of the event as soon as there are `count` of them. */
  waitFor(event: string, count?: number, timeoutMs?: number): Promise<HookPayload[]>;
}

// Written whole under another name first, so that a reader never sees half of it.
const script = `#!/bin/sh
name="$1/$(date +%s%N)-$2-$$"
cat > "$name.partial" && mv "$name.partial" "$name.json"
echo '{}'
`;

export async function recordHooks(home: GeminiHome, events: string[]): Promise<HookRecorder> {
  const folder = join(home.home, 'recorded hooks');
  const recorder = join(folder, 'record.sh');
  await mkdir(folder, { recursive: true });
  await writeFile(recorder, script);
  const entry = (event: string) => ({
    matcher: '*',
    hooks: [
      { type: 'command', name: `record-${event}`, command: `sh '${recorder}' '${folder}' ${event}`, timeout: 10_000 },
    ],
  });
  await home.changeSettings({ hooks: Object.fromEntries(events.map((event) => [event, [entry(event)]])) });

  const payloads = async (event?: string) => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    const all = texts.map((text) => JSON.parse(text) as HookPayload);
    return event === undefined ? all : all.filter((payload) => payload.hook_event_name === event);
  };
  return {
    payloads,
    async waitFor(event, count = 1, timeoutMs = 30_000) {
      if (await until(async () => (await payloads(event)).length >= count, timeoutMs)) return payloads(event);
      const seen = (await payloads()).map((payload) => payload.hook_event_name);
      throw new Error(`${event} did not fire ${count} times within ${timeoutMs} ms. Fired: ${seen.join(', ')}`);
    },
  };
}
