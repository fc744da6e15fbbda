// `wa-sync approvals` and `wa-sync audit`: show the mode of approvals and the audit log. Neither changes anything: only the phone
// can loosen approvals.

import { WaError } from '../../protocol/errors.ts';
import { textsIn } from '../../protocol/texts.ts';
import { readAudit } from '../approvals/audit.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { askDaemon } from '../local-client.ts';
import { findServed } from '../mailbox/served.ts';
import { visibleJson, visibleLine } from '../visible.ts';
import type { CommandContext } from './context.ts';

interface ProjectApprovals {
  dir: string;
  mailbox: string;
  project: number;
  approvals: { mode: ApprovalMode; asked: number; problems: string[] };
}

/** Errors: `daemon_not_running`. */
export async function approvalsCommand(options: { json: boolean }, context: CommandContext): Promise<void> {
  const { dirs } = context.loadConfig();
  const { projects } = (await askDaemon(dirs, 'GET', '/status')) as { projects: ProjectApprovals[] };
  const shown = projects.map(({ dir, approvals }) => ({ dir, ...approvals }));
  if (options.json) {
    context.out(visibleJson({ projects: shown }));
    return;
  }
  for (const { dir, mode, asked, problems } of shown) {
    context.out(dir);
    context.out(`  ${textsIn('en').approvals.modes[mode]}`);
    if (asked > 0) context.out(`  ${asked} ${asked === 1 ? 'question waits' : 'questions wait'} on the phone.`);
    for (const problem of problems) context.out(`  trouble: ${problem}`);
  }
  context.out('Change it on the phone: /approvals off, risky or all.');
}

/** Errors: `bad_arguments`, `not_bound`. */
export async function auditCommand(
  options: { since: string | undefined; json: boolean },
  context: CommandContext,
): Promise<void> {
  const since = options.since === undefined ? 0 : Date.now() - durationMs(options.since);
  const config = context.loadConfig();
  const served = await findServed(context.cwd, config);
  if (!served) {
    throw new WaError('not_bound', `${context.cwd} is not in a folder that is bound to a chat`, {
      hint: `Run it inside a folder of "bindings" in ${config.file}, or start \`wa-sync\` in this folder first.`,
    });
  }
  const place = await served.place();
  // A folder that no daemon has served has no audit log.
  for (const line of place ? await readAudit(place.dir, since) : [])
    context.out(options.json ? visibleJson(line) : lineText(line));
}

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  if (match) return Number(match[1]) * (units[match[2] ?? ''] ?? 0);
  throw new WaError('bad_arguments', `--since "${text}" is not a duration`, {
    hint: 'Give a number and s, m, h or d, for example --since 2h.',
  });
}

function lineText(line: Record<string, unknown>): string {
  const { at, kind, tool, verdict, what, mode, text, before, by, why, ms, tokens } = line;
  const words = [at, String(kind).padEnd(8), tool, verdict, what, mode, text];
  if (before !== undefined) words.push(`instead of: ${before}`);
  if (typeof ms === 'number') words.push(`${Math.round(ms / 1000)} s`);
  if (typeof tokens === 'number') words.push(`${tokens} tokens`);
  if (by !== undefined) words.push(`by ${by}`);
  if (Array.isArray(why) && why.length > 0) words.push(`(${why.join('; ')})`);
  // The file lies in the project, where other programs may write.
  return visibleLine(words.filter((word) => word !== undefined && word !== '').join('  '));
}
