// What Otter keeps in a home and in a project: no agent changes it unasked, as that could remove the gate. Pure.

import type { Footprint } from '../../../agent/drivers/footprint.ts';

export const footprint: Footprint = {
  name: 'otter',
  programs: ['otter'],
  folder: '.otter',
  names: ['gates.json'],
  logins: ['key.json'],
  homeFiles: ['.otterrc'],
  beside: ['/etc/otter.json'],
  variables: ['OTTER_HOME'],
  leavesOut: /^--no-gates$/,
  workflows: [{ path: 'plans', kind: 'markdown' }],
};
