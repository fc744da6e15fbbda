// `/sessions WORDS` of the phone, over recorded sessions of all three agents.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { findForPhone } from '../../../agent/phone/sessions.ts';
import { textsIn } from '../../../protocol/texts.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';
import { type Agent, addSession, recorded, recordedText } from '../../helpers/sessions.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
  for (const agent of Object.keys(recorded) as Agent[]) await addSession(home, agent);
});
afterEach(() => home.close());

const ask = (words: string, redact = (text: string) => text) =>
  findForPhone(words, {
    place: { home: home.home, env: {}, state: home.root },
    dir: home.project,
    redact,
    texts: textsIn('en'),
    clock: () => Date.parse('2026-11-21T00:00:00Z'),
  });

it('the phone gets the sessions of the project with all the words, newest first, each with the command that resumes it', async () => {
  expect(await ask('run: hi')).toBe(
    [
      'Sessions of this project with “run: hi”:',
      'RUN: echo hi-codex (codex, 2 h ago)\nRUN: echo hi-codex\n/resume_01a1fae9',
      'RUN: echo hi-there (claude, 2 h ago)\nRUN: echo hi-there\n/resume_71deeaac',
    ].join('\n\n'),
  );
  expect(await ask('nothing like it')).toBe(
    'No session of this project has “nothing like it”. /resume lists the last ones.',
  );
});

it('a secret in a session does not reach the phone, neither whole nor cut', async () => {
  const secret = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';
  const text = (await recordedText('codex', home.project)).replaceAll(
    'RUN: echo hi-codex',
    `${'x '.repeat(33)}RUN it with ${secret} please`,
  );
  await addSession(home, 'codex', text);
  const said = await ask('please', (each) => each.replaceAll(secret, '[redacted]'));
  expect(said).toContain('[redacted] please');
  expect(said).not.toContain('sk-');
});
