// German: turns of the coding agent, what steers them, sprints.

import type {
  modes as englishModes,
  sprint as englishSprint,
  stop as englishStop,
  turns as englishTurns,
} from '../en/session.ts';
import { words } from './words.ts';

const { messages, tasks, toolCalls } = words;
const idle = 'das gerade untätig ist und von hier nicht geweckt werden kann';

export const turns: typeof englishTurns = {
  failed: (text) => `Fehlgeschlagen: ${text}`,
  noAnswer: 'Der Turn endete ohne Antwort.',
  cancelled: 'An der Tastatur abgebrochen.',
  cancelledHere: 'Vom Telefon aus abgebrochen.',
  lostOwned: 'Der Coding-Agent endete, bevor deine Nachricht bei ihm war. Er bekommt sie noch einmal.',
  agentGone:
    'Der Coding-Agent wurde beendet (geschlossen, gekillt oder abgestürzt), bevor sein Turn eine Antwort hatte.',
  aborted: (clause) => `Abgebrochen, bevor ${clause}.`,
  lost: 'Deine Nachricht hat den Agent nicht erreicht: Esc am Terminal kam dazwischen oder ein Dialog des Agents, wie ihn etwa die Schleifenerkennung öffnet. Die Nachricht ist wieder ungelesen und geht mit dem nächsten Turn mit.',
  contextFull: (percent) => `Das Kontextfenster des Agents ist zu ${percent} % voll.`,
  compressed:
    'Der Agent hat seinen Kontext von sich aus komprimiert: vom bisherigen Verlauf bleibt eine Zusammenfassung.',
  silent:
    'Seit 5 Minuten kein Lebenszeichen vom Coding-Agent, obwohl sein Turn läuft: vielleicht ein langer Befehl oder ein Dialog, der im Terminal wartet.',
  silentOwned:
    'Seit 5 Minuten kein Lebenszeichen vom Coding-Agent, obwohl sein Turn läuft: vielleicht ein langer Befehl, oder das Modell denkt nach. /cancel beendet den Turn.',
  waitOver:
    'Das Warten auf das Handy ist vorbei: das Terminal ist wieder frei. Nachrichten gehen mit dem nächsten Turn dort mit.',
  daemonEnds:
    'wa-sync stoppt oder startet neu: das Terminal, das auf dich gewartet hat, ist wieder frei. Nachrichten gehen mit dem nächsten Turn dort mit.',
  neverAcknowledged: (client, count) =>
    `${client || 'Der Agent'} hat diese Nachricht ${count}-mal abgeholt und war jedes Mal ohne Antwort weg. Von selbst bekommt er sie nicht noch einmal.`,
  waits: {
    noSession:
      'Sie wartet: in diesem Projekt ist keine Session des Coding-Agents offen. Der erste Turn der nächsten Session bekommt sie.',
    nextTurn: 'Sie wartet auf den nächsten Turn des Coding-Agents.',
    typing:
      'Sie wartet: im Prompt des Terminals steht etwas, oder jemand tippt dort. Sie geht mit diesem Prompt mit oder sobald der Prompt leer ist.',
    neverHolds: `Sie wartet auf einen Prompt am Terminal, ${idle}: tipp dort irgendetwas. ("hold" steht in config.json auf "never".)`,
    idleNudgeOff: `Sie wartet auf einen Prompt am Terminal, ${idle}: tipp dort irgendetwas, und wa:away, bevor du gehst, damit der Agent zuhört. ("nudge" steht in config.json auf "off".)`,
    idle: `Sie wartet auf einen Prompt am Terminal, ${idle}: tipp dort irgendetwas, und wa:away, bevor du gehst, damit der Agent zuhört. In tmux wird es von selbst geweckt.`,
  },
  withheldOne: 'Während du am Terminal warst, ein Turn:',
  withheld: (count) => `Während du am Terminal warst, ${count} Turns; die letzte Antwort:`,
};

export const stop: typeof englishStop = {
  parkedGo: (count) =>
    count === 1
      ? '1 frühere Nachricht geht mit der mit, die du seitdem geschickt hast.'
      : `${count} frühere Nachrichten gehen mit dem mit, was du seitdem geschickt hast.`,
  parked: (count) =>
    count === 1
      ? '1 frühere Nachricht ist zurückgestellt: eine neue Nachricht oder /continue gibt sie frei.'
      : `${count} frühere Nachrichten sind zurückgestellt: eine neue Nachricht oder /continue gibt sie frei.`,
  parkedBack: (count) =>
    count === 1
      ? '1 Nachricht hat den Agent vor dem STOP nicht erreicht und ist zurückgestellt: eine neue Nachricht oder /continue gibt sie frei.'
      : `${count} Nachrichten haben den Agent vor dem STOP nicht erreicht und sind zurückgestellt: eine neue Nachricht oder /continue gibt sie frei.`,
  dialogCancelled: 'Gestoppt: der Dialog im Terminal wurde abgebrochen und der Turn mit ihm.',
  dialogWaits: {
    stop: 'Im Terminal wartet ein Dialog, den nur du dort beantworten kannst. Danach wirkt das Stop.',
    abort: 'Im Terminal wartet ein Dialog, den nur du dort beantworten kannst. Danach wirkt der Abbruch.',
  },
  requested: {
    stop: 'Stop angefordert: der Agent beendet den laufenden Schritt, schreibt einen Status und hält an.',
    abort: 'Abbruch angefordert: der nächste Tool-Aufruf wird abgelehnt, und der Turn endet.',
  },
  nothingHeld: 'Nichts zu stoppen: der Agent wartet auf deine nächste Nachricht.',
  nothing: 'Nichts zu stoppen: es läuft kein Turn.',
  afterTurn: (time, tools) => `Nach dem laufenden Turn gestoppt (${time}, ${toolCalls(tools)}).`,
  late: 'Gestoppt: der Turn war schon von selbst zu Ende, bevor das STOP wirkte.',
  byHooks: 'Von den Hooks allein gestoppt, während der Daemon weg war.',
  foreign: 'Ein anderes Programm hat ein STOP in die Inbox-Datei geschrieben; es lief kein Turn.',
};

export const sprint: typeof englishSprint = {
  badTime: (given) => `--for nimmt Minuten oder Stunden, etwa 90m oder 2h, nicht ${given}.`,
  badCount: (most, given) => `Ein Sprint hat 1 bis ${most} Aufgaben, nicht ${given}.`,
  runs: (done, most) => `Es läuft schon ein Sprint, ${done} von ${most} Aufgaben erledigt. /stop beendet ihn.`,
  ordered: (most) => `Ein Sprint mit höchstens ${tasks(most)} wartet schon auf seinen ersten Turn. /stop beendet ihn.`,
  what: (most) => `Sprint mit höchstens ${tasks(most)}`,
  whatTimed: (most, time) => `Sprint mit höchstens ${tasks(most)}, höchstens ${time} lang`,
  now: (what) => `${what}: er beginnt jetzt.`,
  afterTurn: (what) => `${what}: er beginnt, wenn der laufende Turn zu Ende ist.`,
  woken: (what) => `${what}: das untätige Terminal wurde geweckt; er beginnt nach dem Turn, der dort anfing.`,
  typing: (what) => `${what}: er beginnt, sobald am Terminal niemand tippt.`,
  nextTurn: (what) => `${what}: er beginnt nach dem nächsten Turn des Coding-Agents.`,
  idle: (what) => `${what}: er beginnt nach dem nächsten Turn am Terminal, ${idle}: tipp dort einen Prompt.`,
  finalStatus: 'Abschluss des Sprints:',
  taskDone: (task, most) => `Aufgabe ${task} von ${most} erledigt:`,
  taskOpen: (task, most) => `Aufgabe ${task} von ${most}, noch nicht fertig:`,
  allDone: (time, most) =>
    `Sprint nach ${time} zu Ende: ${most === 1 ? 'die Aufgabe ist erledigt' : `alle ${most} Aufgaben sind erledigt`}.`,
  over: (time, done, most, why) => `Sprint nach ${time} zu Ende, ${done} von ${most} Aufgaben erledigt: ${why}`,
  ends: {
    goal: 'laut Agent ist keine Aufgabe mehr offen.',
    maxTasks: 'die Höchstzahl der Aufgaben ist erreicht.',
    timeout: 'die Zeit ist um.',
    context: 'das Kontextfenster ist fast voll.',
    repeating: 'der Agent wiederholt seine Antwort. Was soll er tun?',
    noProgress: 'zwei Turns nacheinander ohne ein Tool. Was soll der Agent tun?',
    question: 'der Agent fragt etwas. Deine Antwort bekommt er als Nachricht.',
    error: 'ein Turn ist fehlgeschlagen.',
    stopped: 'gestoppt.',
    aborted: 'abgebrochen.',
  },
};

export const modes: typeof englishModes = {
  awayForms: 'Schreib /away oder /away_off.',
  awayOff: 'Away ist aus.',
  awayOffFreed: 'Away ist aus: die Tastatur ist wieder frei.',
  awayNever: 'Away ist an, aber "hold" steht in config.json auf "never": kein Turn wartet auf dich.',
  awayHeld: 'Away ist an: der Agent wartet jetzt auf deine Nachrichten.',
  awayTurn: 'Away ist an: wenn der laufende Turn zu Ende ist, wartet der Agent auf deine Nachrichten.',
  awayWakes: 'Away ist an: eine Nachricht von dir weckt das untätige Terminal.',
  awayNext: 'Away ist an: ein Turn im Terminal wartet an seinem Ende auf deine Nachrichten.',
  awayIdle:
    'Away ist an, aber das untätige Terminal kann von hier nicht geweckt werden: tipp dort wa:away, damit der Agent auf deine Nachrichten wartet.',
  followForms: 'Möglich ist /follow auto, /follow always oder /follow never.',
  follow: {
    auto: 'Follow ist auto: solange du am Terminal bist, kommen Turns, die du dort beginnst, nicht hierher; wenn du gehst, sagt eine Nachricht, was dabei herauskam.',
    always: 'Follow ist always: jeder Turn kommt hierher, auch solange du am Terminal bist.',
    never: 'Follow ist never: Turns, die am Terminal beginnen, kommen nicht hierher. Die, die du hier beginnst, schon.',
  },
  muteForms: 'Schreib /mute oder /mute_off.',
  muted:
    'Stumm: was der Agent tut, wird nicht gezeigt, während er arbeitet. Seine Antworten und Fragen kommen weiter. /mute_off beendet das.',
  unmuted: 'Was der Agent tut, wird während der Arbeit wieder gezeigt.',
  laterForm: 'Schreib /later und dahinter, was der Agent nach dem laufenden Turn tun soll.',
  laterTurn: 'Aufgehoben für nach dem laufenden Turn.',
  laterNext: 'Aufgehoben für den nächsten Turn.',
  nothingHeldBack: 'Es ist nichts zurückgestellt.',
  released: (count) => `${messages(count)} freigegeben. Der Agent erfährt von einem STOP, das dazwischenlag.`,
};
