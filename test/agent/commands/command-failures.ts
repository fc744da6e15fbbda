// The other commands that fail, most for their arguments, each with what a person reads. Holds no expectations.

import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import type { Failure } from './start-failures.ts';

export const commandFailures: Record<string, Failure> = {
  'away is given a word that is none of its choices': {
    args: ['away', 'maybe'],
    code: 2,
    error: 'bad_arguments',
    says: /: switch must be one of on, off, not "maybe"/,
    hint: /wa-sync away --help/,
  },
  'an option is given a word that is none of its choices': {
    args: ['hooks', 'install', '--scope', 'all'],
    code: 2,
    error: 'bad_arguments',
    says: /: --scope must be one of user, project, not "all"/,
    hint: /wa-sync hooks --help/,
  },
  'approvals are to be changed here': {
    args: ['approvals', 'off'],
    code: 2,
    error: 'bad_arguments',
    says: /on the phone only/,
    hint: /\/approvals off/,
  },
  'hooks are installed in a folder that does not exist': {
    args: ['hooks', 'install', '--scope', 'project', '--project', '/nowhere/at/all'],
    code: 2,
    error: 'bad_arguments',
    says: /\/nowhere\/at\/all is not a folder/,
    hint: /existing folder/,
  },
  'a service is installed, and the relay stands only in the environment': {
    args: ['service', 'install'],
    code: 2,
    error: 'not_configured',
    says: /only in the environment/,
    hint: /"relay" into .*config\.json, mode 600/,
  },
  '.gemini is a link': {
    prepare: async ({ project, env, config }) => {
      const binding = { dir: project, mailbox: '1', project: 0 };
      await config(JSON.stringify({ bindings: [binding] }));
      await rememberBound(env.WA_CONFIG_DIR, binding, null, 0);
      await symlink(tmpdir(), join(project, '.gemini'));
    },
    args: ['audit'],
    code: 1,
    error: 'outside_project',
    says: /\.gemini is a link, to .*, and links are not followed here/,
    hint: /WA_MAILBOX_DIR/,
  },
  'status finds no daemon': {
    args: ['status'],
    code: 1,
    error: 'daemon_not_running',
    says: /no daemon answers/,
    hint: /Start it with `wa-sync`/,
  },
  'down finds no daemon': {
    args: ['down'],
    code: 1,
    error: 'daemon_not_running',
    says: /no daemon answers/,
    hint: /Start it with `wa-sync`/,
  },
  'a sprint has no tasks': {
    args: ['sprint', '0'],
    code: 2,
    error: 'bad_arguments',
    says: /a sprint has 1 to 50 tasks, not 0/,
    hint: /wa-sync sprint 3/,
  },
  'a sprint has a negative count of tasks': {
    args: ['sprint', '-1'],
    code: 2,
    error: 'bad_arguments',
    says: /1 to 50 tasks, not -1/,
    hint: /wa-sync sprint 3/,
  },
  'a sprint is given a goal': {
    args: ['sprint', 'abc'],
    code: 2,
    error: 'bad_arguments',
    says: /1 to 50 tasks, not abc/,
    hint: /\/sprint on the phone/,
  },
  'audit is asked since a word that is not a duration': {
    args: ['audit', '--since', 'yesterday'],
    code: 2,
    error: 'bad_arguments',
    says: /--since "yesterday" is not a duration/,
    hint: /--since 2h/,
  },
  'audit is asked in a folder that is not bound': {
    args: ['audit'],
    code: 2,
    error: 'not_bound',
    says: /is not in a folder that is bound to a chat/,
    hint: /"bindings" in .*config\.json/,
  },
  'letters is asked without a relay': {
    args: ['letters'],
    env: () => ({ WA_RELAY_URL: '', WA_AGENT_TOKEN: '' }),
    code: 2,
    error: 'not_configured',
    says: /no relay is configured/,
    hint: /WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in .*config\.json/,
  },
  'there is nothing to send': {
    args: ['send', '  '],
    code: 2,
    error: 'bad_arguments',
    says: /no text/,
    hint: /wa-sync send/,
  },
  'the command is unknown': {
    args: ['strat'],
    code: 2,
    error: 'bad_arguments',
    says: /unknown command 'strat' \(Did you mean start\?\)/,
    hint: /wa-sync --help/,
  },
  'help is asked for an unknown command': {
    args: ['help', 'bogus'],
    code: 2,
    error: 'bad_arguments',
    says: /unknown command 'bogus'/,
    hint: /wa-sync --help/,
  },
  'the default command is given an unknown option': {
    args: ['--quite'],
    code: 2,
    error: 'bad_arguments',
    says: /unknown option '--quite'/,
    hint: /wa-sync --help/,
  },
  'an option is unknown': {
    args: ['status', '--jsno'],
    code: 2,
    error: 'bad_arguments',
    says: /--jsno.*Did you mean --json/,
    hint: /wa-sync status --help/,
  },
  'dev is given a folder that does not exist': {
    args: ['dev', '--project', '/nowhere/at/all'],
    code: 2,
    error: 'bad_arguments',
    says: /\/nowhere\/at\/all is not a folder/,
    hint: /existing folder/,
  },
  'dev with the real Telegram has no bot': {
    args: ['dev', '--telegram', 'poll'],
    code: 2,
    error: 'not_configured',
    says: /TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID not set/,
    hint: /--telegram/,
  },
  'the agent of hooks is unknown': {
    args: ['hooks', 'install', '--agent', 'vim'],
    code: 2,
    error: 'bad_arguments',
    says: /vim/,
    hint: /--agent gemini/,
  },
};
