// German: numbers, times and counts, which stand in other texts.

import { words as english } from '../en/words.ts';

const counted = (one: string, many: string) => (count: number) => `${count} ${count === 1 ? one : many}`;
const withComma = (text: string) => text.replace('.', ',');

export const words: typeof english = {
  duration(ms) {
    return withComma(english.duration(ms)).replace('min', 'Min.').replace('h', 'Std.').replace('days', 'Tage');
  },
  elapsed(ms) {
    return english.elapsed(ms).replace('min', 'Min.').replace('h', 'Std.');
  },
  wholeTime(ms) {
    return english.wholeTime(ms).replace('min', 'Min.').replace('h', 'Std.');
  },
  megabytes: (bytes) => withComma(english.megabytes(bytes)),
  amount: (amount) => withComma(english.amount(amount)),
  share: (share) => withComma(english.share(share)),
  messages: counted('Nachricht', 'Nachrichten'),
  questions: counted('Frage', 'Fragen'),
  turns: counted('Turn', 'Turns'),
  tasks: counted('Aufgabe', 'Aufgaben'),
  toolCalls: counted('Tool-Aufruf', 'Tool-Aufrufe'),
};
