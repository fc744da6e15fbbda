// German: what the relay says by itself: what became of messages, outages, topics, taps.

import type { relay as english } from '../en/relay.ts';
import { words } from './words.ts';

const { messages } = words;
const are = (count: number) => (count === 1 ? 'ist' : 'sind');

export const relay: typeof english = {
  retry: 'Nochmal senden',
  expiredOne: 'Diese Nachricht ist abgelaufen, bevor der Agent sie geholt hat.',
  expired: (count) =>
    `${messages(count)} ${are(count)} abgelaufen, bevor der Agent sie geholt hat. Unter /letters kannst du sie nochmal senden.`,
  lostOne: 'Diese Nachricht hat den Agent in drei Versuchen nicht erreicht.',
  lost: (count) =>
    `${messages(count)} ${count === 1 ? 'hat' : 'haben'} den Agent in je drei Versuchen nicht erreicht. Unter /letters kannst du sie nochmal senden.`,

  neverConnected: 'Es hat sich noch kein Rechner verbunden.',
  lastSeen: (clock, ago) => `Rechner zuletzt gesehen: ${clock} (vor ${ago}).`,
  waits: (count, until, left) =>
    `${count === 1 ? '1 Nachricht wartet; sie läuft ab' : `${count} Nachrichten warten; die erste läuft ab`}: ${until}, in ${left}.`,
  back: (count) => `Der Rechner ist wieder da: ${messages(count)} zugestellt.`,

  mainChat: 'der Hauptchat',
  topic: (number) => `Topic ${number}`,
  place: (folder, machine) => `${folder} auf ${machine}`,
  bind: (command) => `So verbindest du eins, in seinem Ordner: ${command}`,
  unboundChat: 'Mit dem Hauptchat ist kein Projekt verbunden.',
  unboundTopic: 'Mit diesem Topic ist kein Projekt verbunden.',
  keptUntilBound: 'Deine Nachricht bleibt liegen und geht an das Projekt, das verbunden wird, bevor sie abläuft.',
  nothingBound: 'Hier ist kein Projekt verbunden, deshalb bewirkt das nichts.',
  someProject: 'Ein Projekt',
  bound: (who, count) => `${who} ist jetzt mit diesem Topic verbunden: ${messages(count)} zugestellt.`,
  topicGone: (who) =>
    `Das Topic von ${who} gibt es nicht mehr. Die Antworten kommen hierher. Antworte auf eine davon, um dorthin zu schreiben, oder verbinde das Projekt mit einem anderen Topic.`,
  migrated: (chatId, setting) =>
    `Diese Gruppe ist jetzt eine Supergruppe mit der Id ${chatId}. Wartende Antworten kommen hierher. ` +
    `Damit du hier gehört wirst, trag ${chatId} bei ${setting} im Relay ein und verbinde das Projekt neu.`,

  full: 'Das Postfach ist voll. Neue Nachrichten warten bei der Chat-Plattform, bis der Rechner welche abgeholt hat.',
  flood: (count) =>
    `Mehr als ${count} Nachrichten in einer Minute. Alle sind gespeichert; der Agent bekommt sie der Reihe nach.`,
  editGone: 'Die bearbeitete Nachricht liegt nicht mehr im Postfach. Schick den neuen Text als eigene Nachricht.',
  tooLarge: (name, size, limit) =>
    `${name} hat ${size}; ein Bot kann höchstens ${limit} herunterladen. Der Agent bekommt nur den Namen.`,
  runsOut: (share, limit, out, midnight, left) =>
    `Das Relay hat ${share} des heutigen Gratiskontingents von Cloudflare verbraucht (${limit}); in diesem Tempo ist es um ${out} aufgebraucht. ` +
    `Bis ${midnight} (in ${left}) wird seltener abgefragt, wenn nichts los ist: eine Nachricht kann bis zu einer Minute länger brauchen. /usage zeigt den Anteil.`,

  buttonExpired: 'Dieser Button ist abgelaufen.',
  sentAsText: 'Als Text an den Agent geschickt.',
  noCommand: 'Das ist kein Befehl mehr.',
  notTaken: 'Nicht angenommen: das Postfach ist voll.',
  notRecorded: 'Nicht notiert: das Postfach ist voll.',
  recorded: 'Notiert.',
  recordedAway: 'Notiert. Der Rechner ist weg; es passiert, sobald er wieder da ist.',
};
