// What Codex keeps in a home and in a project. Pure.

import type { Footprint } from '../footprint.ts';

export const footprint: Footprint = {
  name: 'codex',
  programs: ['codex', 'codex-cli', 'codex-code'],
  folder: '.codex',
  names: ['config.toml', 'hooks.json', 'hooks', 'rules'],
  logins: ['auth.json'],
  homeFiles: [],
  beside: ['/etc/codex/config.toml', '/etc/codex/requirements.toml'],
  variables: ['CODEX_HOME'],
  leavesOut: /^(-c|--config|--disable|-p|--profile|--dangerously-bypass-hook-trust)(=|$)/,
  workflows: [],
};
