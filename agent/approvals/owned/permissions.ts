// Permission requests of owned sessions: judged by the policy, else asked on the phone with the agent's own options. A fault refuses;
// no answer decides nothing. A lasting rule takes a second tap where it widens what the agent may do.

import type { ControlRow } from '../../../protocol/log.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { stricterMode, type Verdict } from '../../journal/approvals.ts';
import { languageOf, maxTextOf, phoneTexts } from '../../journal/state.ts';
import type { Asking, PermissionAnswer, PermissionOption, PermissionRequest } from '../../owned/owned.ts';
import { textItem } from '../../plain-text.ts';
import { visibleLine } from '../../visible.ts';
import { fileNow } from '../danger/surroundings.ts';
import { type Judged, type JudgeOptions, judgeNow, whatChanged, whysText } from '../policy/judge-now.ts';
import { type Decision, english, whysIn, wordsOf } from '../question/asked.ts';
import { type Shows, withCode } from '../question/question.ts';
import { maxOpenQuestions } from '../question/questions.ts';
import { makeCheckpoint } from '../run.ts';
import { type Ask, type AsksOptions, createAsks } from './asks.ts';
import { type OwnedCall, readRequest } from './call.ts';
import { type Choice, faceOf, nameUnits, type PermissionState, permissionPrefix } from './permission-face.ts';

export interface PermissionsOptions extends AsksOptions, JudgeOptions {
  shows: Shows;
  /** Why this user's answer does not count; undefined = it does. */
  refusalOf(userId: string): Promise<string | undefined>;
  audit(decision: Decision & { option?: string }): void;
  /** A text for the phone as a file. */
  sendFile(name: string, text: string, caption: string): Promise<void>;
  clock: () => number;
}

type Permission = Ask<PermissionState, PermissionAnswer>;

const maxChoices = 6;
const partShare = 0.8;

export function createPermissions(options: PermissionsOptions) {
  const { project, shows, clock, log } = options;
  const said = () => phoneTexts(project).owned.asks;
  const asks = createAsks<PermissionState, PermissionAnswer>(options, {
    faceOf,
    none: { option: undefined },
    crowded({ state, session }) {
      note(state, session, 'too-many');
      const deny = `Denied: ${maxOpenQuestions} requests already wait for the owner's answer, and no more are asked. Wait for those, or ask for less at once.`;
      return { option: refusalAmong(state), why: deny };
    },
    audit: ({ state, session }, { verdict, by, detail }) =>
      note(state, session, verdict, {
        ...(by === undefined ? {} : { by }),
        ...(detail === undefined ? {} : { option: detail }),
      }),
  });

  /** Also what the built-in rules find is shown, whatever the mode: the agent asks anyway. */
  const judge = (call: OwnedCall['call'], cwd: string) =>
    judgeNow(call, cwd, stricterMode(project.approvals.mode, 'risky'), options);

  function note(
    { call, hash, judgement }: OwnedCall & Judged,
    session: string,
    verdict: Decision['verdict'],
    more: object = {},
  ) {
    const why = whysIn(english, judgement);
    options.audit({ tool: call.tool, verdict, hash, session, why, ...wordsOf(call, undefined), ...more });
  }

  async function decide(request: PermissionRequest, asking: Asking): Promise<PermissionAnswer> {
    const { session, cwd, signal } = asking;
    const read = readRequest(asking.agent, request, phoneTexts(project));
    const { policies: _, ...judged } = await judge(read.call, cwd);
    const asked = { ...read, ...judged };
    const { verdict, why, input, checkpoint, allowed } = judged.judgement;
    const refused = optionOf(request, 'denyOnce')?.id;
    const reason = `Denied by the policy of wa-sync: ${whysText(why, english)}.`;
    if (verdict === 'stop') {
      note(asked, session, 'policy-stop');
      return { option: refused, why: reason, halt: said().stoppedByPolicy(whysText(why, phoneTexts(project))) };
    }
    if (verdict === 'deny') {
      note(asked, session, 'policy-deny');
      return { option: refused, why: reason };
    }
    if (input !== undefined) {
      note(asked, session, 'policy-deny');
      return {
        option: refused,
        why: 'Denied: the policy of wa-sync changes this call, and a session that it owns takes no changed call.',
      };
    }
    const once = optionOf(request, 'allowOnce');
    if (verdict === 'go' && allowed && once) {
      note(asked, session, 'policy-allow');
      return { option: once.id };
    }
    const ref = checkpoint ? await makeCheckpoint(cwd, clock()) : undefined;
    const shown = await shows.question({
      call: read.call,
      why: whysIn(phoneTexts(project), judged.judgement),
      language: languageOf(project),
      fileNow: await fileNow(read.call, cwd),
      hidesFile: judged.judgement.rules.includes('secret-file'),
      maxText: Math.floor(partShare * maxTextOf(project)),
      waits: undefined,
      onTimeout: 'deny',
      checkpoint: ref,
      diffs: read.diffs,
      ...(read.title === undefined ? {} : { title: read.title }),
    });
    if (!shown) {
      note(asked, session, 'unshown');
      return {
        option: refused,
        why: 'Denied: this call is too large to be shown to the owner in time. Ask for less at once.',
      };
    }
    const choices = await choicesOf(request, judged.judgement.rules.length === 0 && !shown.hides);
    const state = { ...asked, cwd, part: shown.part, choices, sure: undefined };
    return asks.ask({ tool: read.call.tool, hash: read.hash, session, state, signal });
  }

  /** `lasting` = the whole call was shown, and no built-in rule finds anything in it. */
  async function choicesOf({ options: all }: PermissionRequest, lasting: boolean): Promise<Choice[]> {
    const hasOnce = all.some(({ kind }) => kind === 'allowOnce');
    const offered = all.filter(({ kind }) => lasting || !hasOnce || kind !== 'allowAlways');
    const firsts = offered.slice(0, maxChoices);
    const deny = offered.find(({ kind }) => kind === 'denyOnce');
    const kept = deny && !firsts.includes(deny) ? [...firsts.slice(0, -1), deny] : firsts;
    return Promise.all(
      kept.map(async (option) => {
        const { text } = await shows.hide(option.name.slice(0, 4 * nameUnits));
        return {
          option,
          name:
            visibleLine(text)
              .slice(0, nameUnits)
              .replace(/[\ud800-\udbff]$/, '') || said().noName,
        };
      }),
    );
  }

  /** Undefined = the question itself shows what became of it. */
  async function tapped(action: string, userId: string): Promise<string | OutboxItem[] | undefined> {
    const match = /^permission:([0-9a-f]+):([0-9a-f]+):(sure)?(\d|back|diff|cancel)$/.exec(action);
    const refusal = await options.refusalOf(userId);
    if (refusal !== undefined) return refusal;
    const found = asks.find(match?.[1] ?? '', match?.[2] ?? '');
    if (typeof found === 'string') return found;
    const { state } = found;
    const word = match?.[4];
    switch (word) {
      case 'diff':
        return sendDiff(found);
      case 'back':
        state.sure = undefined;
        await asks.redraw(found);
        return undefined;
      case 'cancel':
        await asks.settle(found, { verdict: 'cancelled', value: { option: undefined }, by: userId });
        return undefined;
      default:
        if (match?.[3] === undefined) return first(found, Number(word), userId);
        return state.sure === Number(word) ? choose(found, state.sure, userId) : said().ruleOver;
    }
  }

  async function first(found: Permission, index: number, userId: string): Promise<string | undefined> {
    const choice = found.state.choices[index];
    if (!choice) return said().unknownButton;
    if (choice.option.kind !== 'allowAlways') return choose(found, index, userId);
    found.state.sure = index;
    await asks.redraw(found);
    return undefined;
  }

  async function choose(found: Permission, index: number, by: string): Promise<string | undefined> {
    const { state } = found;
    const choice = state.choices[index];
    if (!choice) return said().unknownButton;
    const { id, kind } = choice.option;
    const isYes = kind === 'allowOnce' || kind === 'allowAlways';
    // A link may lead elsewhere by now, a policy may be stricter.
    const change = isYes ? whatChanged(state, await judge(state.call, state.cwd)) : undefined;
    if (change !== undefined) {
      const why = `Denied although the owner said yes, because this changed after the question: ${change(english)}.`;
      const value = { option: refusalAmong(state), why };
      await asks.settle(found, { verdict: 'changed', value, by, detail: change(phoneTexts(project)) });
      return undefined;
    }
    const answer = isYes ? { option: id } : { option: id, why: 'The owner denied this on the phone.' };
    await asks.settle(found, { verdict: verdictOf[kind], value: answer, by, detail: choice.name });
    return undefined;
  }

  async function sendDiff({ state, id }: Permission): Promise<OutboxItem[] | undefined> {
    const text = await shows.diff(state.diffs, languageOf(project));
    const head = said().wholeChangeBelow;
    if (text.length + head.length < maxTextOf(project) - 100) {
      return [
        { key: `diff_${id}_${clock().toString(36)}`, class: 'reply', parts: [withCode(head, text || said().nothing)] },
      ];
    }
    await options.sendFile('change.diff', text, said().wholeChange);
    return undefined;
  }

  return {
    /** Waits for the owner, for as long as it takes. Never rejects. */
    async ask(request: PermissionRequest, asking: Asking): Promise<PermissionAnswer> {
      try {
        return await decide(request, asking);
      } catch (cause) {
        log('error', 'permission not asked', { project: project.key, error: (cause as Error).message });
        const why = 'wa-sync could not ask the owner, so this was denied. The log of wa-sync says why.';
        return { option: optionOf(request, 'denyOnce')?.id, why };
      }
    },
    /** What the phone gets for a control about a permission; undefined = another control. */
    async answer({ id, control }: ControlRow): Promise<OutboxItem[] | undefined> {
      if (control.type !== 'button' || !control.action.startsWith(permissionPrefix)) return undefined;
      const reply = await tapped(control.action, control.userId);
      if (reply === undefined) return [];
      return typeof reply === 'string' ? [textItem(`reply_${id}`, 'reply', reply)] : reply;
    },
    /** STOP and /cancel. Undefined = of every session. */
    cancel: asks.cancel,
    waiting: asks.size,
  };
}

function refusalAmong({ choices }: PermissionState): string | undefined {
  return choices.find(({ option }) => option.kind === 'denyOnce')?.option.id;
}

function optionOf({ options }: PermissionRequest, kind: PermissionOption['kind']): PermissionOption | undefined {
  return options.find((option) => option.kind === kind);
}

const verdictOf: Readonly<Record<PermissionOption['kind'], Verdict>> = {
  allowOnce: 'allowed',
  allowAlways: 'allowedLasting',
  denyOnce: 'refused',
  denyAlways: 'refusedLasting',
};
