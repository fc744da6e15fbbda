// English: numbers, times and counts, which stand in other texts.

import { durationText } from '../../duration.ts';
import { megabytes } from '../../size.ts';

const counted = (one: string) => (count: number) => `${count} ${one}${count === 1 ? '' : 's'}`;

export const words = {
  /** `45 s`, `12 min`, `2.5 h`, `3 days`. */
  duration: durationText,
  /** To the second: `45 s`, `12 min 5 s`, `2 h 5 min`. */
  elapsed(ms: number): string {
    const seconds = Math.floor(ms / 1000);
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  },
  /** As the owner may have written it: rounded, it would confirm another time. */
  wholeTime(ms: number): string {
    const minutes = ms / 60_000;
    return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
  },
  /** `20 MB`, `1.5 MB`. */
  megabytes,
  /** `840`, `12.3k`, `1.2M`. */
  amount(amount: number): string {
    if (amount < 1_000) return String(amount);
    const [value, unit] = amount < 999_950 ? [amount / 1_000, 'k'] : [amount / 1_000_000, 'M'];
    return `${value < 100 ? Math.round(value * 10) / 10 : Math.round(value)}${unit}`;
  },
  /** `7 %`, `0.3 %`. */
  share(share: number): string {
    const percent = share * 100;
    return `${percent > 0 && percent < 1 ? Math.max(0.1, Math.round(percent * 10) / 10) : Math.round(percent)} %`;
  },
  messages: counted('message'),
  questions: counted('question'),
  turns: counted('turn'),
  tasks: counted('task'),
  toolCalls: counted('tool call'),
};
