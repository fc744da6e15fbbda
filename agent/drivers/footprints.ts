// What is guarded of every coding agent, with a driver or without: the one at work must not open another's gate. Pure.

import type { Footprint } from './driver.ts';
import { footprint as gemini } from './gemini/footprint.ts';

let all: readonly Footprint[] = [
  gemini,
  {
    name: 'claude',
    programs: ['claude', 'claude-cli', 'claude-code'],
    folder: '.claude',
    names: ['settings.json', 'settings.local.json', 'hooks', 'plugins'],
    homeFiles: ['.claude.json'],
    beside: ['/etc/claude-code/managed-settings.json'],
    variables: ['CLAUDE_CONFIG_DIR'],
    leavesOut: /^(--settings|--setting-sources|--bare|--safe-mode)(=|$)/,
  },
  {
    name: 'codex',
    programs: ['codex', 'codex-cli', 'codex-code'],
    folder: '.codex',
    names: ['config.toml', 'hooks.json', 'hooks', 'rules'],
    homeFiles: [],
    beside: ['/etc/codex/config.toml', '/etc/codex/requirements.toml'],
    variables: ['CODEX_HOME'],
    leavesOut: /^(-c|--config|--disable|-p|--profile|--dangerously-bypass-hook-trust)(=|$)/,
  },
];

/** For a test that brings its own; gives what takes it out again. */
export function addFootprint(footprint: Footprint): () => void {
  all = [...all, footprint];
  return () => {
    all = all.filter((each) => each !== footprint);
  };
}

/** What is made of all footprints: once, and again when one comes or goes. */
export function ofFootprints<T>(make: (footprints: readonly Footprint[]) => T): () => T {
  let made: { value: T; of: readonly Footprint[] } | undefined;
  return () => {
    if (made?.of !== all) made = { value: make(all), of: all };
    return made.value;
  };
}
