// How the platform reaches the relay, and what the bot may hear: asked through the relay, because this machine has no bot token.

import type { WebhookReport } from '../../protocol/webhook-api.ts';
import type { Check } from './check.ts';
import { ago, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { isLocal, said, type World } from './world.ts';

export const webhookChecks: readonly Check[] = [{ name: 'webhook', run: webhook }];

/** A failed delivery that is older was repeated since. */
const recentMs = 10 * 60_000;
/** Between two looks at what waits. */
const betweenMs = 2_000;
const setAgain = 'Set the webhook again: `wa-sync setup webhook`, or docs/relay.md, step 4.';

async function webhook(world: World): Promise<Finding[]> {
  const known = await world.webhook();
  if (!known?.ok) {
    if (known?.error.code === 'not_found')
      return [skipped('webhook', 'this relay is older and does not tell; deploy the version of this command')];
    return [skipped('webhook', known ? `the relay did not tell: ${said(known.error)[0]}` : 'no relay is configured')];
  }
  const found = await Promise.all(
    known.value.platforms.map(async ({ name, account, inspection }) => {
      if (inspection.kind === 'failed') {
        const { reason, code, repair } = inspection;
        return [fail('webhook', `${name} refuses the relay: ${reason} (${code})`, repair)];
      }
      const bot = inspection.username === null ? account : `@${inspection.username}`;
      const problems = [
        ...webhookFaults(world, inspection.webhook),
        ...(await pendingFaults(world, account, inspection.webhook)),
        ...inspection.troubles.map(({ what, repair }) => fail('webhook', what, repair)),
      ];
      const topics = inspection.topics ? ', topics in private chats' : '';
      return problems.length > 0 ? problems : [ok('webhook', `${bot} sends to this relay, nothing waits${topics}`)];
    }),
  );
  return found.flat();
}

function webhookFaults(world: World, { host, route, isRoute, missing, lastError }: WebhookReport): Finding[] {
  const config = world.config();
  const relay = config.ok ? config.value.relay : undefined;
  const own = relay ? new URL(relay.url) : undefined;
  const found: Finding[] = [];
  if (host === null) {
    // `wa-sync dev --telegram poll` asks by itself, and the relay of this machine has no public address.
    const polls = own?.protocol === 'http:';
    found.push(
      polls ? skipped('webhook', 'no webhook: this machine polls') : fail('webhook', 'no webhook is set', setAgain),
    );
  } else if (isLocal(world)) {
    const evidence = `the platform sends to ${host}, and so refuses the daemon, which asks by itself`;
    found.push(fail('webhook', evidence, 'Take that webhook away: `wa-sync setup pair --take-webhook`.'));
  } else if (own && (host !== own.host || !isRoute)) {
    const evidence = `the platform sends to ${host}${isRoute ? '' : ' at another path'}, and not to ${own.host}${route}`;
    found.push(fail('webhook', evidence, setAgain));
  }
  if (missing.length > 0)
    found.push(fail('webhook', `the platform does not send ${missing.join(', ')} (allowed_updates)`, setAgain));
  if (lastError && world.clock() - lastError.at < recentMs) {
    const evidence = `a delivery to the webhook failed ${ago(lastError.at, world.clock())}: ${lastError.reason}`;
    const step = /401|403|Unauthorized/.test(lastError.reason)
      ? `${setAgain} Its secret is another one than the relay's.`
      : 'Open /healthz of the relay: it must answer {"ok":true}. The platform tries again by itself.';
    found.push(fail('webhook', evidence, step));
  }
  return found;
}

/** What waits is only wrong when it stays or grows. */
async function pendingFaults(world: World, account: string, { pending, host }: WebhookReport): Promise<Finding[]> {
  if (pending === 0 || host === null) return [];
  await world.pause(betweenMs);
  const again = await world.webhookAgain();
  const report = again?.ok ? again.value.platforms.find((each) => each.account === account)?.inspection : undefined;
  const later = report?.kind === 'report' ? report.webhook.pending : pending;
  const step = 'See why with `wa-sync doctor` in a minute; the error of the last delivery names the cause.';
  if (later > pending) return [fail('webhook', `${later} updates wait for the webhook, and the number grows`, step)];
  if (later === pending) return [warn('webhook', `${pending} updates wait for the webhook`, step)];
  return [];
}
