// The one list of coding agents, and the questions that other parts ask about them. Pure; the hook fallback bundles it.

import { claude } from './claude/driver.ts';
import { codex } from './codex/driver.ts';
import type { Driver, EventKind } from './driver.ts';
import { gemini } from './gemini/driver.ts';

const drivers = new Map<string, Driver>([gemini, claude, codex].map((driver) => [driver.name, driver]));

/** In the order in which help names them; the first is the default. */
export function allDrivers(): readonly Driver[] {
  return [...drivers.values()];
}

/** Undefined = unknown coding agent. */
export function driverOf(name: string): Driver | undefined {
  return drivers.get(name);
}

/** For tests: adds a driver, and returns the function that removes it. */
export function addDriver(driver: Driver): () => void {
  drivers.set(driver.name, driver);
  return () => {
    drivers.delete(driver.name);
  };
}

/** Undefined = unknown agent or event; the hook then answers `{}`. */
export function kindOf(agent: string, event: string): EventKind | undefined {
  const events = drivers.get(agent)?.events;
  return events && Object.hasOwn(events, event) ? events[event] : undefined;
}

export function isGate(agent: string, event: string): boolean {
  return kindOf(agent, event) === 'gate';
}

/** Whether the answer may wait for a person. */
export function mayHold(agent: string, event: string): boolean {
  return modeOf(agent, event) !== 'now';
}

/** The word for the launcher, which knows no event: `hold` = the answer may be held; `gate` = a tool waits behind it, too. */
export function modeOf(agent: string, event: string): 'now' | 'hold' | 'gate' {
  const kind = kindOf(agent, event);
  if (kind === 'gate') return 'gate';
  return kind === 'turnEnd' || kind === 'permission' ? 'hold' : 'now';
}
