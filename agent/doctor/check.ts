// A check of the doctor: one question, with a finding for each answer.

import type { Finding } from './finding.ts';
import type { World } from './world.ts';

export interface Check {
  name: string;
  /** One finding or more; the check itself may reject. */
  run(world: World): Promise<Finding[]>;
}
