// Brings the open outbox keys of one project to the relay, which drops a key that the relay has: posting again is always safe.
// Quick texts, large texts and documents go three ways, so that a large one delays no small one.

import { relayLimits } from '../../protocol/limits.ts';
import type { KeyEnd } from '../../protocol/log.ts';
import { isEnd, type OutboxItem } from '../../protocol/relay-api.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import { type OutboxKey, type ProjectState, phoneTexts } from '../journal/state.ts';
import { untilDone } from './backoff.ts';
import type { Address, RelayClient } from './client.ts';
import { type NewDocument, uploadDocument } from './documents.ts';
import type { Outages } from './outages.ts';
import { type RenderedKey, wholeName } from './render.ts';

export interface PostingOptions {
  project: ProjectState;
  address: Address;
  journal: Journal;
  client: RelayClient;
  /** A status update as the phone shows it. Undefined = nothing to post: a document. */
  render(key: OutboxKey): Promise<RenderedKey | undefined>;
  /** Keeps a text until the phone has it as a file. Errors: `file_unusable`. */
  keepText(name: string, text: string, caption: string): Promise<NewDocument>;
  /** The journal has these ends, which came with the relay's answer. Must not reject. */
  ended(ends: readonly KeyEnd[]): Promise<void>;
  clock: () => number;
  random: () => number;
  outages: Outages;
  signal: AbortSignal;
}

/** Texts up to this length take the quick way. */
const quickChars = 8_192;

/** Leaves space for the rest of the call. */
const maxCallBytes = relayLimits.apiBodyBytes - 16 * 1024;

/** Starts posting what is open, and tries again with the pauses that the relay asks for. Never throws. */
export function createPosting(options: PostingOptions): () => void {
  const { project, address, journal, client, render, signal, clock } = options;

  const postQuick = createCoalesced(() => untilDone('outbox', () => postTexts(openTexts().quick, render), options));
  const postSlow = createCoalesced(() => {
    const rendered = new Map<string, RenderedKey | undefined>();
    const renderOnce = async (known: OutboxKey) => {
      if (!rendered.has(known.key)) rendered.set(known.key, await render(known));
      return rendered.get(known.key);
    };
    return untilDone('outbox', () => postTexts(openTexts().slow, renderOnce), options);
  });
  const postDocuments = createCoalesced(async () => {
    for (const key of openDocuments()) await untilDone('documents', () => postDocument(key), options);
  });

  /** Slow: the entries from the first large one on, as entries keep their order. */
  function openTexts(): { quick: OutboxKey[]; slow: OutboxKey[] } {
    const quick: OutboxKey[] = [];
    const slow: OutboxKey[] = [];
    for (const key of project.openKeys) {
      const known = project.outbox.get(key);
      if (known?.state !== 'open' || known.source.kind === 'document') continue;
      const { source } = known;
      const isSlow = source.kind === 'file' && (slow.length > 0 || source.answer.text.length > quickChars);
      (isSlow ? slow : quick).push(known);
    }
    return { quick, slow };
  }

  function openDocuments(): string[] {
    return [...project.openKeys].filter((key) => project.outbox.get(key)?.source.kind === 'document');
  }

  async function postDocument(key: string): Promise<void> {
    const source = project.openKeys.has(key) ? project.outbox.get(key)?.source : undefined;
    if (source?.kind !== 'document') return;
    await endKeys(await uploadDocument(client, address, { key, document: source.document }));
  }

  async function postTexts(keys: readonly OutboxKey[], render: PostingOptions['render']): Promise<void> {
    let unkept: unknown;
    let items: OutboxItem[] = [];
    let bytes = 0;
    for (const known of keys) {
      const rendered = await render(known);
      if (signal.aborted) return;
      if (!rendered) continue;
      try {
        if (rendered.whole !== undefined) await postWhole(known.key, rendered.whole);
      } catch (cause) {
        // The other texts do not wait for space on the disk.
        unkept = cause;
        continue;
      }
      const itemBytes = Buffer.byteLength(JSON.stringify(rendered.item));
      if (items.length === relayLimits.outboxItemsPerCall || bytes + itemBytes > maxCallBytes) {
        await postItems(items);
        items = [];
        bytes = 0;
      }
      items.push(rendered.item);
      bytes += itemBytes;
    }
    await postItems(items);
    if (unkept !== undefined) throw unkept;
  }

  /** A key that was posted before may have ended long ago: the answer has the end, whoever acknowledged its row. */
  async function postItems(items: OutboxItem[]): Promise<void> {
    if (signal.aborted || items.length === 0) return;
    const answer = await client.outbox({ ...address, items });
    if (signal.aborted) return;
    const keys = answer.items.filter((item) => !isEnd(item)).map(({ key }) => key);
    if (keys.length > 0) {
      await journal.append([{ t: 'posted', p: project.key, at: clock(), keys, epoch: answer.epoch }]);
    }
    await endKeys(answer.items.filter(isEnd));
  }

  /** Once, before the messages that name the file. */
  async function postWhole(key: string, text: string): Promise<void> {
    const wholeKey = `whole_${key.slice(0, 48)}`;
    if (project.outbox.has(wholeKey)) return;
    const { document } = await options.keepText(wholeName, text, phoneTexts(project).answers.wholeCaption);
    await journal.append([{ t: 'document', p: project.key, at: clock(), key: wholeKey, document }]);
    void postDocuments();
  }

  async function endKeys(ends: readonly KeyEnd[]): Promise<void> {
    const open = ends.filter(({ key }) => project.openKeys.has(key));
    const at = clock();
    await journal.append(open.map((end) => ({ t: 'key', p: project.key, at, ...end })));
    await options.ended(open);
  }

  return () => {
    const { quick, slow } = openTexts();
    if (quick.length > 0) void postQuick();
    if (slow.length > 0) void postSlow();
    if (openDocuments().length > 0) void postDocuments();
  };
}
