// The three ways to answer setup, each with the three relays that setup can make.

import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import type { FakeCloudflare } from '../helpers/cloudflare/api.ts';
import { until } from '../helpers/daemon.ts';
import type { Installed, Machine } from './installed.ts';
import type { ScriptedPhone } from './phone.ts';
import { startTerminal } from './terminal.ts';

export const relays = ['local', 'temporary', 'account'] as const;
export type Relay = (typeof relays)[number];

export interface Scene {
  installed: Installed;
  machine: Machine;
  sim: TelegramSim;
  phone: ScriptedPhone;
  cloudflare: FakeCloudflare;
}

export type Way = (scene: Scene, relay: Relay) => Promise<{ code: number; printed: string }>;

const flagsOf: Record<Relay, string[]> = {
  local: ['--local'],
  temporary: ['--temporary', '--accept-cloudflare-terms'],
  account: ['--cloudflare'],
};

async function byFlags({ machine, sim, phone, cloudflare }: Scene, relay: Relay) {
  const token = { CLOUDFLARE_API_TOKEN: cloudflare.account.token };
  const run = machine.run(['setup', '--yes', ...flagsOf[relay], '--no-service'], {
    env: { TELEGRAM_BOT_TOKEN: sim.token, ...(relay === 'account' ? token : {}) },
    input: '',
  });
  await phone.tapStart(run.printed);
  await phone.tapHello();
  return run.ended;
}

async function byJson({ machine, sim, phone, cloudflare }: Scene, relay: Relay) {
  const run = machine.run(['setup', '--json', '--no-service']);
  const answers: Record<string, string> = {
    botToken: sim.token,
    relay,
    acceptCloudflareTerms: 'yes',
    cloudflareToken: cloudflare.account.token,
  };
  const taps: Record<string, () => Promise<unknown>> = {
    tap: () => phone.tapStart(run.printed),
    hello: phone.tapHello,
  };
  let seen = 0;
  let isOver = false;
  void run.ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const lines = await until(
      'a line',
      () => {
        const whole = run.printed().split('\n').slice(0, -1);
        return isOver || whole.length > seen ? whole.slice(seen) : undefined;
      },
      60_000,
    );
    seen += lines.length;
    for (const line of lines.filter((each) => each.startsWith('{'))) {
      const { need } = JSON.parse(line) as { need?: string };
      if (need === undefined) continue;
      if (taps[need]) await taps[need]();
      else run.child.stdin?.write(`${JSON.stringify({ [need]: answers[need] })}\n`);
    }
  }
  return run.ended;
}

/** How often the arrow goes down in the list of relays. */
const downs: Record<Relay, number> = { temporary: 0, account: 1, local: 2 };

async function inTerminal({ installed, machine, sim, phone, cloudflare }: Scene, relay: Relay) {
  const terminal = await startTerminal(machine, installed.program, ['setup', '--no-service']);
  try {
    await terminal.shows(/Paste the token/);
    await terminal.paste(sim.token);
    await terminal.key('Enter');
    const screen = await terminal.shows(/\?start=[\w-]+/);
    await phone.tapStart(() => screen);
    await terminal.shows(/Where shall the relay run/);
    for (let left = downs[relay]; left > 0; left -= 1) await terminal.key('Down');
    await terminal.key('Enter');
    if (relay === 'temporary') {
      await terminal.shows(/Do you accept the terms/);
      await terminal.key('y');
    }
    if (relay === 'account') {
      await terminal.shows(/Paste the API token/);
      await terminal.paste(cloudflare.account.token);
      await terminal.key('Enter');
    }
    await phone.tapHello();
    const { code, screen: printed } = await terminal.ended();
    return { code, printed };
  } finally {
    await terminal.close();
  }
}

export const ways: Record<string, Way> = { 'by flags': byFlags, 'by --json': byJson, 'in a terminal': inTerminal };
