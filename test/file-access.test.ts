// Below a project a cloned repository may have put anything, so only agent/fs/ opens what lies there (agent/fs/below.ts).

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Each file outside of agent/fs/ that asks the file system itself, with the place that it touches. */
const others: Record<string, string> = {
  'agent/approvals/gate-files.ts': 'config and runtime directory',
  'agent/approvals/danger/surroundings.ts': 'where paths lead, without opening them',
  'agent/binding.ts': 'where paths lead, without opening them',
  'agent/commands/background.ts': 'state directory',
  'agent/commands/demo.ts': 'a folder that it has made itself',
  'agent/commands/dev.ts': 'the folder of dev',
  'agent/commands/beside-dev.ts': 'where paths lead, without opening them',
  'agent/commands/folder.ts': 'where the folder of an option lies, without opening it',
  'agent/commands/logs.ts': 'whether the log is there, in the state directory',
  'agent/commands/uninstall.ts': 'our own directories, which it removes',
  'agent/config-check.ts': 'config directory',
  'agent/config.ts': 'config directory',
  'agent/crypto.ts': '/dev/urandom',
  'agent/daemon/daemon-id.ts': 'config directory',
  'agent/daemon/daemon.ts': 'state and runtime directory',
  'agent/daemon/day-usage.ts': 'state directory',
  'agent/daemon/serving.ts': 'data directory',
  'agent/dev/echo-agent.ts': 'the folder of dev',
  'agent/dev/local-bot.ts': 'config directory',
  'agent/dev/local-relay.ts': 'state directory',
  'agent/dev/embedded-relay.ts': 'the folder of dev',
  'agent/dev/chat-store.ts': 'the folder of dev',
  'agent/dev/phone-assets.ts': 'our own package',
  'agent/dev/phone-place.ts': 'the folder of dev',
  'agent/dev/stack.ts': 'the folder of dev',
  'agent/dev/toolchain.ts': 'cache directory',
  'agent/owned-marks.ts': 'runtime directory',
  'agent/mailbox/open.ts': 'where folders lie, without opening them',
  'agent/drivers/claude/hook-switches.ts': 'where settings lie, without opening them',
  'agent/drivers/claude/nudge.ts': 'whether the inbox socket of the coding agent is there, without opening it',
  'agent/owned/leftover.ts': '/proc, for the processes of an owned session',
  'agent/drivers/gemini/hook-switches.ts': 'where settings lie, without opening them',
  'agent/drivers/gemini/received-files.ts': 'temporary folder of the coding agent',
  'agent/drivers/gemini/install-extension.ts': 'whether an extension is there, without opening it',
  'agent/drivers/install/files.ts': 'data directory, and settings of the coding agent in the home folder',
  'agent/drivers/install/launcher.ts': 'whether a launcher is there, without opening it',
  'agent/drivers/install/user-file.ts':
    'whether a link stands in place of settings in the home folder, without opening it',
  'agent/doctor/agents.ts': 'whether a program is there, without opening it',
  'agent/doctor/config.ts': 'config directory, and whether bound folders are there',
  'agent/doctor/daemon.ts': 'runtime directory',
  'agent/doctor/hooks.ts': 'whether Node and our own package are there',
  'agent/doctor/machine.ts': 'modes of config, state and runtime directory, and where folders lie',
  'agent/doctor/secrets.ts': 'whether a mailbox is there, without opening it',
  'agent/doctor/surroundings.ts': 'free space of a disk',
  'agent/drivers/codex/install.ts': 'mode of the settings in the home folder',
  'agent/drivers/gemini/inspect.ts': 'names of extensions, and whether a program is there, without opening it',
  'agent/drivers/gemini/session-keeper.ts': 'conversations of the coding agent in the home folder',
  'agent/owned/acp/adapters.ts': 'cache directory',
  'agent/drivers/session-file.ts': 'session file of the coding agent',
  'agent/heavy/thread.ts': 'whether our own package is there',
  'agent/local-server/socket.ts': 'runtime directory',
  'agent/journal/journal.ts': 'state directory',
  'agent/setup/cloudflare/deploy.ts': 'our own package',
  'agent/setup/config-file.ts': 'config directory',
  'agent/setup/state.ts': 'config directory',
  'agent/setup/machine.ts': 'where the project lies, without opening it',
  'agent/local-client.ts': 'runtime directory',
  'agent/log.ts': 'state directory',
  'agent/presence.ts': 'when the terminal of a process was read from',
  'agent/process.ts': '/proc',
  'agent/programs.ts': 'whether a program is on the PATH',
  'agent/relay/documents.ts': 'state directory, and the file that the user names',
  'agent/mailbox/served.ts': 'config directory, and where folders lie',
  'agent/mailbox/signing.ts': 'config directory',
  'agent/mailbox/update.ts': 'keeps a broken mailbox file aside, beside the file',
  'agent/relay/full-answers.ts': 'state directory',
  'agent/mailbox/watch.ts': 'watches the mailbox, without opening it',
  'agent/sessions/read.ts': 'session file of the coding agent: its size, without opening it',
  'agent/commands/session-changes.ts': 'the session of a coding agent that the user deletes',
  'agent/service/installation.ts': 'the files of the service in the home folder, to compare them',
  'agent/service/node.ts': 'whether a Node is there, without opening it',
  'agent/service/package-copy.ts': 'our own package, and its copies in the data directory',
  'agent/service/service.ts': 'data directory, and the files of the service in the home folder',
  'agent/service/world.ts': 'the Startup folder of Windows',
  'agent/terminal.ts': '/proc',
  'agent/tmux.ts': '/proc',
  'agent/workflows/expand.ts': 'where paths lead, without opening them',
  'hooks/alone.ts': 'session file of the coding agent',
  'hooks/compiled.ts': 'the folder of the installed launcher',
  'hooks/fallback.ts': 'stdin and stdout',
  'hooks/fs-promises.ts': 'stands in for node:fs/promises',
  'hooks/gate.ts': 'config and runtime directory',
  'hooks/owned.ts': 'runtime directory',
  'hooks/socket.ts': 'runtime directory',
  'hooks/start-daemon.ts': 'state directory, and the record beside the installed launcher',
};

it('nothing outside of agent/fs/ asks the file system but what is listed here with its place, so that nothing else opens what lies below a project', () => {
  const sources = ['agent', 'hooks'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((name) => name.endsWith('.ts') && !name.startsWith('agent/fs/')),
  );
  const asking = sources.filter((name) =>
    /['"](?:node:)?fs(?:\/promises)?['"]/.test(readFileSync(join(root, name), 'utf8')),
  );
  expect(asking.sort()).toEqual(Object.keys(others).sort());
});
