// The rooms of the sources, and what each may import: checked by test/architecture.test.ts, shown in docs/architecture.md.

interface Room {
  /** Of files: `*` is any name, `**` any path, `{a,b}` a choice. A file's room is the last row that fits. */
  files: string;
  /** Beside the own folder: files, packages by name or by what is imported of them, and `node` for Node's own modules. */
  may: readonly string[];
  why: string;
}

export const rooms: readonly Room[] = [
  { files: 'protocol/*', may: [], why: 'every part bundles it' },
  { files: 'protocol/texts.ts', may: ['protocol/texts/*/*'], why: 'what the phone reads; no hook bundles it' },
  { files: 'protocol/texts/*/*', may: ['protocol/*', 'protocol/texts/*/*'], why: 'one folder per language' },
  { files: 'protocol/{relay-api,webhook-api}.ts', may: ['valibot'], why: 'HTTP schemas, which no hook bundles' },

  { files: 'worker/*', may: ['protocol/*', 'worker/mailbox/**'], why: 'never Node, never `agent/`' },
  {
    files: 'worker/app.ts',
    may: ['protocol/*', 'worker/mailbox/**', 'package.json', 'hono'],
    why: 'the routes',
  },
  { files: 'worker/requests.ts', may: ['protocol/*', 'valibot'], why: 'checks what is sent' },
  { files: 'worker/platforms.ts', may: ['protocol/*', 'worker/telegram/platform.ts'], why: 'the list of platforms' },
  {
    files: 'worker/mailbox/**',
    may: ['protocol/*', 'worker/*', 'worker/mailbox/**'],
    why: 'knows no platform',
  },
  {
    files: 'worker/mailbox/tables/*',
    may: ['protocol/*', 'worker/platform.ts', 'worker/mailbox/{core,counters}.ts'],
    why: 'rows and their SQL: below every other room',
  },
  {
    files: 'worker/mailbox/object.ts',
    may: ['protocol/*', 'worker/*', 'worker/mailbox/**', 'cloudflare:workers'],
    why: 'the shell that puts the mailbox together',
  },
  {
    files: 'worker/telegram/*',
    may: ['protocol/*', 'worker/{auth,env,platform}.ts', 'valibot', 'grammy/types'],
    why: 'knows the seam, not the mailbox',
  },

  { files: 'agent/*', may: ['protocol/*', 'node'], why: 'the lowest level' },
  {
    files: 'agent/local-client.ts',
    may: ['protocol/*', 'node', 'agent/fs/lock.ts'],
    why: 'who holds the lock of the daemon',
  },
  {
    files: 'agent/config-check.ts',
    may: ['protocol/*', 'node', 'agent/fs/json-line.ts'],
    why: 'the line of a mistake, for people',
  },
  {
    files: 'agent/cli.ts',
    may: ['protocol/*', 'node', 'agent/command-line/*', 'agent/commands/*', 'commander'],
    why: 'the entry point',
  },
  {
    files: 'agent/command-line/*',
    may: ['protocol/*', 'agent/*', 'agent/commands/*', 'agent/drivers/registry.ts', 'commander'],
    why: 'names and options; what a command does is in `agent/commands/`',
  },
  { files: 'agent/commands/*', may: ['protocol/*', 'node', 'agent/**'], why: 'puts parts together, without a package' },
  {
    files: 'agent/doctor/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{fs,service}/*',
      'agent/dev/local-bot.ts',
      'agent/drivers/{footprints,workstation,workstations}.ts',
      'agent/relay/client.ts',
    ],
    why: 'looks at every part from outside; what a host makes of its settings is known by its driver',
  },
  {
    files: 'agent/daemon/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{approvals,drivers,format,fs,heavy,journal,local-server,mailbox,owned,phone,relay,session,sessions,turns,workflows}/**',
      'agent/setup/state.ts',
    ],
    why: 'puts the parts below it together; neither commands nor dev',
  },
  {
    files: 'agent/dev/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{daemon,dev/*}/*',
      'agent/drivers/registry.ts',
      'agent/fs/*',
      'agent/relay/{client,connection}.ts',
      'grammy/web',
      'miniflare',
    ],
    why: 'starts the built Worker, never its source',
  },
  {
    files: 'agent/dev/telegram-sim/*',
    may: ['protocol/*', 'node', 'grammy/types', 'undici'],
    why: 'shares no mistake with what it tests',
  },
  {
    files: 'agent/setup/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/fs/*',
      'agent/relay/client.ts',
      'agent/dev/{bot-api,bot-errors,local-bot}.ts',
      'agent/setup/cloudflare/*',
      'grammy',
    ],
    why: 'the steps of setup; hooks, daemon and service come from `agent/commands/`',
  },
  {
    files: 'agent/setup/prompt-person.ts',
    may: ['protocol/*', 'agent/*', '@clack/prompts', 'uqr'],
    why: 'a terminal with a person, loaded for nobody else',
  },
  {
    files: 'agent/setup/cloudflare/*',
    may: ['protocol/*', 'node', 'agent/{crypto,http,process}.ts', 'agent/relay/connection.ts'],
    why: "Cloudflare's REST API, and nothing of setup",
  },
  {
    files: 'agent/heavy/*',
    may: [
      'protocol/*',
      'node',
      'agent/log.ts',
      'agent/format/redact.ts',
      'agent/owned/owned.ts',
      'agent/relay/render.ts',
      'agent/approvals/{danger,policy,question}/*',
    ],
    why: 'what runs in worker threads',
  },
  {
    files: 'agent/service/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/workstations.ts'],
    why: 'the service of each operating system',
  },
  {
    files: 'agent/owned/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{fs,journal}/*', 'agent/session/types.ts'],
    why: 'a session that the daemon runs itself, as a host of the turn rules; knows neither agent nor protocol',
  },
  {
    files: 'agent/owned/acp/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/fs/*',
      'agent/owned/{owned,agent-error}.ts',
      'agent/owned/acp/locks/*',
      'agent/drivers/fields.ts',
      'agent/drivers/*/session-keeper.ts',
    ],
    why: 'one driver for every coding agent that speaks ACP',
  },
  {
    files: 'agent/owned/acp/wire.ts',
    may: ['node', 'agent/drivers/fields.ts', '@agentclientprotocol/sdk'],
    why: 'the only file that loads the SDK',
  },
  {
    files: 'agent/owned/owned.ts',
    may: [],
    why: 'words between an owned session and the rest',
  },
  { files: 'agent/fs/*', may: ['protocol/*', 'node', 'agent/*'], why: 'the disk, and no word of what it holds' },
  { files: 'agent/fs/json-line.ts', may: ['jsonc-parser'], why: 'the line of a mistake, for the daemon alone' },
  { files: 'agent/journal/*', may: ['protocol/*', 'node', 'agent/*'], why: 'needs no other room' },
  {
    files: 'agent/mailbox/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{fs,journal,turns}/*'],
    why: 'the two files, whoever else writes them',
  },
  {
    files: 'agent/relay/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/{format,fs,journal,mailbox}/*', 'hpagent', 'proxy-from-env'],
    why: 'what crosses the network',
  },
  {
    files: 'agent/session/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{fs,journal,mailbox,relay,turns}/*',
      'agent/drivers/{driver,registry,session-file,tool-words}.ts',
    ],
    why: 'carries out what the rules decide; speaks to no network and no socket',
  },
  {
    files: 'agent/phone/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/format/summary.ts',
      'agent/{journal,relay,sessions}/*',
      'agent/owned/{owned,agent-error}.ts',
      'agent/session/types.ts',
      'leven',
    ],
    why: 'what the phone is told and asks for',
  },
  {
    files: 'agent/local-server/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/drivers/registry.ts', 'valibot'],
    why: 'knows the calls and not what becomes of them',
  },
  {
    files: 'agent/approvals/**',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/{format,fs,journal}/*',
      'agent/drivers/*',
      'agent/owned/owned.ts',
      'agent/approvals/**',
      'valibot',
    ],
    why: 'parts of one level meet in `agent/daemon/`',
  },
  {
    files: 'agent/mcp/*',
    may: ['protocol/*', 'node', 'agent/{local-client,process}.ts', '@modelcontextprotocol/sdk', 'zod'],
    why: 'a client of the daemon in a process of its own',
  },
  {
    files: 'agent/drivers/*/*',
    may: [
      'protocol/*',
      'node',
      'agent/*',
      'agent/drivers/*',
      'agent/drivers/install/*',
      'agent/fs/*',
      'jsonc-parser',
      'smol-toml',
    ],
    why: 'one tool, not those of other folders',
  },
  {
    files: 'agent/drivers/{nudge,session-file,session-folder,workstations}.ts',
    may: ['protocol/*', 'node', 'agent/tmux.ts', 'agent/fs/*', 'agent/drivers/*', 'agent/drivers/*/workstation.ts'],
    why: 'what the drivers share',
  },
  {
    files:
      'agent/drivers/{any-agent,driver,fields,footprint,footprints,hook-call,registry,sessions,tool-words,workstation,*/driver,*/footprint,*/hook-io,*/session-log,*/tools}.ts',
    may: ['protocol/*', 'agent/drivers/*', 'agent/drivers/*/{driver,footprint,hook-io,session-log,tools}.ts'],
    why: 'pure: no Node',
  },
  {
    files: 'agent/drivers/session-files.ts',
    may: ['agent/drivers/*', 'agent/drivers/*/sessions.ts'],
    why: 'the list of readers of session files',
  },
  {
    files: 'agent/sessions/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/{session-files,sessions}.ts'],
    why: 'the sessions of all agents on this machine; knows the readers and no agent',
  },
  { files: 'agent/turns/*', may: ['protocol/*'], why: 'pure: no Node, no clock, no files' },
  {
    files: 'agent/format/*',
    may: ['protocol/*', 'mdast', 'mdast-util-from-markdown', 'mdast-util-gfm', 'micromark-extension-gfm'],
    why: 'text into text: no Node',
  },
  {
    files: 'agent/workflows/*',
    may: ['protocol/*', 'node', 'agent/*', 'agent/fs/*', 'agent/drivers/{footprint,footprints}.ts', 'smol-toml'],
    why: 'reads workflow files, and knows no coding agent',
  },

  {
    files: 'hooks/*',
    may: [
      'protocol/*',
      'node',
      'agent/{binding,config,crypto,paths,process}.ts',
      'agent/{fs,mailbox,turns}/*',
      'agent/format/{summary,redact}.ts',
      'agent/drivers/**',
    ],
    why: 'what needs no package and starts in milliseconds',
  },
  {
    files: 'scripts/**',
    may: ['node', '{protocol,agent,hooks,scripts,test}/**', 'package.json', 'esbuild', 'undici'],
    why: 'over the built parts: no Worker source',
  },
];
