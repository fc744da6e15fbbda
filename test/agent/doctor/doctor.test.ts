// What the doctor finds: nothing in a healthy workstation, and each planted fault with its repair.

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { examine, repair } from '../../../agent/doctor/doctor.ts';
import type { Finding } from '../../../agent/doctor/finding.ts';
import { faults } from './faults.ts';
import { localFaults, madeLocal } from './local-faults.ts';
import { onePatient, type Patient, token } from './patient.ts';

let patient: Patient;
onePatient((given) => {
  patient = given;
});

const wrong = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'fail' || state === 'warn');

it('a healthy workstation has nothing wrong, and no check is left out', async () => {
  const findings = await examine(patient.outside({ isRun: true }));
  // It has one coding agent; of the others, doctor says just that.
  const isAbsent = ({ state, evidence }: (typeof findings)[number]) =>
    state === 'skipped' && /^(claude|codex) (is not on this machine|has no hook for these directories)$/.test(evidence);
  expect(findings.filter((each) => each.state !== 'ok' && !isAbsent(each))).toEqual([]);
  expect(await repair(findings)).toEqual([]);
  const absent = findings.map(({ evidence }) => evidence).filter((each) => each.endsWith('is not on this machine'));
  expect(absent).toEqual(['claude is not on this machine', 'codex is not on this machine']);
});

it('a healthy workstation whose daemon runs the relay has nothing wrong', async () => {
  const outside = patient.outside({ isRun: false });
  await madeLocal(patient, outside);
  const findings = await examine(outside);
  expect(wrong(findings)).toEqual([]);
  expect(findings).toContainEqual(expect.objectContaining({ check: 'free-plan', state: 'ok' }));
});

it('the program of config.json is the agent where the PATH has none', async () => {
  const outside = patient.outside({ isRun: false });
  const program = `${patient.home}/gemini`;
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  const config = JSON.parse(await readFile(patient.configFile, 'utf8'));
  await writeFile(patient.configFile, JSON.stringify({ ...config, agents: { gemini: program } }), { mode: 0o600 });
  outside.env.PATH = '/nowhere';
  expect(await examine(outside)).toContainEqual({
    check: 'agents',
    state: 'ok',
    evidence: `gemini 0.61.0, ${program}`,
  });
});

it('more faults are known than the list that was promised', () => {
  expect(Object.keys(faults).length).toBeGreaterThanOrEqual(30);
});

describe.each(Object.entries({ ...faults, ...localFaults }))(
  '%s',
  (_, { plant, isRun = false, check, state, evidence, repair: step, isFixed, also = [] }) => {
    it('is found, with its repair', async () => {
      const outside = patient.outside({ isRun });
      await plant(patient, outside);
      const findings = await examine(outside);
      const found = findings.find((each) => each.check === check && evidence.test(each.evidence));
      expect(found, JSON.stringify(wrong(findings))).toMatchObject({ check, state });
      expect(found?.repair).toMatch(step);
      // One fault is one finding, and what depends on it is left out.
      const others = wrong(findings).filter((each) => each.check !== check && !also.includes(each.check));
      expect(others).toEqual([]);
      expect(JSON.stringify(findings)).not.toContain(token);
      expect(found?.fix !== undefined).toBe(isFixed === true);
      if (!isFixed) return;
      const repaired = await repair(findings);
      expect(repaired.filter(({ failed }) => failed)).toEqual([]);
      expect(repaired.map((each) => each.check)).toContain(check);
      const after = wrong(await examine(outside));
      expect(after.filter((each) => each.check === check)).toEqual([]);
    });
  },
);
