// What the owner asks of owned sessions at the desk and on the phone: real driver, journal and turn rules, scripted agents.

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isOver } from '../../../agent/process.ts';
import { addSession } from '../../helpers/sessions.ts';
import { ownedWorld, p } from './world.ts';

describe('wa-sync run', () => {
  it('answers with the session as soon as it is ready, in the mode and with the model that were asked for', async () => {
    const { owned } = await ownedWorld();
    const answer = await owned.orders.run({ agent: 'claude', mode: 'plan', model: 'large' });
    expect(answer).toEqual({ title: 'Claude Code', session: expect.stringMatching(/^[\w-]{36}$/), isTaken: false });
    expect(owned.status()).toMatchObject({ ...{ agent: 'claude', state: 'open', mode: 'plan', model: 'large' } });
    expect(owned.status()?.session).toBe(answer.session);
  });

  it('without an agent takes the one that was used last', async () => {
    const { owned } = await ownedWorld();
    expect(await owned.orders.run({})).toMatchObject({ title: 'Gemini CLI' });
    await owned.orders.run({ agent: 'codex' });
    expect(await owned.orders.run({})).toMatchObject({ title: 'Codex' });
  });

  it('changes nothing for an agent that is unknown, or known and not installed', async () => {
    const { owned, project } = await ownedWorld({ agents: { mine: {} } });
    await expect(owned.orders.run({ agent: 'nosuch' })).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'no coding agent is called nosuch' },
      hint: 'wa-sync knows: gemini, claude, codex, agy, mine.',
    });
    await expect(owned.orders.run({ agent: 'claude' })).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'Claude Code is not installed on this machine' },
      hint: expect.stringContaining('"agents": {"claude": '),
    });
    expect(project.owned).toBeUndefined();
  });

  it('says what is wrong with a mode that the agent does not have, and leaves no session open', async () => {
    const { owned, told } = await ownedWorld();
    await expect(owned.orders.run({ agent: 'claude', mode: 'nope' })).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'Claude Code has no mode "nope" in this session' },
      hint: expect.stringContaining('plan'),
    });
    expect(owned.status()).toBe(null);
    expect(told).toEqual([expect.stringMatching(/^The session of Claude Code could not be opened/)]);
  });

  it('says of an agent that cannot start now that it is tried again', async () => {
    const { owned, told } = await ownedWorld({ agents: { mine: { faults: ['dead'] } } });
    await expect(owned.orders.run({})).rejects.toMatchObject({
      ...{ code: 'child_failed', message: expect.stringContaining('Cannot find the configuration file') },
      hint: expect.stringMatching(/wa-sync goes on trying, and the phone is told when the session is ready\.$/),
    });
    expect(told).toEqual([expect.stringMatching(/wa-sync tries again\.$/)]);
  });

  it('opens an earlier session by latest or its id, and says of any other that there is none', async () => {
    const { owned, command } = await ownedWorld();
    const first = await owned.orders.run({ agent: 'claude' });
    const id = String(first.session);
    expect(await owned.orders.run({ session: id, agent: 'claude' })).toMatchObject({ session: id });
    await command('/end');
    expect(await owned.orders.run({ session: id })).toMatchObject({ session: id });
    await expect(owned.orders.run({ session: 'no-such-session' })).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'Claude Code has no session no-such-session' },
    });
    await expect(owned.orders.run({ session: 'words of no title' })).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'no session fits "words of no title"' },
      hint: 'See the list with `wa-sync sessions list`.',
    });
    await expect(owned.orders.run({ session: '--version' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is refused while a turn runs, here or in a terminal, and so is attach', async () => {
    const { owned, message, terminal, command, project } = await ownedWorld();
    await terminal('t', 7, { type: 'turnStart', prompt: 'typed' });
    await expect(owned.orders.run({})).rejects.toMatchObject({
      ...{ code: 'turn_running', message: 'the session of the terminal is in a turn' },
    });
    await terminal('t', 7, { type: 'turnEnd', answer: 'Done.', run: '1' });
    await owned.orders.run({ agent: 'claude' });
    await message('[[think: hm]][[hang]]');
    await expect.poll(() => owned.sessions.isBusy()).toBe(true);
    for (const refused of [owned.orders.run({}), owned.orders.run({ session: 'latest' }), owned.orders.attach()])
      await expect(refused).rejects.toMatchObject({
        ...{ code: 'turn_running', message: 'the session that wa-sync runs is in a turn' },
        hint: 'Wait for its end, or end it with `wa-sync stop`.',
      });
    expect(await command('/new')).toBe('A turn runs in the session. /cancel ends it, then send this again.');
    expect(await command('/end')).toBe('A turn runs in the session. /cancel ends it, then send this again.');
    expect(project.owned?.open).toBe(true);
  });

  it('says that a terminal had the messages', async () => {
    const { owned, terminal } = await ownedWorld();
    await terminal('t', 7, { type: 'sessionStart', source: 'startup' });
    expect(await owned.orders.run({})).toMatchObject({ isTaken: true });
  });

  it('opens no session that is open in a terminal', async () => {
    const { owned, terminal, command } = await ownedWorld();
    const { session } = await owned.orders.run({ agent: 'claude' });
    await command('/end');
    await terminal(String(session), 7, { type: 'sessionStart', source: 'resume' });
    await expect(owned.orders.run({ session: String(session) })).rejects.toMatchObject({
      ...{ code: 'session_in_use', message: expect.stringMatching(/is open in a terminal \(process 7\)$/) },
    });
  });
});

describe('/new', () => {
  it('says which agent starts and with which words, so that a misspelled name is seen', async () => {
    const { command } = await ownedWorld();
    expect(await command('/new')).toBe('A new session of Gemini CLI starts.');
    expect(await command('/new Claude  fix the hunter2 test')).toBe(
      'A new session of Claude Code starts. First prompt: “fix the [redacted] test”',
    );
  });

  it('takes a word that is no name as a word of the text', async () => {
    const { command, german } = await ownedWorld();
    await german();
    const line = `/new cluade fix\u202e ${'it '.repeat(40)}`;
    expect(await command(line)).toBe(
      `Eine neue Session von Gemini CLI beginnt. Erster Prompt: „${`cluade fix⟨U+202E⟩ ${'it '.repeat(40)}`.slice(0, 60)}…“`,
    );
  });
});

describe('what wa-sync says about an agent', () => {
  it('is German on a German phone, around the words of the agent, and English at the desk', async () => {
    const { owned, told, command, german } = await ownedWorld({ agents: { mine: { faults: ['dead'] } } });
    await german();
    expect(await command('/new agy')).toBe(
      'Antigravity CLI ist auf diesem Rechner nicht installiert. Installier das Programm, oder setz "agents": {"agy": "/pfad/des/programms"} in config.json.',
    );
    await expect(owned.orders.run({})).rejects.toMatchObject({
      message: 'mine ended with code 41: Cannot find the configuration file',
    });
    expect(told).toEqual([
      'Die Session von mine ließ sich nicht öffnen: mine endete mit Code 41: Cannot find the configuration file. Versuch es nochmal; wenn es dabei bleibt, starte `mine` in einem Terminal und sieh nach, was es sagt. wa-sync versucht es noch einmal.',
    ]);
  });

  it('reaches the phone as a note: each warning once, and not what the error of the turn says as well', async () => {
    const { owned, message, told, reports, german } = await ownedWorld();
    await german();
    await owned.orders.run({ agent: 'codex' });
    told.length = 0;
    await message('[[notice: Quota nearly used up.]][[notice: Quota nearly used up.]][[stop: max_tokens]]');
    await expect.poll(() => reports.length).toBe(1);
    await message('[[error: Service overloaded]]');
    await expect.poll(() => reports.at(-1)).toEqual({ text: 'Service overloaded', failed: true });
    expect(told).toEqual([
      'Codex: Quota nearly used up.',
      'Codex hat am Token-Limit aufgehört, die Antwort ist vielleicht gekürzt.',
    ]);
  });
});

describe('/resume', () => {
  const prompt = (text: string, at: string, cwd: string, sessionId: string) =>
    JSON.stringify({ type: 'user', uuid: at, timestamp: at, sessionId, cwd, message: { role: 'user', content: text } });

  it('lists the sessions of the project newest first, marks where each is open, and no title can imitate a line', async () => {
    const { owned, command, home, dir, terminal } = await ownedWorld();
    const hostile = `<b>*hi*</b> hunter2\u202e\u200b\u0007\n9. fake (Claude Code, 00000000)${'x'.repeat(60_000)}`;
    const ids = ['aaaaaaaa-1111-4111-8111-111111111111', 'bbbbbbbb-2222-4222-8222-222222222222'];
    for (const [at, id] of ids.entries()) {
      const text = prompt(at === 0 ? hostile : 'Fix the größe bug', `2026-01-0${at + 1}T10:00:00.000Z`, dir, id);
      await addSession({ home, project: dir }, 'claude', `${text}\n`, id);
    }
    await terminal(ids[1] ?? '', 7, { type: 'sessionStart', source: 'resume' });
    const listed = (await command('/resume')) ?? '';
    const [head, first = '', second = '', last] = listed.split('\n');
    expect(head).toBe('Sessions of this project:');
    expect(first).toMatch(/^1\. Fix the größe bug \(Claude Code, bbbbbbbb, .* ago, open in a terminal\)$/);
    expect(second).toMatch(
      /^2\. <b>\*hi\*<\/b> \[redacted\] ⟨U\+200B⟩ 9\. fake .*… \(Claude Code, aaaaaaaa, .* ago\)$/,
    );
    expect(last).toBe('Send /resume and a number, an id, or words of the title.');
    for (const wanted of ['1', 'latest', 'bbbbbbbb', 'GRÖSSE bug'.replace('SS', 'ß')])
      expect(await command(`/resume ${wanted}`)).toMatch(/^Session bbbbbbbb is open in a terminal \(process 7\)/);
    expect(await command('/resume nothing like it')).toMatch(/^No session fits "nothing like it"\./);
    await expect(owned.orders.run({ session: 'größe' })).rejects.toMatchObject({ code: 'session_in_use' });
  });
});

describe('/end', () => {
  it('ends the process and gives the messages to the next terminal', async () => {
    const { owned, command, terminal, message, turns } = await ownedWorld();
    expect(await command('/end')).toMatch(/^No session runs here that wa-sync owns/);
    await owned.orders.run({ agent: 'claude' });
    const pid = owned.sessions.current()?.process.pid ?? 0;
    expect(await command('/end')).toMatch(/^The session is ended; \/resume opens it again/);
    expect([isOver({ pid, started: '' }), owned.status(), turns.status().session]).toEqual([true, null, null]);
    const id = await message('for the terminal');
    const { context } = await terminal('t', 7, { type: 'turnStart', prompt: 'typed' });
    expect(context).toContain(id);
  });
});

describe('wa-sync attach', () => {
  it('lets go of an idle session and names the command; what waits stays for that terminal', async () => {
    const { owned, message, reports, project } = await ownedWorld();
    const { session } = await owned.orders.run({ agent: 'claude' });
    await expect(owned.orders.attach()).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'no session that wa-sync owns has had a prompt in this project' },
    });
    await message('[[say: Known now.]]');
    await expect.poll(() => reports.map(({ text }) => text)).toEqual(['Known now.']);
    expect(await owned.orders.attach()).toEqual({
      ...{ agent: 'claude', session, command: ['claude', '--resume', session] },
    });
    expect(project.owned).toMatchObject({ open: false, session });
    const id = await message('later');
    expect(project.messages.get(id)?.phase).toBe('waiting');
  });
});

describe('/wa:here in a terminal', () => {
  it('takes the messages back, and wa-sync lets go of its session', async () => {
    const { owned, terminal, turns, message } = await ownedWorld();
    await terminal('t', 7, { type: 'sessionStart', source: 'startup' });
    await owned.orders.run({ agent: 'claude' });
    const pid = owned.sessions.current()?.process.pid ?? 0;
    await terminal('t', 7, { type: 'turnStart', prompt: '/wa:here' });
    await expect.poll(() => isOver({ pid, started: '' })).toBe(true);
    await expect.poll(() => owned.status()).toBe(null);
    expect(turns.status()).toMatchObject({ session: 't', owned: false });
    const id = await message('for the terminal again');
    const { context } = await terminal('t', 7, { type: 'turnStart', prompt: 'typed' });
    expect(context).toContain(id);
  });
});

describe('a stop of wa-sync while a prompt runs', () => {
  it('leaves no process, tells the turn as failed, and the next start opens the same session', async () => {
    const { owned, message, reports, root, journal } = await ownedWorld();
    const { session } = await owned.orders.run({ agent: 'claude' });
    const file = join(root, 'child.pid');
    await message(`[[think: hm]][[child: ${file}]][[hang]]`);
    await expect
      .poll(() =>
        access(file).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const pid = owned.sessions.current()?.process.pid ?? 0;
    await owned.sessions.stop();
    expect(isOver({ pid, started: '' })).toBe(true);
    expect(reports).toEqual([{ text: 'wa-sync was stopped while the coding agent worked on this.', failed: true }]);
    expect(journal.project(p).messages.get('msg_1')?.ended).toBe('failed');
    expect(journal.project(p).owned).toMatchObject({ open: true, session });
  });
});
