// Sends the documents of one project to the relay, one after the other and apart from the texts: a document that takes minutes, or
// must wait for hours, delays no answer.

import type { KeyEnd } from '../../protocol/log.ts';
import { createCoalesced } from '../coalesce.ts';
import type { ProjectState } from '../journal/state.ts';
import { createBackoff, pause, retryAfterMs } from './backoff.ts';
import type { Address, RelayClient } from './client.ts';
import { uploadDocument } from './documents.ts';
import type { Outages } from './outages.ts';

export interface UploadsOptions {
  project: ProjectState;
  address: Address;
  client: RelayClient;
  /** Journals the outcomes before they count. */
  end(ends: readonly KeyEnd[]): Promise<void>;
  random: () => number;
  outages: Outages;
  signal: AbortSignal;
}

export interface Uploads {
  /** Runs until every open document has its outcome, with the pauses that the relay asks for. Never rejects. */
  start(): void;
}

export function createUploads({ project, address, client, end, random, outages, signal }: UploadsOptions): Uploads {
  const part = `${project.key} documents`;
  const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random });

  async function uploadAll(): Promise<void> {
    for (const key of [...project.openKeys]) {
      const source = project.outbox.get(key)?.source;
      if (source?.kind !== 'document' || signal.aborted) continue;
      await end(await uploadDocument(client, address, { key, document: source.document }));
      outages.worked(part);
      backoff.reset();
    }
  }

  const run = createCoalesced(async () => {
    while (!signal.aborted) {
      try {
        return await uploadAll();
      } catch (cause) {
        if (signal.aborted) return;
        outages.failed(part, cause);
        await pause(backoff.next(retryAfterMs(cause)), signal);
      }
    }
  });

  return { start: () => void run() };
}
