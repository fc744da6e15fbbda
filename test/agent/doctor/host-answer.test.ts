// What the doctor makes of the answer of a coding agent about its own hooks: Codex is a script here that gives recorded answers.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { examine } from '../../../agent/doctor/doctor.ts';
import { workstationOf } from '../../../agent/drivers/workstations.ts';
import { type Outside, onePatient, type Patient, token } from './patient.ts';

let patient: Patient;
onePatient((given) => {
  patient = given;
});

const fixtures = join(import.meta.dirname, '../../fixtures/codex-0.169.0/app-server');

/** A workstation with Codex, its hooks, and a program that runs these lines of a shell at the question. */
async function withCodex(answer: string): Promise<Outside> {
  const outside = patient.outside({ isRun: false });
  await workstationOf('codex')?.installer.install(await outside.installDirs('codex'), 'user');
  const program = `#!/bin/sh\nwhile read -r line; do case $line in *hooks/list*) ${answer} ;; esac; done\n`;
  await writeFile(join(patient.root, 'bin', 'codex'), program, { mode: 0o755 });
  return outside;
}

async function recorded(name: string): Promise<string> {
  const lines = await readFile(join(fixtures, `hooks-list.${name}.jsonl`), 'utf8');
  const path = join(patient.root, 'answer.jsonl');
  await writeFile(path, lines.replaceAll('/home/dev/project', patient.project).replaceAll('/home/dev', patient.home));
  return `cat '${path}'`;
}

const ofHooks = async (outside: Outside) =>
  (await examine(outside)).filter(({ check, evidence }) => check === 'hooks' && /codex/i.test(evidence));

it('says that Codex trusts the hooks, when it says so itself, whatever its settings file lets guess', async () => {
  const found = await ofHooks(await withCodex(await recorded('trusted')));
  expect(found).toEqual([
    { check: 'hooks', state: 'ok', evidence: expect.stringMatching(/^codex: .*; Codex trusts all 9 hooks$/) },
  ]);
});

it('names a hook that was modified after a person had trusted it', async () => {
  const found = await ofHooks(await withCodex(await recorded('mixed')));
  expect(found).toEqual([
    {
      check: 'hooks',
      state: 'fail',
      evidence: expect.stringContaining('modified: PreToolUse, Stop; untrusted: SessionStart; switched off: Interrupt'),
      repair: expect.stringContaining('type /hooks'),
    },
  ]);
});

it.each([
  ['exit 4', 'ended with 4 before it answered'],
  [`echo '{"id":1,"error":{"code":-32601}}'`, 'did not understand the question'],
])('where no answer comes (%s), it says so and falls back on the settings file', async (answer, why) => {
  const found = await ofHooks(await withCodex(answer));
  expect(found).toEqual([
    expect.objectContaining({ state: 'fail', evidence: expect.stringContaining('nobody has trusted 9 of 9 hooks') }),
    {
      check: 'hooks',
      state: 'warn',
      evidence: `codex was asked which hooks it trusts (\`codex app-server\`), and ${why}`,
      repair: expect.stringContaining('type /hooks'),
    },
  ]);
});

it('the program that is asked gets no secret', async () => {
  const outside = await withCodex(`env > '${patient.root}/seen'; exit`);
  outside.env.WA_AGENT_TOKEN = token;
  await ofHooks(outside);
  const seen = await readFile(join(patient.root, 'seen'), 'utf8');
  expect(seen).toContain(`HOME=${patient.home}`);
  expect(seen).not.toContain(token);
});
