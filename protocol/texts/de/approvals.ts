// German: the questions of approvals, what becomes of them, dialogs of the terminal, budgets.

import type {
  approvals as englishApprovals,
  budget as englishBudget,
  dialogs as englishDialogs,
  question as englishQuestion,
} from '../en/approvals.ts';

const undone = 'Nichts wurde freigegeben.';
const notRun = 'Dein Befehl ist nicht gelaufen.';
const answerThere = 'Antworte dort.';

export const question: typeof englishQuestion = {
  noArguments: '(keine Argumente)',
  waits: (time) => `Wartet ${time}, dann gilt es als abgelehnt.`,
  waitsForDesk: (time) => `Wartet ${time}, dann wird am Rechner gefragt.`,
  waitsLong: 'Wartet, bis du antwortest.',
  checkpoint: (ref) => `Checkpoint: ${ref}`,
  hidden: (places) =>
    `🔒 An ${places} ${places === 1 ? 'Stelle ist ein Geheimnis' : 'Stellen sind Geheimnisse'} verdeckt; alles andere steht da.`,
  everywhere: '(an jeder Stelle)',
  newFile: '(neue Datei)',
  replaces: '(ersetzt die Datei)',
  leftOut: (characters) => `⟨… ${characters} Zeichen ausgelassen …⟩`,
  approve: 'Freigeben',
  deny: 'Ablehnen',
  always: 'Immer',
  edit: 'Ändern…',
  editing:
    '✏️ Wartet auf deine Antwort auf die Nachricht darunter. Freigeben und Ablehnen gelten weiter für den Befehl, wie er hier steht.',
  verdicts: {
    approved: '✅ Freigegeben.',
    always: '✅ Freigegeben, in dieser Session auch beim nächsten Mal.',
    edited: '✏️ Geändert freigegeben:',
    denied: '❌ Abgelehnt.',
    changed: '⚠ Abgelehnt, weil sich nach der Frage etwas geändert hat:',
    timeout: '⌛ Zu spät, abgelehnt: es kam rechtzeitig keine Antwort.',
    desk: '⌛ Nicht rechtzeitig beantwortet: der Dialog wartet am Terminal.',
    elsewhere: '▫️ Vorbei: im Terminal beantwortet oder abgebrochen, oder dem Dialog dort überlassen.',
    withdrawn: '▫️ Zu spät, abgelehnt: der Agent wartet nicht mehr auf eine Antwort.',
    interrupted: '⚠ Zu spät, abgelehnt: der Daemon wurde beendet, während die Frage offen war.',
    stopped: '⛔ Durch dein STOP abgelehnt.',
    stoppedInFile: '⛔ Abgelehnt: ein anderes Programm hat ein STOP in die Inbox-Datei geschrieben.',
    allowed: '✅ Erlaubt. Du hast gewählt:',
    allowedLasting: '♾ Erlaubt, als dauerhafte Regel des Agents. Du hast gewählt:',
    refused: '❌ Abgelehnt. Du hast gewählt:',
    refusedLasting: '♾ Abgelehnt, als dauerhafte Regel des Agents. Du hast gewählt:',
    answered: '✅ Beantwortet:',
    declined: '▫️ Nicht beantwortet: der Agent macht ohne Antwort weiter.',
    cancelled: '⛔ Mit dem Turn abgebrochen. Nichts wurde entschieden.',
    gone: '▫️ Vorbei: der Agent fragt nicht mehr. Nichts wurde entschieden.',
  },
};

export const approvals: typeof englishApprovals = {
  modes: {
    off: 'Freigaben sind aus: Tools laufen ohne Nachfrage, außer wo eine Policy fragt.',
    risky:
      'Freigaben: risky. wa-sync fragt vor einem Tool, das etwas zerstören, verraten oder aufweichen kann; das Tool wartet auf deine Antwort, und keine Antwort heißt nein.',
    all: 'Freigaben: all. Jedes Tool wartet auf deine Antwort, und keine Antwort heißt nein.',
  },
  unknownMode: (word) => `„${word}“ gibt es nicht; möglich ist off, risky oder all.`,
  checkpoint: (clause, ref) => `Checkpoint, bevor ${clause}: ${ref}`,
  policyUnread: `policy.json lässt sich nicht lesen, deshalb weiß wa-sync nicht, wer hier antworten darf. ${undone} \`wa-sync approvals\` zeigt den Fehler.`,
  onlyOwner: `Das kann nur der Besitzer beantworten. ${undone}`,
  unknownButton: `Diesen Button kennt wa-sync nicht. ${undone}`,
  before: (verdict) => `Das ist schon entschieden: ${verdict}`,
  tooLate: `Zu spät: der Agent wartet nicht mehr darauf. ${undone}`,
  otherArguments: `Dieser Button gehört zu einem Aufruf mit anderen Argumenten. ${undone}`,
  eachTime: `Bei diesem Aufruf fragt wa-sync jedes Mal. ${undone}`,
  replyWith: 'Antworte auf diese Nachricht mit dem Befehl, der stattdessen laufen soll. Jetzt ist es:',
  emptyCommand: '(leer)',
  replyHint: 'Der Befehl, der stattdessen läuft',
  lateCommand: `Zu spät: die Zeit für die Antwort war vorbei. ${notRun}`,
  notRun,
  forbidden: (why) => `Deine Policy verbietet diesen Befehl: ${why}. Die Frage bleibt offen.`,
  questionOver: `Diese Frage ist nicht mehr offen. ${notRun}`,
  tooMany: (count) => `${count} Aufrufe warten auf deine Antwort. Bis einer beantwortet ist, werden weitere abgelehnt.`,

  switchedOff: (problem) =>
    `⚠ Freigaben sind an, aber: ${problem}. So können Tools ohne Nachfrage laufen. Entferne das in einem Editor und starte den Coding-Agent neu, oder lass ihn woanders arbeiten.`,
  ungated: (ran, call) => `⚠ ${ran}, ohne dass du gefragt wurdest${call === '' ? '.' : `: ${call}`}`,
  ungatedChanged: (ran, call) =>
    `⚠ ${ran}, aber mit anderen Argumenten als gefragt (am Rechner oder von einem anderen Hook geändert)${call === '' ? '.' : `: ${call}`}`,
  ungatedHelp:
    'Freigaben sind an, aber der Coding-Agent hat hier nicht auf wa-sync gewartet. STOP hält den Agent an; `wa-sync hooks list` sagt, was mit seinen Hooks nicht stimmt.',
  ungatedMore: (count) =>
    `⚠ ${count} ${count === 1 ? 'weiteres Tool lief' : 'weitere Tools liefen'} in diesem Turn ohne Nachfrage.`,
  unreadAtSessionEnd: (text) => `Die Session endete, bevor der Agent das lesen konnte:\n${text}`,
  unreadAtDaemonEnd: (text) => `wa-sync wurde beendet, bevor der Agent das lesen konnte:\n${text}`,
};

export const dialogs: typeof englishDialogs = {
  asks: (text) => `Der Agent fragt im Terminal:\n${text}`,
  waits: (title) => `Im Terminal wartet ein Dialog: ${title}`,
  hereOrThere: 'Antworte hier oder im Terminal.',
  onlyThere: 'Das geht nur im Terminal.',
  askHere: (command) => `Willst du hier gefragt werden, starte den Agent dort mit \`${command}\`.`,
  askHereFirst: (order, command) =>
    `Willst du hier gefragt werden, schick ${order} und starte den Agent dort mit \`${command}\`.`,
  allow: 'Einmal erlauben',
  deny: 'Ablehnen',
  gone: 'Diesen Dialog gibt es nicht mehr. Es wurde keine Taste gedrückt.',
  unseen: `Das Terminal zeigt gerade nicht genau diesen Dialog, deshalb wurde keine Taste gedrückt. ${answerThere}`,
  stays: `Die Taste wurde gedrückt, aber das Terminal zeigt den Dialog noch. ${answerThere}`,
  allowed: '✅ Von hier aus einmal erlaubt.',
  denied: '❌ Von hier aus abgelehnt. Der Turn ist zu Ende.',
  deniedTurn: 'Du hast den Dialog im Terminal abgelehnt; damit endet der Turn.',
  stopped: '⛔ Durch dein STOP abgebrochen.',
  stoppedTurn: 'Dein STOP hat den Dialog im Terminal abgebrochen; damit endet der Turn.',
  over: '▫️ Vorbei.',
  overThere: '▫️ Vorbei: im Terminal beantwortet oder abgebrochen.',
};

export const budget: typeof englishBudget = {
  usedUp: (limit) =>
    `Das Budget für heute ist aufgebraucht: ${limit}. Weitere Prompts und Anfragen ans Modell werden abgelehnt.`,
  more: 'Heute nochmal so viel',
  granted: 'Heute nochmal so viel. Schick eine Nachricht, damit es weitergeht.',
  answered: 'Diese Frage ist schon beantwortet, oder ihr Tag ist vorbei.',
  turns: (count) => `${count} Turns`,
  minutes: (count) => `${count} Minuten`,
  tokens: (count) => `${count} Tokens`,
};
