// How many questions may wait on the phone at once. A person answers one after the other; more are a loop, and each of them
// holds a hook, a call and a message.

import { randomBytes } from 'node:crypto';
import type { TurnAnswer } from '../../../protocol/turn-events.ts';
import type { Asked, Questions, QuestionsOptions } from './questions.ts';

export const maxOpenQuestions = 50;

/** The same, but what is asked beyond the limit is denied with the reason, and the phone is told once. */
export function limitQuestions(
  questions: Questions,
  { project, send, audit, log }: Pick<QuestionsOptions, 'project' | 'send' | 'audit' | 'log'>,
): Questions {
  /** Those that wait and those that are being asked. */
  let open = 0;
  let isSaid = false;

  function denyOneMore({ call, hash, session, judgement }: Asked): TurnAnswer {
    audit({ tool: call.tool, verdict: 'too-many', hash, session, why: judgement.why });
    if (!isSaid) {
      isSaid = true;
      log('warn', 'too many approvals asked', { project: project.key, open });
      const text = `${maxOpenQuestions} calls wait for your answer. Until one is answered, further ones are denied.`;
      const key = `notice_${randomBytes(12).toString('hex')}`;
      send({ key, class: 'approval', parts: [{ text, entities: [] }] }).catch((cause) =>
        log('warn', 'notice not shown', { project: project.key, error: (cause as Error).message }),
      );
    }
    return {
      deny: `Denied: ${maxOpenQuestions} calls already wait for the owner's answer, and no more are asked. Wait for those, or ask for less at once.`,
    };
  }

  return {
    ...questions,
    async ask(asked, user, checkpoint) {
      if (open >= maxOpenQuestions) return denyOneMore(asked);
      open += 1;
      try {
        return await questions.ask(asked, user, checkpoint);
      } finally {
        open -= 1;
        if (open === 0) isSaid = false;
      }
    },
  };
}
