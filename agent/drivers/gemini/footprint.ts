// What Gemini CLI keeps in a home and in a project. Pure.

import type { Footprint } from '../footprint.ts';

export const footprint: Footprint = {
  name: 'gemini',
  programs: ['gemini', 'gemini-cli', 'gemini-code'],
  folder: '.gemini',
  names: ['settings.json', 'extensions', 'hooks', 'policies', 'trusted_hooks.json', 'trustedFolders.json'],
  logins: ['oauth_creds.json'],
  homeFiles: [],
  beside: ['/etc/gemini-cli/settings.json', '/etc/gemini-cli/system-defaults.json'],
  variables: [
    ...['GEMINI_CLI_HOME', 'GEMINI_CONFIG_DIR'],
    ...['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'],
  ],
  leavesOut: /^(-[a-z]*e|--extensions?(=|$))/,
  workflows: [
    { path: 'antigravity/global_workflows', kind: 'markdown', only: 'home' },
    { path: 'commands', kind: 'toml' },
    { path: 'skills', kind: 'skill' },
  ],
};
