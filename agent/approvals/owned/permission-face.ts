// How a permission request of an owned session looks on the phone: the call, and a button for each option of the agent. Pure.

import type { TextPart } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import type { PermissionOption } from '../../owned/owned.ts';
import type { Judged } from '../policy/judge-now.ts';
import { headAndTail, withCode } from '../question/question.ts';
import { type Ask, type Buttons, type Face, labelOf } from './asks.ts';
import type { OwnedCall } from './call.ts';

export interface PermissionState extends OwnedCall, Judged {
  cwd: string;
  part: TextPart;
  choices: readonly Choice[];
  /** The lasting rule that waits for its second tap. */
  sure: number | undefined;
}

export interface Choice {
  option: PermissionOption;
  /** The agent's words without secrets, on one line, nothing in them invisible. */
  name: string;
}

export const permissionPrefix = 'permission:';
/** UTF-16 units of an option's name, in the text of the question. */
export const nameUnits = 400;

const marks: Readonly<Record<PermissionOption['kind'], string>> = {
  allowOnce: '✅',
  allowAlways: '♾ ✅',
  denyOnce: '❌',
  denyAlways: '♾ ❌',
};

export function faceOf({ id, hash, state }: Ask<PermissionState, unknown>, texts: Texts): Face {
  const { asks, back, tapped } = texts.owned;
  const action = (word: string | number) => `${permissionPrefix}${id}:${hash}:${word}`;
  const sure = state.sure === undefined ? undefined : state.choices[state.sure];
  if (sure) {
    const { text, entities } = withCode('', headAndTail(sure.name, nameUnits, texts));
    const head = `${state.part.text}\n\n${asks.sure}`;
    const shifted = entities.map((each) => ({ ...each, offset: each.offset + head.length }));
    return {
      part: { text: head + text, entities: [...state.part.entities, ...shifted] },
      buttons: [
        [
          { label: asks.yesLasting, action: action(`sure${state.sure}`), style: 'danger' },
          { label: back, action: action('back') },
        ],
      ],
    };
  }
  const isLasting = state.choices.some(({ option }) => option.kind === 'allowAlways' || option.kind === 'denyAlways');
  const rows: Buttons = state.choices.map(({ option, name }, index) => [
    {
      label: labelOf(`${marks[option.kind]} ${name}`),
      action: action(index),
      ...(option.kind === 'allowOnce' ? { style: 'success' as const } : {}),
      ...(option.kind === 'denyOnce' ? { style: 'danger' as const } : {}),
    },
  ]);
  const canRefuse = state.choices.some(({ option }) => option.kind === 'denyOnce' || option.kind === 'denyAlways');
  if (!canRefuse) rows.push([{ label: asks.cancel, action: action('cancel'), style: 'danger' }]);
  if (state.diffs.length > 0) rows.push([{ label: asks.wholeDiff, action: action('diff'), toast: tapped }]);
  const part = isLasting ? { ...state.part, text: `${state.part.text}\n${asks.lasting}` } : state.part;
  return { part, buttons: rows };
}
