// What the doctor finds: nothing in a healthy workstation, and each planted fault with its repair.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { examine, repair } from '../../../agent/doctor/doctor.ts';
import type { Finding } from '../../../agent/doctor/finding.ts';
import { faults } from './faults.ts';
import { createPatient, type Patient, token } from './patient.ts';

let patient: Patient;
beforeAll(async () => {
  patient = await createPatient();
}, 60_000);
afterEach(() => patient.healed());
afterAll(() => patient.close());

const wrong = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'fail' || state === 'warn');

it('a healthy workstation has nothing wrong, and no check is left out', async () => {
  const findings = await examine(patient.outside({ isRun: true }));
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(await repair(findings)).toEqual([]);
});

it('more faults are known than the list that was promised', () => {
  expect(Object.keys(faults).length).toBeGreaterThanOrEqual(30);
});

describe.each(Object.entries(faults))(
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
