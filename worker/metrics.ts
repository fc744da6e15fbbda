// The metrics as Prometheus text, summed over all mailboxes. No texts, no ids.

import { counterHelp, counterNames, sumCounts } from './mailbox/counters.ts';
import type { MailboxMetrics } from './mailbox/report.ts';

/** `edge` = the counts of the stateless Worker. */
export function metricsText(mailboxes: readonly MailboxMetrics[], edge: Readonly<Record<string, number>>): string {
  const total = (read: (metrics: MailboxMetrics) => number) => mailboxes.reduce((sum, each) => sum + read(each), 0);
  const counts = sumCounts(...mailboxes.map((metrics) => metrics.counts));
  const oldestMs = Math.max(0, ...mailboxes.map((metrics) => metrics.oldestWaitingMs));
  const ever = 'Rows ever logged: from the phone, and outcomes for the workstation.';
  const lines = [
    ...metric(
      'wa_in_total',
      'counter',
      ever,
      total((each) => each.in),
    ),
    ...metric(
      'wa_waiting',
      'gauge',
      'Rows above the cursors, without outcomes.',
      total((each) => each.waiting),
    ),
    ...metric(
      'wa_outbox_waiting',
      'gauge',
      'Calls that wait to be sent.',
      total((each) => each.outboxWaiting),
    ),
    ...metric(
      'wa_dead_letters',
      'gauge',
      'Dead letters that are kept.',
      total((each) => each.deadLetters),
    ),
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
