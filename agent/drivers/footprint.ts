// The part of the contract that says what a coding agent keeps on a machine. Types only.

/**
 * What a coding agent keeps in a home and in a project. Most of it no tool may change without an approval, because the change could
 * remove the gate; the guard protects every footprint, whichever agent calls. Each driver must have one in footprints.ts; no hook
 * bundles it.
 */
export interface Footprint {
  readonly name: string;
  /** Must be the programs that start the agent, the one that a person types first. */
  readonly programs: readonly string[];
  /** The settings folder in a home and in a project, and the names in that folder that decide whether the gate is called. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Names in that folder of files that hold the login: no tool reads them unasked. */
  readonly logins: readonly string[];
  /** Further files with the same power: in the home folder, and by absolute path (`beside`). */
  readonly homeFiles: readonly string[];
  readonly beside: readonly string[];
  /** Environment variables that move the settings. */
  readonly variables: readonly string[];
  /** Options that start the agent without its hooks. */
  readonly leavesOut: RegExp;
  /** Folders below the settings folder with texts that a person calls by name, in order of preference. */
  readonly workflows: readonly WorkflowFolder[];
}

export interface WorkflowFolder {
  readonly path: string;
  /** `markdown`: `<name>.md`. `toml`: `<name>.toml` with a `prompt`. `skill`: `<name>/SKILL.md`. */
  readonly kind: 'markdown' | 'toml' | 'skill';
  /** Absent = in a home and in a project. */
  readonly only?: 'home' | 'project';
}
