// A gate without a daemon: closed while approvals are on, because nobody is there who could ask.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverOf } from '../agent/drivers/registry.ts';
import { configFiles, directories, type PathsInput, starterOf } from '../agent/paths.ts';
import { emptyAnswer, gateFileName, wayOut } from '../protocol/hook.ts';

function closedText(config: string): string {
  return `Approvals are on and the daemon of wa-sync does not run, so nobody could approve this. Start it with \`${starterOf(config)}\`. ${wayOut}`;
}

/** The line that the daemon left for this gate; undefined = approvals are off everywhere. */
function gateLine(world: PathsInput, tool: string, event: string): string | undefined {
  try {
    return readFileSync(gatePath(world, tool, event), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function gatePath(world: PathsInput, tool: string, event: string): string {
  return join(directories(world).runtime, 'gate', gateFileName(tool, event));
}

/** What is printed when nothing else can be said in time. */
export function lastAnswer(world: PathsInput, tool: string, event: string): string {
  return gateLine(world, tool, event) ?? emptyAnswer;
}

/** For a project of ours. Its own mode decides, on when it cannot be read; where nobody ever set one, whether any gate is closed. */
export function answerGate(
  world: PathsInput,
  { tool, event, key, config }: { tool: string; event: string; key: string; config: string },
): object {
  let closed: boolean;
  try {
    closed = JSON.parse(readFileSync(configFiles(config).approvals(key), 'utf8')).mode !== 'off';
  } catch (cause) {
    closed = (cause as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(gatePath(world, tool, event));
  }
  return (closed && driverOf(tool)?.writeAnswer(event, { deny: closedText(config) })) || {};
}
