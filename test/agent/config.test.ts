import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigInput, loadConfig } from '../../agent/config.ts';
import { summaryMaxChars } from '../../protocol/limits.ts';

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wa-config-'));
  file = join(home, 'c', 'config.json');
  mkdirSync(join(home, 'c'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const load = (content?: unknown, env: ConfigInput['env'] = {}) => {
  if (content !== undefined) writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return loadConfig({ env: { WA_CONFIG_DIR: join(home, 'c'), ...env }, platform: 'linux', home });
};
const relay = { url: 'https://wa.example.workers.dev/', token: 'from-config' };

describe('the configuration', () => {
  it('of a machine without a file is empty, with the defaults', () => {
    expect(load()).toEqual({
      dirs: expect.objectContaining({ config: join(home, 'c') }),
      file,
      relay: undefined,
      bindings: [],
      summaryMaxChars,
      redact: { secrets: true, cards: false, iban: false, ssn: false, patterns: [] },
      hold: 'auto',
      nudge: 'auto',
      presence: { awayAfterMs: 120_000 },
      follow: 'auto',
      isLocal: false,
      agents: {},
      agentCommands: {},
      sprintText: undefined,
      mailboxDir: undefined,
    });
  });

  it('takes the known keys of the file, also after a BOM, and ignores unknown keys', () => {
    const content = {
      relay,
      bindings: [
        { dir: '/p', mailbox: '1' },
        { dir: '/q/../r', mailbox: '-100', project: 7 },
      ],
      summaryMaxChars: 200,
      hold: 'never',
      nudge: 'off',
      presence: { awayAfter: 30 },
      follow: 'never',
      agents: { gemini: '/opt/bin/gemini', mine: { command: ['mine', 'acp'], env: { MODE: 'quiet' } } },
      sprintText: 'Run make test.',
      redact: { cards: true, patterns: [{ name: 'ticket', source: 'T-\\d+', flags: 'i' }] },
      future: true,
    };
    expect(load(`\uFEFF${JSON.stringify(content)}`)).toMatchObject({
      relay: { url: 'https://wa.example.workers.dev', token: 'from-config', from: 'config' },
      bindings: [
        { dir: '/p', mailbox: '1', project: 0 },
        { dir: '/r', mailbox: '-100', project: 7 },
      ],
      summaryMaxChars: 200,
      hold: 'never',
      nudge: 'off',
      presence: { awayAfterMs: 30_000 },
      follow: 'never',
      agents: { gemini: '/opt/bin/gemini' },
      agentCommands: { mine: { command: ['mine', 'acp'], env: { MODE: 'quiet' } } },
      sprintText: 'Run make test.',
      redact: { secrets: true, cards: true, patterns: [{ name: 'ticket', source: 'T-\\d+', flags: 'i' }] },
    });
  });

  it('takes address and token of the relay from the same place', () => {
    const env = { WA_RELAY_URL: 'http://127.0.0.1:8787', WA_AGENT_TOKEN: 'from-env' };
    expect(load({ relay }, env).relay).toEqual({
      url: 'http://127.0.0.1:8787',
      token: 'from-env',
      from: 'environment',
    });
    for (const half of [{ WA_RELAY_URL: 'https://evil.example' }, { WA_AGENT_TOKEN: 'x' }]) {
      expect(() => load({ relay }, half)).toThrow(expect.objectContaining({ code: 'bad_config' }));
    }
  });

  it('is frozen', () => {
    expect(Object.isFrozen(load())).toBe(true);
  });

  const wrong: [string, unknown, RegExp][] = [
    ['a file that is not JSON', '{', /is not a JSON object/],
    ['a list', [], /is not a JSON object/],
    ['bindings that are not a list', { bindings: {} }, /"bindings" must be an array, found an object/],
    [
      'a binding without a chat',
      { bindings: [{ dir: '/p' }] },
      /"bindings\[0\]\.mailbox" must be a text \(the chat id\)/,
    ],
    [
      'a project that is not a number',
      { bindings: [{ dir: '/p', mailbox: '1', project: '7' }] },
      /\.project" must be a whole/,
    ],
    [
      'an empty variable of an agent',
      { agents: { mine: { command: ['mine'], env: { API_KEY: '' } } } },
      /config\.json: "agents\.mine\.env\.API_KEY" must be the value of the variable API_KEY, found an empty text/,
    ],
    ['a relay without a token', { relay: { url: 'https://x.dev' } }, /"relay\.token" must be a text/],
    ['a relay over plain http', { relay: { url: 'http://x.dev', token: 't' } }, /relay\.url is not an https address/],
    ['a summary of no length', { summaryMaxChars: 0 }, /from 50 to 4000, found a number/],
    ['a switch that is a text', { redact: { secrets: 'no' } }, /"redact\.secrets" must be true or false/],
    [
      'an agent without an absolute path',
      { agents: { gemini: 'gemini' } },
      /"agents\.gemini" must be the absolute path of a program/,
    ],
    [
      'an agent without a command',
      { agents: { mine: { command: [] } } },
      /"agents\.mine\.command" must be a list of texts/,
    ],
    [
      'an agent with an unknown key',
      { agents: { mine: { command: ['a'], cwd: '/' } } },
      /"agents\.mine\.cwd" must be absent/,
    ],
    [
      'an agent with a name that is a path',
      { agents: { '../x': '/bin/x' } },
      /"agents\.\.\.\/x" must be named by a word/,
    ],
    ['a hold that is a switch', { hold: true }, /"hold" must be one of "auto", "always", "never", found a boolean/],
    ['an unknown nudge', { nudge: 'screen' }, /"nudge" must be one of "auto", "off", found a string/],
    [
      'a follow that is a switch',
      { follow: true },
      /"follow" must be one of "auto", "always", "never", found a boolean/,
    ],
    ['a time without a unit', { presence: { awayAfter: '2m' } }, /"presence.awayAfter" must be a whole number from 0/],
    ['a pattern without a source', { redact: { patterns: [{}] } }, /"redact\.patterns\[0\]\.source" must be a text/],
  ];
  it.each(wrong)('refuses %s, naming file and key and never a value', (_, content, message) => {
    expect(() => load(content)).toThrow(
      expect.objectContaining({
        code: 'bad_config',
        message: expect.stringMatching(message),
        hint: expect.any(String),
      }),
    );
  });
});
