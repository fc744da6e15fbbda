// The relay: reachable, authorised, of this version, with a clock like ours, serving the bound chats, and able to send.

import { nearShare, restOfDayMs } from '../../protocol/free-plan.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { MailboxStatus } from '../../protocol/relay-api.ts';
import { span } from '../../protocol/span.ts';
import type { Check } from './check.ts';
import { ago, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { isLocal, said, type World } from './world.ts';

export const relayChecks: readonly Check[] = [
  { name: 'relay', run: relay },
  { name: 'clock', run: clock },
  { name: 'mailbox', run: mailboxes },
  { name: 'free-plan', run: freePlan },
];

async function relay(world: World): Promise<Finding[]> {
  const known = await world.relay();
  if (isLocal(world)) return [localRelay(known, (await world.daemon()).ok)];
  if (!known) return [skipped('relay', 'no relay is configured')];
  if (!known.ok) return [fail('relay', ...said(known.error))];
  const { version } = known.value.answer;
  if (version !== world.version) {
    const evidence = `the relay is version ${version}, this command is ${world.version}`;
    return [
      warn('relay', evidence, 'Run `wa-sync relay upgrade` (by hand: docs/relay.md); secrets and messages stay.'),
    ];
  }
  return [ok('relay', `version ${version} answers and knows the token`)];
}

/** It lives and ends with the daemon, and has its version. */
function localRelay(known: Awaited<ReturnType<World['relay']>>, isRunning: boolean): Finding {
  if (known?.ok) return ok('relay', 'the daemon runs the relay, which answers and knows the token');
  if (!isRunning) return skipped('relay', 'it runs with the daemon, which does not answer');
  const evidence = known ? said(known.error)[0] : 'the daemon has noted no address of it';
  return fail('relay', `the relay of this machine does not answer: ${evidence}`, 'Start both anew: `wa-sync restart`.');
}

/** Above the first, times on the phone look odd; above the second, messages expire too early or too late. */
const oddMs = 30_000;
const wrongMs = 10 * 60_000;

async function clock(world: World): Promise<Finding[]> {
  const known = await world.relay();
  if (!known?.ok) return [skipped('clock', 'the relay does not answer')];
  const { skewMs } = known.value;
  const evidence = `this clock is ${span(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} that of the relay`;
  const step = 'Let the system set its clock (timedatectl set-ntp true; in WSL: wsl --shutdown).';
  if (Math.abs(skewMs) > wrongMs) return [fail('clock', evidence, step)];
  if (Math.abs(skewMs) > oddMs) return [warn('clock', evidence, step)];
  return [ok('clock', 'as that of the relay')];
}

async function mailboxes(world: World): Promise<Finding[]> {
  const known = await world.relay();
  if (!known?.ok) return [skipped('mailbox', 'the relay does not answer')];
  const served = known.value.answer.mailboxes;
  const config = world.config();
  const bound = config.ok ? config.value.bindings : [];
  const unknown = bound.filter(({ mailbox }) => !served.some((each) => each.mailbox === mailbox));
  const found = [
    ...unknown.map(({ mailbox, dir }) =>
      fail(
        'mailbox',
        `the relay does not serve chat ${mailbox}, to which ${dir} is bound`,
        isLocal(world)
          ? 'Correct "mailbox" in config.json, or pair again: `wa-sync setup pair`.'
          : 'Add the chat to the settings of the relay (docs/relay.md), or correct "mailbox" in config.json.',
      ),
    ),
    ...(await Promise.all(served.map((mailbox) => mailboxOf(world, mailbox)))).flat(),
  ];
  return found.length > 0
    ? found
    : [ok('mailbox', `${served.length} ${served.length === 1 ? 'chat' : 'chats'}, nothing is held up`)];
}

/** Repairs by the code of what holds up a mailbox. */
const repairs: Readonly<Record<string, string>> = {
  platform_unauthorized: 'Renew the token of the bot at the relay: the check "webhook" names the command.',
  platform_conflict: 'Another program polls for this bot: end it, or give it a bot of its own.',
  rate_limited: 'Wait: the relay sends what waits when the time is over.',
};

async function mailboxOf(world: World, { mailbox, paused, projects, outbox }: MailboxStatus): Promise<Finding[]> {
  const now = world.clock();
  const found: Finding[] = [];
  if (paused && paused.untilAt > now) {
    const evidence = `nothing is sent to chat ${mailbox} for ${span(paused.untilAt - now)} (${paused.code}); ${outbox.queued} wait`;
    found.push(fail('mailbox', evidence, repairs[paused.code] ?? 'See docs/errors.md.'));
  }
  const daemon = await world.daemon();
  for (const { project, daemonId, lastSeenAt, deadLetters = 0 } of projects) {
    const isOurs =
      daemon.ok && daemon.value.projects.some((each) => each.mailbox === mailbox && each.project === project);
    const isHeld = lastSeenAt !== null && now - lastSeenAt < relayLimits.takeoverAfterMs;
    if (isOurs && daemon.ok && daemonId !== null && daemonId !== daemon.value.daemonId && isHeld) {
      const evidence = `another workstation polls chat ${mailbox}, project ${project} (seen ${ago(lastSeenAt, now)})`;
      found.push(fail('mailbox', evidence, 'Run `wa-sync down` there, or bind this folder to another chat or topic.'));
    }
    if (deadLetters > 0) {
      const evidence = `${deadLetters} dead letters in chat ${mailbox}, project ${project}`;
      found.push(warn('mailbox', evidence, 'See them with `wa-sync letters`, send or drop each.'));
    }
  }
  return found;
}

/** The counters are the relay's own: what else the account runs is not among them. */
async function freePlan(world: World): Promise<Finding[]> {
  const known = await world.relay();
  if (isLocal(world)) return [ok('free-plan', 'not needed: the relay runs on this machine')];
  if (!known?.ok) return [skipped('free-plan', 'the relay does not answer')];
  const { share, of } = known.value.answer.today;
  const now = world.clock();
  const evidence = `${Math.round(share * 100)} % of the free plan today (${of}), anew in ${span(restOfDayMs(now))}`;
  const step = 'Wait for midnight UTC, or take the paid plan: the relay slows its polls down by itself.';
  if (share >= 1) return [fail('free-plan', evidence, step)];
  if (share >= nearShare) return [warn('free-plan', evidence, step)];
  return [ok('free-plan', evidence)];
}
