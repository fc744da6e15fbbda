// A platform that no product file names: rooms, signed bodies, several events in one update, statuses after the call. Everything of
// it is in memory, and it is as unlike the first one as the seam allows.

import { createHmac } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import type {
  Decoded,
  InboundEvent,
  OutboundCall,
  Platform,
  PlatformKind,
  SendOutcome,
} from '../../worker/platform.ts';

export interface WorkshopMessage {
  ref: string;
  room: string;
  text: string;
  buttons: { label: string; id: string }[];
}

export interface Workshop extends PlatformKind {
  readonly shown: WorkshopMessage[];
  readonly acknowledged: string[];
  /** Outcomes of the next calls. */
  readonly script: SendOutcome[];
  readonly files: Map<string, string>;
}

type Change =
  | {
      is: 'text' | 'edit';
      id: string;
      room: string;
      by: string;
      of: string;
      text: string;
      file?: { id: string; name: string };
    }
  | { is: 'tap'; id: string; room: string; by: string; on: string }
  | { is: 'status'; id: string; room: string; of: string; bad?: { code: string; why: string } };

export const signature = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex');

export function createWorkshop(): Workshop {
  const shown: WorkshopMessage[] = [];
  const acknowledged: string[] = [];
  const script: SendOutcome[] = [];
  const files = new Map<string, string>();
  let lastRef = 0;

  async function call(given: OutboundCall): Promise<SendOutcome> {
    const outcome = script.shift();
    if (outcome) return outcome;
    switch (given.kind) {
      case 'send': {
        lastRef += 1;
        const ref = `w${lastRef}`;
        shown.push({ ref, room: given.chatId, text: given.text, buttons: given.buttons.flat() });
        return { kind: 'sent', ref };
      }
      case 'edit': {
        const message = shown.find(({ ref }) => ref === given.ref);
        if (!message) return { kind: 'without', what: 'target', reason: 'gone' };
        Object.assign(message, { text: given.text, buttons: given.buttons.flat() });
        return { kind: 'sent', ref: given.ref };
      }
      case 'acknowledge':
        acknowledged.push(given.text);
        return { kind: 'sent' };
      default:
        return { kind: 'dead', code: 'rejected', reason: `a workshop knows no ${given.kind}` };
    }
  }

  function decodeOne(change: Change, now: number): Decoded {
    const base = { dedupeKey: change.id, project: 0, at: now };
    const decoded = (userId: string | null, event: InboundEvent): Decoded => ({
      ok: true,
      chatId: change.room,
      userId,
      event,
    });
    switch (change.is) {
      case 'text':
        return decoded(change.by, {
          ...base,
          kind: 'message',
          ref: change.of,
          text: change.text,
          ...(change.file ? { files: [{ ...change.file, kind: 'document' as const }] } : {}),
        });
      case 'edit':
        return decoded(change.by, { ...base, kind: 'edit', ref: change.of, text: change.text });
      case 'tap':
        return decoded(change.by, {
          ...base,
          kind: 'button',
          buttonId: change.on,
          ref: '900',
          queryRef: change.id,
          userId: change.by,
        });
      case 'status': {
        const { bad } = change;
        const outcome = bad
          ? ({ kind: 'dead', code: bad.code, reason: bad.why } as const)
          : ({ kind: 'arrived' } as const);
        return decoded(null, { ...base, kind: 'delivery', ref: change.of, outcome });
      }
      default:
        return { ok: false, reason: 'unknown' };
    }
  }

  return {
    name: 'workshop',
    route: '/workshop/changes',
    shown,
    acknowledged,
    script,
    files,
    async isCaller({ WORKSHOP_SECRET: secret }, headers, body) {
      if (typeof secret !== 'string' || secret === '') return false;
      return headers.get('x-signature') === signature(secret, await body());
    },
    connect({ WORKSHOP_ROOMS: rooms }, clock): Platform {
      if (typeof rooms !== 'string') {
        throw new WaError('misconfigured', 'WORKSHOP_ROOMS is not set', { hint: 'set WORKSHOP_ROOMS' });
      }
      const capabilities = {
        edit: true,
        reactions: false,
        topics: false,
        buttons: true,
        replyField: false,
        menu: false,
        confirms: true,
      };
      return {
        name: 'workshop',
        account: 'bench-2',
        chatIds: rooms.split(','),
        userIds: new Set(['ann']),
        chatSetting: 'WORKSHOP_ROOMS',
        capabilities: { ...capabilities, maxText: 300 },
        ownerOf: (chatId) => (chatId.startsWith('room-') ? 'ann' : null),
        ratesOf: () => ({ calls: { capacity: 10, refillMs: 500 } }),
        decode(update) {
          const { changes } = update as { changes: Change[] };
          return changes.map((change) => decodeOne(change, clock()));
        },
        call,
        hasTopics: () => Promise.resolve(false),
        createTopic: () => Promise.resolve({ kind: 'failed', code: 'no_topics', reason: 'a room has one bench' }),
        inspect: async () => ({
          kind: 'report',
          username: null,
          topics: false,
          webhook: {
            host: 'bench.example',
            route: '/workshop/changes',
            isRoute: true,
            pending: 0,
            lastError: null,
            missing: [],
          },
          troubles: [],
        }),
        botUsername: () => Promise.resolve(null),
        async openFile(id) {
          const text = files.get(id);
          if (text === undefined) return { kind: 'failed', code: 'not_found', reason: 'no such file' };
          return { kind: 'open', body: new Blob([text]).stream(), bytes: text.length };
        },
        async sendDocument(document) {
          await document.body.cancel();
          return { kind: 'dead', code: 'rejected', reason: 'a workshop takes no documents' };
        },
        adoptHost: async (origin) => ({ kind: 'adopted', url: `${origin}/workshop/changes`, pending: 0 }),
        showTyping: () => Promise.resolve(),
      };
    },
  };
}
