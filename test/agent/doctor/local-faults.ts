// The faults of a workstation whose daemon runs the relay itself, and of the programs that config.json names for the service.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBotFile } from '../../../agent/dev/local-bot.ts';
import { localRelayFile } from '../../../agent/paths.ts';
import { WaError } from '../../../protocol/errors.ts';
import type { Fault } from './faults.ts';
import { chat, type Outside, type Patient, token } from './patient.ts';

async function change({ configFile }: Patient, edit: (config: Record<string, unknown>) => void): Promise<void> {
  const config = JSON.parse(await readFile(configFile, 'utf8'));
  edit(config);
  await writeFile(configFile, JSON.stringify(config), { mode: 0o600 });
}

/** As `setup --local` leaves it, with a daemon that runs its relay. */
export async function madeLocal(patient: Patient, outside: Outside): Promise<void> {
  const { dirs } = patient;
  await change(patient, (config) => Object.assign(config, { relay: { local: true } }));
  await writeBotFile(dirs.config, { token: 'x', apiRoot: 'http://127.0.0.1:9', chatId: chat, userIds: chat });
  await writeFile(localRelayFile(dirs.state), JSON.stringify({ url: 'http://127.0.0.1:9', token }), { mode: 0o600 });
  setHost(outside, null);
}

function setHost(outside: Outside, host: string | null): void {
  const inspection = outside.relay.webhook[0]?.platforms[0]?.inspection;
  if (inspection?.kind === 'report') inspection.webhook.host = host;
}

export const localFaults: Record<string, Fault> = {
  'a local relay without its bot': {
    plant: async (patient, outside) => {
      await madeLocal(patient, outside);
      await writeFile(join(patient.dirs.config, 'bot.json'), '{}', { mode: 0o600 });
    },
    check: 'config',
    state: 'fail',
    evidence: /bot\.json does not hold a bot/,
    repair: /wa-sync setup/,
  },
  'a local relay that does not answer, beside a daemon that does': {
    plant: async (patient, outside) => {
      await madeLocal(patient, outside);
      const gone = async () => {
        throw new WaError('relay_unreachable', 'no answer');
      };
      outside.connect = () => ({ status: gone, webhook: gone, close: async () => {} });
    },
    check: 'relay',
    state: 'fail',
    evidence: /the relay of this machine does not answer: no answer/,
    repair: /wa-sync restart/,
  },
  'a webhook that keeps Telegram from answering a local relay': {
    plant: async (patient, outside) => {
      await madeLocal(patient, outside);
      setHost(outside, 'elsewhere.example');
    },
    check: 'webhook',
    state: 'fail',
    evidence: /sends to elsewhere\.example, and so refuses the daemon/,
    repair: /--take-webhook/,
  },
  'a program that config.json names and that is gone': {
    plant: (patient) => change(patient, (config) => Object.assign(config, { agents: { gemini: '/gone/gemini' } })),
    check: 'agents',
    state: 'warn',
    evidence: /config\.json names \/gone\/gemini for gemini/,
    repair: /wa-sync setup machine/,
  },
};
