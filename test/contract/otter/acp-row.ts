// Otter for everybody, in a session that the daemon runs itself: its row of the table.

import { type AcpRow, usual } from '../../../agent/owned/acp/agents.ts';

export const row: AcpRow = {
  name: 'otter',
  title: 'Otter',
  isTested: true,
  program: 'otter',
  server: { args: ['--acp'] },
  env: {},
  authenticate: [],
  login: 'otter login',
  // The mode in which a person is asked.
  askMode: 'ask',
  habits: { ...usual, denyEndsTurn: true },
  resumeArgs: ['--resume'],
};
