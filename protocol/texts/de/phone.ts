// German: answers of a project as the phone shows them, what it asks about a text, and notes about itself.

import type {
  answers as englishAnswers,
  held as englishHeld,
  notes as englishNotes,
  progress as englishProgress,
  workflows as englishWorkflows,
} from '../en/phone.ts';
import { words } from './words.ts';

const { messages, toolCalls } = words;

export const progress: typeof englishProgress = {
  working: (time) => `Arbeitet, ${time}`,
  counted: (count, names) => `${toolCalls(count)}: ${names}`,
  done: (time, tools) => `Fertig nach ${time}, ${toolCalls(tools)}.`,
  failed: (time, tools) => `Fehlgeschlagen nach ${time}, ${toolCalls(tools)}.`,
  waits: {
    question: 'Wartet auf deine Antwort auf die Frage hier.',
    dialog: 'Wartet auf den Dialog im Terminal.',
  },
  interrupted: 'wa-sync wurde beendet, während dieser Turn lief.',
};

export const answers: typeof englishAnswers = {
  full: 'Ganze Antwort',
  fullTap: 'Die ganze Antwort kommt.',
  fullCaption: 'Ganze Antwort',
  fullGone: 'Diese Antwort ist nicht mehr da (nach 7 Tagen); sie steht in der Session des Coding-Agents.',
  wholeCaption: 'Der ganze Text',
  rest: (file) => `… der Rest ist zu lang für Nachrichten; der ganze Text ist in der angehängten Datei ${file}.`,
  cut: '… gekürzt: längere Nachrichten nimmt das Handy nicht an.',
  empty: '(kein sichtbarer Text)',
  unchecked: (characters) =>
    `(Ein Text mit ${characters} Zeichen ließ sich nicht rechtzeitig auf Geheimnisse prüfen und wurde deshalb nicht gesendet; er steht dort, wo er geschrieben wurde. Vielleicht sind die Muster unter "redact" in config.json langsam.)`,
  unhidden: (characters) => `(${characters} Zeichen, nicht rechtzeitig auf Geheimnisse geprüft)`,
};

export const held: typeof englishHeld = {
  question: 'Dieser Text beantwortet nichts: die Frage oben hat Buttons. Wofür ist dieser Text?',
  dialog: 'Dieser Text beantwortet nichts: im Terminal wartet ein Dialog. Wofür ist dieser Text?',
  command: 'Ist das der Befehl, der stattdessen läuft?',
  answer: 'Ist das deine Antwort auf die Frage oben?',
  over: 'Die Frage ist vorbei, und der Agent hat diesen Text nicht bekommen. Wofür ist er?',
  use: { command: 'Stattdessen ausführen', answer: 'Es ist die Antwort' },
  send: 'An den Agent schicken',
  drop: 'Verwerfen',
  gone: 'Dieser Text wartet nicht mehr auf dich.',
  unknownButton: 'Diesen Button kennt wa-sync nicht.',
  ran: '✏️ Lief anstelle des Befehls.',
  taken: '✏️ Als deine Antwort übernommen.',
  dropped: '🗑 Verworfen.',
  expired: '⌛ Abgelaufen, bevor du gesagt hast, wofür er war.',
  sent: '📨 Geht an den Agent.',
};

export const workflows: typeof englishWorkflows = {
  none: (name) => `In diesem Projekt gibt es keinen Workflow „${name}“; der Agent hat das nicht bekommen.`,
  meant: (commands) => `Meintest du ${commands}?`,
  byHand: (name) => `Schreib //${name}, um es unverändert an den Agent zu schicken.`,
  asText: 'Als Text schicken',
};

export const notes: typeof englishNotes = {
  paired: 'Verbunden. Im Terminal geht die Einrichtung weiter.',
  hello: (machine, folder) =>
    `Hallo von ${machine}, Ordner ${folder}. Tipp auf den Button, dann sind beide Richtungen bewiesen.`,
  helloButton: 'Ich sehe es',
  heard:
    'Alles funktioniert. Starte den Coding-Agent in seinem Ordner; was du hier schreibst, kommt bei ihm an, und seine Antworten kommen zurück. /help zeigt die Befehle.',
  thisButton: 'Dieser Button',
  unsupported: (what) =>
    `${what} kann diese Version von wa-sync nicht; /help zeigt, was geht. Schick eine Nachricht, und der Coding-Agent liest sie mit seinem nächsten Turn; /stop hält ihn an.`,
  missingFiles: (files) =>
    `Der Agent bekommt deine Nachricht ohne das, was sich nicht herunterladen ließ. Schick es nochmal, wenn es gebraucht wird.\n${files}`,
  accountEnds: (minutes, link) =>
    `Das Cloudflare-Konto des Relays endet in ${minutes} Min., und dieser Chat mit ihm. Um es zu behalten, übernimm es: ${link} Danach am Rechner: wa-sync setup --claimed`,
  malformed: (file, aside, entries) =>
    `Ein anderes Programm hat ${file} beschädigt. Die Datei liegt jetzt als ${aside} daneben; ${entries} ihrer Einträge sind gerettet, und keine Nachricht von dir ist verloren.`,
  malformedAgain: (times) => `Seit dem letzten Hinweis ist das noch ${times}-mal passiert.`,
  gitWouldCommit: (folder, reason) =>
    `git würde die Nachrichten in ${folder} committen: ${reason}. Führ \`wa-sync down\` aus und starte wa-sync neu: dann nimmt es einen Ordner außerhalb des Repositorys. Bis dahin laufen Nachrichten ohne die Dateien.`,
  earlier: (folder, unread, unsent) => {
    const counts = [
      ...(unread > 0 ? [`${unread} für den Coding-Agent`] : []),
      ...(unsent > 0 ? [`${unsent} fürs Handy`] : []),
    ];
    return `In den Postfach-Dateien von ${folder} lag schon etwas, bevor wa-sync sie bedient hat, vielleicht aus dem Repository selbst: ${messages(unread + unsent)} (${counts.join(', ')}). Das gilt als erledigt und wird weder übergeben noch gesendet.`;
  },
  apart: (wanted, apart, reason) =>
    `Das Postfach dieses Projekts liegt in ${apart} und nicht in ${wanted}, denn ${reason === undefined ? 'git hätte es einmal committet' : `git würde es committen: ${reason}`}. Soll es ins Projekt, nimm seine wa_*-Dateien aus git heraus und ignoriere sie (git rm --cached), führ \`wa-sync down\` aus, entferne den Ordner und starte wa-sync neu.`,
};
