// Two machines serve the topics of one chat: whatever happens in whatever order, a text reaches the daemon of its own topic alone,
// and an answer its own topic alone.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBench, mailbox, startAt } from '../worker/bench.ts';
import { runs } from './runs.ts';

const topics = [0, 5, 6] as const;
type Topic = (typeof topics)[number];
/** Topic 0 and 6 are served by one machine, topic 5 by another; each daemon has its own number of the start. */
const daemonOf = (topic: Topic) => ({ id: topic === 5 ? 'daemon-of-desktop' : 'daemon-of-laptop', startedAt: startAt });
const topic = fc.constantFrom(...topics);
const few = fc.integer({ min: 0, max: 3 });

const step = fc.oneof(
  fc.record({ do: fc.constant('say' as const), topic, edits: fc.boolean() }),
  fc.record({ do: fc.constant('poll' as const), topic, as: topic, back: few }),
  fc.record({ do: fc.constant('park' as const), topic }),
  // The same keys on purpose: two projects may have the same file.
  fc.record({ do: fc.constant('post' as const), topic, key: few }),
  fc.record({ do: fc.constant('tap' as const), topic, in: topic }),
  fc.record({ do: fc.constant('time' as const), seconds: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ do: fc.constant('restart' as const) }),
);

it('what is said in a topic reaches the daemon of that topic, what a daemon answers its topic, and never another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const bench = createBench();
      const held: { topic: Topic; socket: ReturnType<typeof bench.open> }[] = [];
      const posted = new Set<string>();
      let said = 0;

      const expectOwn = (at: Topic, body: ReturnType<typeof bench.poll>) => {
        for (const row of [...(body.rows ?? []), ...(body.controls ?? [])]) {
          if (row.kind === 'message' || row.kind === 'edit') expect(row.text).toMatch(new RegExp(`^in ${at}:`));
          if (row.kind === 'control' && row.control.type === 'button') expect(row.control.action).toBe(`tap-${at}`);
          if (row.kind === 'outcome') expect(posted).toContain(`${at}:${row.outcome.key}`);
          expect(row.id).toContain(`_${at.toString(36)}_`);
        }
      };

      for (const each of steps) {
        switch (each.do) {
          case 'say': {
            said += 1;
            bench.say(`in ${each.topic}: ${said}`, { project: each.topic, ref: `${each.topic}-${said}` });
            if (!each.edits) break;
            const edit = {
              dedupeKey: `e${said}`,
              at: bench.clock.now,
              kind: 'edit' as const,
              ref: `${each.topic}-${said}`,
            };
            bench.accept({ ...edit, project: each.topic, text: `in ${each.topic}: better ${said}` });
            break;
          }
          case 'poll': {
            const body = bench.poll({ project: each.topic, daemon: daemonOf(each.as), after: null });
            // The machine of another topic gets nothing while this one is served, and this topic's rows alone when it may.
            if (body.error === undefined) expectOwn(each.topic, body);
            else expect(body.error.code).toBe('held_by_other_daemon');
            break;
          }
          case 'park':
            held.push({
              topic: each.topic,
              socket: bench.open({ project: each.topic, daemon: daemonOf(each.topic), after: null }),
            });
            break;
          case 'post': {
            const key = `shared-key-${each.key}`;
            const isNew = !posted.has(`${each.topic}:${key}`);
            posted.add(`${each.topic}:${key}`);
            const [outcome] = bench.logic.post({
              mailbox,
              project: each.topic,
              items: [
                {
                  key,
                  class: 'answer',
                  parts: [{ text: `from ${each.topic}`, entities: [] }],
                  buttons: [[{ label: 'Tap', action: `tap-${each.topic}` }]],
                },
              ],
            }).items;
            if (isNew) expect(outcome).toEqual({ key, state: 'queued' });
            break;
          }
          case 'tap': {
            const [button] = bench.platform.calls.flatMap((call) =>
              call.kind === 'send' && call.text === `from ${each.topic}` ? call.buttons.flat() : [],
            );
            if (button === undefined) break;
            said += 1;
            const tapped = {
              dedupeKey: `t${said}`,
              at: bench.clock.now,
              kind: 'button' as const,
              queryRef: `q${said}`,
            };
            // The place that the platform names does not count: the button does.
            bench.accept({ ...tapped, project: each.in, buttonId: button.id, userId: mailbox });
            break;
          }
          case 'time':
            await bench.runUntil(bench.clock.now + each.seconds * 1000);
            break;
          case 'restart':
            bench.restart();
        }
        for (const { topic: at, socket } of held) {
          const frame = socket.frame();
          if (frame !== null && frame.head !== 'parked' && frame.body.error === undefined) expectOwn(at, frame.body);
        }
      }
      await bench.runUntil(bench.clock.now + 60_000);
      for (const call of bench.platform.calls) {
        if (call.kind === 'send' && call.text.startsWith('from ')) expect(`from ${call.topic}`).toBe(call.text);
      }
      // Every answer was sent, once.
      const sent = bench.platform.calls.filter((call) => call.kind === 'send' && call.text.startsWith('from '));
      expect(sent).toHaveLength(posted.size);
    }),
    { numRuns: runs(150) },
  );
});
