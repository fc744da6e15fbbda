import { describe, expect, it } from 'vitest';
import { type PhoneCommand, phoneCommands } from '../../protocol/commands.ts';
import { readText } from '../../worker/commands.ts';

const namesBy = (...by: PhoneCommand['by'][]) =>
  phoneCommands.filter((command) => by.includes(command.by)).map(({ name }) => name);

describe('a text from the phone', () => {
  it.each(['stop', 'STOP', ' Stop! ', '/stop', '/stop after this test', '/STOP@example_bridge_bot'])(
    '%j is a STOP with the words',
    (text) => {
      expect(readText(text, null)).toEqual({ kind: 'control', control: { type: 'stop', text: text.trim() } });
    },
  );

  it('that is /abort is an abort', () => {
    expect(readText('/abort', null)).toEqual({ kind: 'control', control: { type: 'abort', text: '/abort' } });
  });

  it.each(['Fix the stop button', 'please STOP when done', 'stop, look and listen', 'stopp and stop'])(
    '%j is a message that holds the word',
    (text) => {
      expect(readText(text, null)).toEqual({ kind: 'message', text, stopWord: true });
    },
  );

  it.each(['nonstop', 'stopword', 'stops', 'haltestelle stopę', 'stop_all'])('%j does not hold the word', (text) => {
    expect(readText(text, null)).toEqual({ kind: 'message', text, stopWord: false });
  });

  it.each(namesBy('daemon', 'planned'))('/%s is a control for the daemon, with its arguments', (name) => {
    expect(readText(`/${name}@any_bot  3 "two words"`, null)).toEqual({
      kind: 'control',
      control: { type: 'command', name, args: '3 "two words"' },
    });
  });

  it.each([
    ['/away_off', 'away', 'off'],
    ['/Mute_Off@any_bot', 'mute', 'off'],
    ['/approvals_risky', 'approvals', 'risky'],
    ['/away_on', 'away', 'on'],
  ])('%s is the command with the word that a phone links whole', (text, name, args) => {
    expect(readText(text, null)).toEqual({ kind: 'control', control: { type: 'command', name, args } });
  });

  it('that only looks like a command with a word is a workflow', () => {
    expect(readText('/away_team', null)).toMatchObject({ kind: 'message', workflow: true });
    expect(readText('/stop_off', null)).toMatchObject({ kind: 'message', workflow: true });
  });

  it('that is an alias is the command that it stands for', () => {
    expect(readText('/start', null)).toEqual({ kind: 'relay', command: 'help', args: '' });
  });

  it.each(namesBy('relay'))('/%s is answered by the relay', (command) => {
    expect(readText(`/${command}`, null)).toEqual({ kind: 'relay', command, args: '' });
    if (command === 'sessions') return;
    expect(readText(`/${command} sess_42`, null)).toEqual({ kind: 'relay', command, args: 'sess_42' });
  });

  it('with another name is a workflow of the project, without the name of the bot', () => {
    const workflow = { kind: 'message', stopWord: false, workflow: true };
    expect(readText('/startup now', null)).toEqual({ ...workflow, text: '/startup now' });
    expect(readText('/startup@example_bridge_bot now', null)).toEqual({ ...workflow, text: '/startup now' });
    expect(readText('/git:commit', null)).toEqual({ ...workflow, text: '/git:commit' });
    expect(readText('/etc/hosts is wrong', null)).not.toHaveProperty('workflow');
  });

  it('that names another bot is not for this bot', () => {
    expect(readText('/stop@other_bot', 'Example_bridge_bot')).toEqual({ kind: 'foreign' });
    expect(readText('/stop@example_bridge_bot', 'Example_bridge_bot')).toMatchObject({ kind: 'control' });
  });

  it('with two slashes hands the command to the agent', () => {
    expect(readText('//status', null)).toEqual({ kind: 'message', text: '/status', stopWord: false });
  });
});

it('/sessions with words is for the daemon, and /resume_ with the start of an id is /resume with that id', () => {
  expect(readText('/sessions', null)).toEqual({ kind: 'relay', command: 'sessions', args: '' });
  const control = (name: string, args: string) => ({ kind: 'control', control: { type: 'command', name, args } });
  expect(readText('/sessions fix the tests', null)).toEqual(control('sessions', 'fix the tests'));
  expect(readText('/resume_01a1fae9', null)).toEqual(control('resume', '01a1fae9'));
  expect(readText('/status_x', null)).toMatchObject({ kind: 'message', workflow: true });
});
