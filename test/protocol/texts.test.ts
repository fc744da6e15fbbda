// The catalogue of what the phone reads, and that nothing of it stands elsewhere.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { offeredForms } from '../../protocol/commands.ts';
import { type Language, languageOfTag, languages } from '../../protocol/languages.ts';
import { textsIn } from '../../protocol/texts.ts';

const root = join(import.meta.dirname, '../..');

/** The folders and files whose words reach the phone. */
const rooms = [
  'worker/mailbox',
  ...['phone', 'session', 'approvals', 'heavy', 'daemon', 'owned'].map((room) => `agent/${room}`),
  'agent/mailbox/open.ts',
  ...['render', 'posting', 'outbox', 'documents'].map((name) => `agent/relay/${name}.ts`),
  'agent/drivers/tool-words.ts',
];

function filesOf(room: string): string[] {
  if (room.endsWith('.ts')) return [room];
  const names = readdirSync(join(root, room), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(room, name));
}

/** Files there whose sentences no phone reads, and who reads them. */
const otherFiles: Readonly<Record<string, string>> = {
  'agent/approvals/after-tool.ts': 'the model',
  'agent/approvals/danger/guarded.ts': 'names of files',
  'agent/approvals/danger/shell-programs.ts': 'names of programs',
  'agent/approvals/danger/shell-words.ts': 'words of the shell',
  'agent/approvals/gate-files.ts': 'the model',
  'agent/approvals/policy/policy-words.ts': 'the writer of a policy',
  'agent/approvals/policy/policy.ts': 'the writer of a policy',
  'agent/daemon/prompt-queue.ts': 'the log',
  'agent/approvals/run.ts': 'the model',
  'agent/owned/acp/adapters.ts': 'the log',
  'agent/owned/acp/agents.ts': 'names and commands of programs',
  'agent/relay/documents.ts': 'the command line',
  'agent/session/mcp.ts': 'the model',
  'worker/mailbox/counters.ts': 'the metrics',
};

/** The beginnings of other sentences for the model, the log or the command line. */
const otherSentences = [
  " requests already wait for the owner's answer",
  ' Where both find none, its runtime directory was removed',
  'Denied although the owner said yes, because this changed after the question: ',
  'Denied by the policy of wa-sync: ',
  'Denied: the policy of wa-sync changes this call',
  'Denied: this call is too large to be shown to the owner in time',
  'Only these tools may be used now: ',
  'The log of wa-sync says why',
  'The question has not reached the phone in time',
  'The question waited for the disk until its time was over',
  'The owner denied this on the phone.',
  'The owner said STOP on the phone',
  'Another program wrote a STOP into the inbox file, so this was denied.',
  '(arguments that nest too deep',
  '/approvals risky',
  'alarm failed',
  'another program',
  'git would commit the messages in ',
  'it could not be sent in time',
  'it is being sent already',
  'process gone or time over',
  'storage failed',
  'the call is over',
  'wa-sync could not ask the owner, so this was denied.',
  'the chat has had its share',
  'while git was at work',
  'wa-sync down',
];

/** Names of what the model, the terminal or the command line reads. */
const forOthers = new Set(['deny', 'halt', 'context', 'notice', 'hint']);

const proses = /\p{L}{2,} (?:\p{L}+ )*\p{L}{2,}/u;

/** Texts of more than one word, outside of errors, logs, types and SQL. */
function sentencesIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const isOther = (node: ts.Node) =>
    ts.isImportDeclaration(node) ||
    ts.isTypeNode(node) ||
    ((ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && forOthers.has(node.name.getText())) ||
    (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) ||
    (ts.isCallExpression(node) && /(^|\.)(log|exec)$/.test(node.expression.getText()));
  const visit = (node: ts.Node): void => {
    if (isOther(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (proses.test(node.text) && !/\b(SELECT|INSERT|AND|ORDER)\b/.test(node.text)) found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('no sentence for the phone stands outside of the catalogue', () => {
  const files = rooms.flatMap(filesOf);
  expect(files.length).toBeGreaterThan(80);
  const found = files
    .filter((file) => !Object.hasOwn(otherFiles, file))
    .flatMap((file) => sentencesIn(file).map((text) => ({ file, text })))
    .filter(({ text }) => !otherSentences.some((start) => text.startsWith(start)));
  expect(found).toEqual([]);
});

describe('the catalogue', () => {
  const codes = Object.keys(languages) as Language[];
  /** Every text of a language, its functions with the same numbers and names. */
  function textsOf(value: unknown, path = ''): [path: string, text: string][] {
    if (typeof value === 'string') return [[path, value]];
    if (typeof value === 'function') {
      const named = { worker: 1, mailbox: 2, rows: 3, time: 4 };
      const given = path === 'status.relay' ? ['a', 'b', named] : [2, 2, 2, 2];
      return [[path, String(value(...given))]];
    }
    return Object.entries(value as object).flatMap(([key, each]) =>
      textsOf(each, path === '' ? key : `${path}.${key}`),
    );
  }

  it.each(codes)('has a help for every form of a command in %s, as long as a menu takes it', (code) => {
    const { help } = textsIn(code).commands;
    expect(Object.keys(help).sort()).toEqual(offeredForms.map(({ form }) => form).sort());
    for (const text of Object.values(help)) expect(text.length).toBeLessThanOrEqual(256);
  });

  it('says nearly everything in another language in other words, under the same names', () => {
    const english = new Map(textsOf(textsIn('en')));
    const german = new Map(textsOf(textsIn('de')));
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
    // The names of commands and of their modes stay.
    const names = /^status\.(follow|approvals)$/;
    const same = [...german].filter(
      ([path, text]) => /\p{L}{4,} /u.test(text) && !names.test(path) && english.get(path) === text,
    );
    expect(same).toEqual([]);
  });

  it('is English for a phone whose language is none of ours', () => {
    expect(['de', 'de-AT', 'DE', 'en-GB', 'fr', '', 'constructor'].map(languageOfTag)).toEqual([
      'de',
      'de',
      'de',
      'en',
      'en',
      'en',
      'en',
    ]);
  });
});
