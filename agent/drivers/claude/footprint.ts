// What Claude Code keeps in a home and in a project. Pure.

import type { Footprint } from '../footprint.ts';

export const footprint: Footprint = {
  name: 'claude',
  programs: ['claude', 'claude-cli', 'claude-code'],
  folder: '.claude',
  names: ['settings.json', 'settings.local.json', 'hooks', 'plugins'],
  logins: ['.credentials.json'],
  homeFiles: ['.claude.json'],
  beside: ['/etc/claude-code/managed-settings.json', '/etc/claude-code/managed-settings.d'],
  variables: ['CLAUDE_CONFIG_DIR'],
  leavesOut: /^(--settings|--setting-sources|--bare|--safe-mode)(=|$)/,
  workflows: [
    { path: 'commands', kind: 'markdown' },
    { path: 'skills', kind: 'skill' },
  ],
};
