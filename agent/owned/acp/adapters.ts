// The adapters by which Claude Code and Codex speak ACP, installed on first use at pinned versions.

export type AdapterName = 'claude' | 'codex';
