// Puts together what the owner does apart from messages: texts that were held back, the controls of the phone, the commands at
// the terminal. Decides nothing itself.

import type { Guard } from '../approvals/guard.ts';
import type { Binding } from '../config.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import { stateFiles } from '../paths.ts';
import { createHeldTexts } from '../phone/held-texts.ts';
import { createOwnedCommands } from '../phone/owned-commands.ts';
import { findForPhone } from '../phone/sessions.ts';
import type { Turns } from '../session/types.ts';
import type { SessionsPlace } from '../sessions/list.ts';
import type { createMail, MailDeps } from './mail.ts';
import type { OwnedPart } from './owned.ts';
import { createOwnedDesk } from './owned-desk.ts';
import { createOwnerControls } from './owner-controls.ts';

export interface OwnerParts {
  project: ProjectState;
  binding: Binding;
  mail: Pick<ReturnType<typeof createMail>, 'inbox' | 'outbox' | 'details'>;
  turns: Pick<Turns, 'steering'>;
  guard: Guard;
  owned: OwnedPart;
  /** Where session files lie. */
  place: SessionsPlace;
  onReceipts(): void;
  /** The inbox file may be behind. */
  onBehind(): void;
}

export function createOwner(parts: OwnerParts, deps: MailDeps) {
  const { project, binding, mail, turns, guard, owned, place, onReceipts, onBehind } = parts;
  const { config, journal, redact, typesetter, clock, log } = deps;
  const { inbox, outbox, details } = mail;
  const texts = () => phoneTexts(project);

  const held = createHeldTexts({
    ...{ project, journal, clock, log },
    send: (item) => outbox.send(item),
    expects: guard.expects,
    use: guard.use,
    async onReleased(ids) {
      await turns.steering.arrived(ids);
      onBehind();
    },
    onEnded() {
      onReceipts();
      onBehind();
    },
  });

  const controls = createOwnerControls({
    ...{ project, journal, guard, held, inbox, outbox, typesetter, clock, log },
    steering: turns.steering,
    orders: owned,
    owned: createOwnedCommands({
      desk: createOwnedDesk({ config, dir: binding.dir, session: owned.openSession, texts }),
      ...{ texts, details, redact },
      refusalOf: guard.refusalOf,
    }),
    files: stateFiles(config.dirs.state),
    sessions: (words) => findForPhone(words, { place, dir: binding.dir, redact, texts: texts(), clock }),
  });

  return { held, controls };
}
