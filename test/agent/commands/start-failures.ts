// The starts of the daemon that fail, each with what a person reads. Holds no expectations.

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from './program.ts';

export interface Failure {
  prepare?: (program: Program) => Promise<unknown>;
  /** Default: a quiet start. */
  args?: string[];
  /** In place of the usual variables. */
  env?: (program: Program) => Record<string, string>;
  code: number;
  error: string;
  says: RegExp;
  hint: RegExp;
}

export const startFailures: Record<string, Failure> = {
  'no relay is configured': {
    env: () => ({ WA_RELAY_URL: '', WA_AGENT_TOKEN: '' }),
    code: 2,
    error: 'not_configured',
    says: /no relay is configured/,
    hint: /`wa-sync setup` connects.*`wa-sync dev`/,
  },
  'half of the pair is set': {
    env: () => ({ WA_AGENT_TOKEN: '' }),
    code: 2,
    error: 'bad_config',
    says: /WA_AGENT_TOKEN is unset or empty, although WA_RELAY_URL is set/,
    hint: /Set WA_AGENT_TOKEN/,
  },
  'the relay address has credentials': {
    env: () => ({ WA_RELAY_URL: 'https://user:secret@example.org' }),
    code: 2,
    error: 'bad_config',
    says: /WA_RELAY_URL is not an https address/,
    hint: /wrangler deploy/,
  },
  'the relay address is plain http to another machine': {
    env: () => ({ WA_RELAY_URL: 'http://example.org' }),
    code: 2,
    error: 'bad_config',
    says: /not an https address/,
    hint: /wrangler deploy/,
  },
  'no program answers at the relay address': {
    env: () => ({ WA_RELAY_URL: 'http://127.0.0.1:9' }),
    code: 1,
    error: 'relay_unreachable',
    says: /did not answer/,
    hint: /WA_RELAY_URL/,
  },
  'the relay does not know the token': {
    env: () => ({ WA_AGENT_TOKEN: 'a'.repeat(43) }),
    code: 1,
    error: 'unauthorized',
    says: /token/,
    hint: /WA_AGENT_TOKEN/,
  },
  'config.json is no JSON': {
    prepare: ({ config }) => config('{"relay":{"token":"secret-token"'),
    code: 2,
    error: 'bad_config',
    says: /config\.json: not JSON in line 1/,
    hint: /Correct line 1 of .*config\.json/,
  },
  'config.json has a comma too many': {
    prepare: ({ config }) => config('{\n  "hold": "auto",\n}\n'),
    code: 2,
    error: 'bad_config',
    says: /config\.json: not JSON in line 3/,
    hint: /Correct line 3 .*, or the line before it/,
  },
  'config.json has a wrong type': {
    prepare: ({ config }) => config('{"bindings":[{"dir":7,"mailbox":"1"}]}'),
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]\.dir" must be a text, found a number/,
    hint: /Correct "bindings\[0\]\.dir"/,
  },
  'config.json has an unknown key': {
    prepare: ({ config }) => config('{"relays":{}}'),
    code: 2,
    error: 'bad_config',
    says: /config\.json: "relays" is not a known key/,
    hint: /Known keys: relay, bindings/,
  },
  'config.json has an unknown key inside another': {
    prepare: ({ config }) => config('{"bindings":[{"dir":"/p","mailbox":"1","chat":"2"}]}'),
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]\.chat" is not a known key/,
    hint: /Known keys: dir, mailbox, project/,
  },
  'a binding is relative': {
    prepare: ({ config }) => config('{"bindings":[{"dir":"rel/path","mailbox":"1"}]}'),
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]\.dir" must be an absolute path, found "rel\/path"/,
    hint: /Correct "bindings\[0\]\.dir"/,
  },
  'a binding names no chat': {
    prepare: ({ config }) => config('{"bindings":[{"dir":"/p","mailbox":"abc"}]}'),
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]\.mailbox" must be a chat id, a number in quotes, found "abc"/,
    hint: /Correct "bindings\[0\]\.mailbox"/,
  },
  'two bindings name one chat and project': {
    prepare: ({ config }) => config('{"bindings":[{"dir":"/p","mailbox":"1"},{"dir":"/q","mailbox":"1","project":0}]}'),
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]" and "bindings\[1\]" bind chat 1, project 0 to two folders, \/p and \/q/,
    hint: /Remove one of them from .*config\.json, or give each its own chat, or its own topic/,
  },
  'two bindings name one folder, one of them by a link': {
    prepare: async ({ dir, project, config }) => {
      await symlink(project, join(dir, 'link'));
      const bindings = [
        { dir: project, mailbox: '1' },
        { dir: join(dir, 'link'), mailbox: '1', project: 7 },
      ];
      await config(JSON.stringify({ bindings }));
    },
    code: 2,
    error: 'bad_config',
    says: /"bindings\[0\]" and "bindings\[1\]" bind one folder, /,
    hint: /Remove one of them from .*config\.json/,
  },
  'config.json has an invalid pattern': {
    prepare: ({ config }) => config('{"redact":{"patterns":[{"name":"ticket","source":"("}]}}'),
    code: 2,
    error: 'bad_config',
    says: /ticket|pattern/,
    hint: /redact\.patterns/,
  },
  'the journal is of a newer version': {
    prepare: async ({ env }) => {
      await mkdir(env.WA_STATE_DIR);
      await writeFile(join(env.WA_STATE_DIR, 'journal.jsonl'), '{"t":"journal","version":99}\n');
    },
    code: 1,
    error: 'journal_version',
    says: /version 99/,
    hint: /git pull && npm ci/,
  },
  'the socket path is too long': {
    env: ({ dir }) => ({ WA_RUNTIME_DIR: join(dir, 'x'.repeat(100)) }),
    code: 1,
    error: 'socket_path_too_long',
    says: /bytes, at most 100 work/,
    hint: /WA_RUNTIME_DIR/,
  },
  'the runtime directory is a link': {
    prepare: ({ dir, env }) => symlink(dir, env.WA_RUNTIME_DIR),
    code: 1,
    error: 'runtime_dir_unusable',
    says: /is not a real directory/,
    hint: /WA_RUNTIME_DIR/,
  },
  'the runtime directory is a file': {
    prepare: ({ env }) => writeFile(env.WA_RUNTIME_DIR, ''),
    code: 1,
    error: 'runtime_dir_unusable',
    says: /EEXIST|not a directory|is not a real directory/,
    hint: /WA_RUNTIME_DIR/,
  },
  'the state directory is a file': {
    prepare: ({ env }) => writeFile(env.WA_STATE_DIR, ''),
    code: 1,
    error: 'file_unusable',
    says: /ENOTDIR|EEXIST/,
    hint: /./,
  },
};
