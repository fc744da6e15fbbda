// The metrics as Prometheus text, summed over all mailboxes. No texts, no ids.

import { counterHelp, counterNames, sumCounts } from './mailbox/counters.ts';
import type { MailboxMetrics } from './mailbox/report.ts';

type Sum = [name: string, type: 'counter' | 'gauge', help: string, read: (metrics: MailboxMetrics) => number];

const sums: readonly Sum[] = [
  ['wa_in_total', 'counter', 'Rows ever logged: from the phone, and outcomes for the workstation.', (each) => each.in],
  ['wa_waiting', 'gauge', 'Rows above the cursors, without outcomes.', (each) => each.waiting],
  ['wa_outbox_waiting', 'gauge', 'Calls that wait to be sent.', (each) => each.outboxWaiting],
  ['wa_dead_letters', 'gauge', 'Dead letters that are kept.', (each) => each.deadLetters],
];

/** `edge` = the counts of the stateless Worker. */
export function metricsText(mailboxes: readonly MailboxMetrics[], edge: Readonly<Record<string, number>>): string {
  const total = (read: (metrics: MailboxMetrics) => number) => mailboxes.reduce((sum, each) => sum + read(each), 0);
  const counts = sumCounts(...mailboxes.map((metrics) => metrics.counts));
  const oldestMs = Math.max(0, ...mailboxes.map((metrics) => metrics.oldestWaitingMs));
  const lines = [
    ...sums.flatMap(([name, type, help, read]) => metric(name, type, help, total(read))),
    ...metric('wa_oldest_waiting_seconds', 'gauge', 'Age of the oldest waiting message.', oldestMs / 1000),
    ...counterNames.flatMap((name) =>
      name.endsWith('_ms')
        ? metric(`wa_${name.slice(0, -3)}_seconds_total`, 'counter', counterHelp[name], (counts[name] ?? 0) / 1000)
        : metric(`wa_${name}_total`, 'counter', counterHelp[name], counts[name] ?? 0),
    ),
    '# HELP wa_ignored_total Updates that were not for this relay, since this instance of the Worker started.',
    '# TYPE wa_ignored_total counter',
    ...Object.entries(edge).map(([reason, count]) => `wa_ignored_total{reason="${reason}"} ${count}`),
  ];
  return `${lines.join('\n')}\n`;
}

function metric(name: string, type: 'counter' | 'gauge', help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`];
}
