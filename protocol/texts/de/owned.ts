// German: sessions that were begun from the phone, what they ask, what of them can be chosen and looked at.

import { span } from '../../span.ts';
import type { owned as english } from '../en/owned.ts';

const undecided = 'Nichts wurde entschieden.';
const unused = 'Dein Text wurde nicht verwendet.';
const noneHere = 'Dieses Projekt hat keine Session, die von hier aus begonnen wurde.';

export const owned: typeof english = {
  ago: (ms) => `vor ${span(ms).replace('min', 'Min.').replace('h', 'Std.').replace('days', 'Tagen')}`,
  tapped: 'Kommt.',
  back: 'Zurück',

  sessions: {
    died: 'Der Coding-Agent endete, bevor sein Turn eine Antwort hatte. Seine Session wird wieder geöffnet.',
    daemonEnded:
      'wa-sync wurde beendet, während der Coding-Agent daran gearbeitet hat. Seine Session wird wieder geöffnet.',
    stopped: 'wa-sync wurde gestoppt, während der Coding-Agent daran gearbeitet hat.',
    ended: 'Die Session wurde beendet, während der Coding-Agent daran gearbeitet hat.',
    endedByAgent: 'Der Coding-Agent hat den Turn von sich aus beendet, ohne Antwort.',
    budget: 'Das Budget für heute war aufgebraucht, während der Turn lief.',
    cancelled: 'Der laufende Prompt ist abgebrochen.',
    cancelledWithCommand:
      'Der laufende Prompt ist abgebrochen. Dieser Agent ließe seinen Befehl weiterlaufen, deshalb wird sein Prozess beendet und die Session wieder geöffnet.',
    endsAtOnce: 'der Agent endet, sobald er läuft',
    nothingToCancel: 'Nichts abzubrechen: es läuft kein Prompt.',
    terminalRoute:
      'Diese Session gehört zu einem Terminal, und dort kann wa-sync keinen Prompt zurücknehmen: mit /stop beendet der Agent noch den laufenden Schritt, mit /abort wird sein nächstes Tool abgelehnt.',
    noneOwned: 'Hier läuft keine Session, die wa-sync selbst führt. /new beginnt eine, /resume öffnet eine frühere.',
    endedNow:
      'Die Session ist beendet; /resume öffnet sie wieder. Deine Nachrichten bekommt die nächste Session eines Terminals in diesem Projekt.',
    busyOwned: 'In der Session läuft ein Turn. /cancel bricht ihn ab; schick das danach nochmal.',
    busyTerminal: 'Im Terminal läuft ein Turn. Schick das nochmal, wenn er zu Ende ist; /stop beendet ihn.',
    starting: (title) => `Eine neue Session von ${title} beginnt.`,
    startingElsewhere: (title) =>
      `Eine neue Session von ${title} beginnt. Das Terminal, das deine Nachrichten hatte, behält seine Session, bekommt sie aber nicht mehr; wa:here, dort getippt, holt sie zurück.`,
    firstPrompt: (words) => `Erster Prompt: „${words}“`,
    resuming: (title, session) => `Session ${session} von ${title} wird geöffnet.`,
    ready: (title, session) => `${title} ist bereit (Session ${session}). Was du jetzt schreibst, geht dorthin.`,
    notOpened: (title, why) =>
      `Die Session von ${title} ließ sich nicht öffnen: ${why}. Von selbst wird nichts mehr versucht: dafür gibt es /resume und /new, und was du vorher geschickt hast, geht mit.`,
    notOpenedYet: (title, why) =>
      `Die Session von ${title} ließ sich nicht öffnen: ${why}. wa-sync versucht es noch einmal.`,
    openInTerminal: (session, pid) =>
      `Session ${session} ist in einem Terminal offen (Prozess ${pid}), und zwei Programme dürfen nicht in eine Session schreiben. Beende sie dort, dann /resume ${session}.`,
    takenByTerminal: (session) =>
      `Session ${session} wurde in einem Terminal geöffnet, deshalb hat wa-sync sie losgelassen. Deine Nachrichten gehen dorthin.`,
    says: (title, text) => `${title}: ${text}`,

    failures: {
      notLoggedIn: (title) => `${title} ist auf diesem Rechner nicht eingeloggt`,
      logIn: (command) => `Führ \`${command}\` in einem Terminal aus, log dich ein und versuch es nochmal.`,
      noHandshake: (title, why) => `${title} lehnt den Handshake von ACP ab: ${why}`,
      otherVersion: (title, version, ours) => `${title} spricht Version ${version} von ACP, nicht ${ours}`,
      tooSlow: (title, seconds) => `${title} hat ${seconds} s nach dem Start noch nicht geantwortet`,
      noId: (title) => `${title} öffnet eine Session ohne Id`,
      notOpened: (title, why) => `${title} öffnet keine Session: ${why}`,
      notOpenedAgain: (title, why) => `${title} öffnet die Session nicht: ${why}`,
      notListed: (title, why) => `${title} listet seine Sessions nicht auf: ${why}`,
      notTaken: (title, what, why) => `${title} nimmt das nicht an, ${what}: ${why}`,
      notSteered: (title, why) => `${title} endete, bevor der Text dort war: ${why}`,
      ended: (title, code, words) => `${title} endete mit Code ${code}${words ? `: ${words}` : ''}`,
      killed: (title, signal, words) => `${title} wurde durch ${signal} beendet${words ? `: ${words}` : ''}`,
      noAnswer: (title, method, seconds) => `${title} hat \`${method}\` nach ${seconds} s noch nicht beantwortet`,
      untrusted: (title, folder) =>
        `dem Ordner wurde noch nicht vertraut: ${title} würde die Hooks und MCP-Server von ${folder} ungefragt starten`,
      trustThere: (program) =>
        `Starte \`${program}\` dort einmal in einem Terminal, sag, dass du dem Ordner vertraust, und versuch es nochmal.`,
      tryAgain: (program) =>
        `Versuch es nochmal; wenn es dabei bleibt, starte \`${program}\` in einem Terminal und sieh nach, was es sagt.`,
      noSession: (title, id) => `${title} kennt keine Session ${id}`,
      noResume: (title) => `${title} kann keine frühere Session öffnen`,
      startNew: 'Beginn eine neue Session: `/new`.',
      noChoice: (title, what) => `${title} hat das in dieser Session nicht: ${what}`,
      mode: (id) => `Modus „${id}“`,
      model: (id) => `Modell „${id}“`,
      takeOneOf: (names) => `Zur Wahl stehen ${names}.`,
      offersNone: (title) => `${title} lässt hier keine Wahl.`,
      startsNot: (program, why) => `${program} startet nicht: ${why}`,
      checkProgram: (program, folder) => `Sieh nach, ob es ${program} und den Ordner ${folder} gibt.`,
      notOnPath: (title, program) =>
        `${title} ist nicht auf diesem Rechner: im PATH steht kein Programm \`${program}\``,
      nameProgram: (file, entry) => `Installier das Programm, oder nenn seinen Pfad in ${file}: "agents": ${entry}.`,
      noAdapter: (agent, why) => `der Adapter für ${agent} lässt sich nicht installieren: ${why}`,
      installNpm: 'Installier npm, das mit Node kommt, und sieh nach, ob es im PATH des Daemons steht.',
      checkNetwork: 'Prüf das Netz und die npm-Registry, dann versuch es nochmal.',
      noWords: (title) => `${title} meldet einen Fehler ohne Worte`,
      refusal: (title) => `${title} will diese Unterhaltung nicht fortsetzen`,
      manyTools: (title) => `${title} benutzt sehr viele Tools: weitere werden nicht gezeigt.`,
      saysMuch: (title) => `${title} sagt sehr viel: der Rest wird weggelassen.`,
      tokensCut: (title) => `${title} hat am Token-Limit aufgehört, die Antwort ist vielleicht gekürzt.`,
      requestsCut: (title) => `${title} hat am Limit der Anfragen in einem Turn aufgehört.`,
      didNotStop: (title) => `${title} hat nicht aufgehört und wurde deshalb beendet.`,
      reopened: (title, command) =>
        `${title} lässt den Befehl ${command} nach dem Abbruch weiterlaufen, deshalb wurde die Session geschlossen und wieder geöffnet; das hat ihn beendet.`,
      ranOn: (title, command, why) =>
        `Der Befehl ${command} lief nach dem Abbruch vielleicht weiter, deshalb wurde ${title} beendet: ${why}`,
    },

    noAgent: (name) => `kein Coding-Agent heißt ${name}`,
    noneInstalled: 'auf diesem Rechner ist kein Coding-Agent installiert',
    agentsAre: (names) => `wa-sync kennt: ${names}.`,
    notInstalled: (title) => `${title} ist auf diesem Rechner nicht installiert`,
    howToInstall: (name) =>
      `Installier das Programm, oder setz "agents": {"${name}": "/pfad/des/programms"} in config.json.`,
    noneKnown: 'Von diesem Projekt ist noch keine Session bekannt. /new beginnt eine.',
    all: 'Sessions dieses Projekts:',
    noneFits: (words) => `Keine Session passt zu „${words}“.`,
    severalFit: 'Mehrere Sessions passen:',
    isOpen: (session) => `Session ${session} ist schon offen.`,
    openHere: ', hier offen',
    openThere: ', in einem Terminal offen',
    howToResume: 'Schick /resume und eine Nummer, eine Id oder Wörter aus dem Titel.',
    found: (words) => `Sessions dieses Projekts mit „${words}“:`,
    foundNone: (words) => `In keiner Session dieses Projekts steht „${words}“. /resume listet die letzten auf.`,
  },

  picks: {
    kinds: { mode: 'Modus', model: 'Modell' },
    noChoice: {
      mode: (title) => `${title} bietet keinen Modus zur Wahl.`,
      model: (title) => `${title} bietet kein Modell zur Wahl.`,
    },
    head: {
      mode: (title) => `Modus dieser Session von ${title}:`,
      model: (title) => `Modell dieser Session von ${title}:`,
    },
    now: ' (jetzt)',
    more: (count) => `… und ${count} weitere.`,
    less: '⚠ = lässt vielleicht Tools laufen, ohne dich zu fragen; so ein Modus braucht einen zweiten Tipp.',
    tapOne: (command) => `Tipp einen Button an oder schick ${command} mit seiner Nummer oder seinem Namen.`,
    noLonger: (title, command) => `${title} bietet das nicht mehr an. ${command} zeigt, was geht.`,
    already: (kind, name) => `${kind}: schon ${name}.`,
    sure: (name, about) =>
      `⚠ ${name} lässt vielleicht Tools laufen, ohne dich zu fragen.${about}\nTipp zum Umschalten; noch hat sich nichts geändert.`,
    yes: (name) => `Ja: ${name}`,
    changed: (kind, name) => `${kind}: ${name}, ab dem nächsten Schritt des Agents.`,
    notChanged: (why) => `Nicht geändert: ${why}`,
    none: (words) => `„${words}“ gibt es hier nicht.`,
    several: (words) => `„${words}“ passt hier auf mehrere.`,
    over: 'Diese Session ist vorbei oder bietet das nicht mehr an. Es hat sich nichts geändert.',
    elsewhere: {
      mode: `${noneHere} Den Modus der Session im Terminal änderst du im Terminal; /approvals sagt, was dich hier fragt. /new beginnt eine Session, deren Modus /mode ändert; /agents sagt, was das kostet.`,
      model: `${noneHere} Das Modell der Session im Terminal änderst du im Terminal. /new beginnt eine Session, deren Modell /model ändert; /agents sagt, was das kostet.`,
    },
    hooksFirst:
      'Der übliche Weg ist deine eigene Session im Terminal: dein Abo, kein zweiter Login. wa-sync bringt ihre Nachrichten über Hooks.',
    openNow: (title) => `Dieses Projekt hat jetzt eine Session von ${title}, die von hier aus begonnen wurde.`,
    notInstalled: 'nicht installiert',
    installed: 'installiert',
    ofConfig: 'ein Befehl aus config.json',
    hooks: {
      installed: () => 'In deinem Terminal: über seine Hooks, die installiert sind.',
      off: (name) =>
        `In deinem Terminal: seine Hooks sind installiert, aber etwas steht ihnen im Weg; \`wa-sync hooks list --agent ${name}\` sagt, was.`,
      missing: (name) =>
        `In deinem Terminal: seine Hooks sind nicht installiert; das macht \`wa-sync hooks install --agent ${name}\`.`,
      unread: (name) => `In deinem Terminal: über seine Hooks, die \`wa-sync hooks list --agent ${name}\` zeigt.`,
    },
    noHooks: 'In deinem Terminal: wa-sync hat keine Hooks dafür.',
    fromHere: (name, needs, cost) => `Von hier, /new ${name}: ${needs} ${cost}`,
    notFromHere: 'Von hier: nicht möglich.',
    skillForms: 'Schreib /skills, /skills enable NAME oder /skills disable NAME.',
    noSwitch:
      'Dieser Coding-Agent hat keinen eigenen Befehl, der einen Skill ein- oder ausschaltet. Verschieb den Ordner des Skills, oder leg ihn zurück.',
    switched: (said) => `${said || 'Erledigt.'}\nEine laufende Session liest es, wenn sie neu startet.`,
    noSkills: 'Keine Skills hier: weder beim Agent noch in den Ordnern des Projekts und des Benutzers.',
    offered: (title) => `${title} bietet in dieser Session:`,
    inFolders: 'In den Ordnern des Projekts und des Benutzers:',
    useSkill: 'Schick /NAME und wofür, um einen zu benutzen.',
    switchSkill: '/skills enable NAME und /skills disable NAME schalten einen ein und aus.',
  },

  costs: {
    any: {
      needs: 'Braucht den Befehl in config.json und dessen eigenen Login.',
      cost: 'Wird abgerechnet wie dieser Befehl.',
    },
    gemini: {
      needs: 'Braucht das installierte Programm und dessen Login.',
      cost: 'Läuft über diesen Login oder Key. Ob das Kontingent so eine Session zählt wie die im Terminal, ist nicht bekannt.',
    },
    claude: {
      needs:
        'Braucht das installierte Programm, dessen Login und einen Adapter (etwa 80 MB, beim ersten Mal installiert).',
      cost: 'Zählt als Nutzung durch ein anderes Produkt über das Agent SDK, nicht als deine interaktive Session. Anthropic hat das mit dem Login eines Abos im Februar 2026 verboten, im Mai ein eigenes Guthaben dafür angekündigt und es im Juni ausgesetzt; Späteres ist nicht bekannt, und was eine Session kostet, wurde nicht gemessen. Sieh in die Bedingungen, bevor du dich auf das Abo verlässt; ein API-Key wird als dieser Key abgerechnet.',
    },
    codex: {
      needs:
        'Braucht das installierte Programm, dessen Login und einen Adapter (etwa 25 MB, beim ersten Mal installiert).',
      cost: 'Läuft über diesen Login oder Key. Wie ein Abo so eine Session zählt, ist nicht bekannt.',
    },
    agy: {
      needs:
        'Braucht den zugehörigen ACP-Server und für ihn einen Login oder einen API-Key; der Login des Terminals gilt dort nicht. Von wa-sync nicht getestet.',
      cost: 'Wird über diesen Login oder Key abgerechnet. Der Hersteller hat die Nutzung des Logins durch andere Programme einen Verstoß genannt; dieser ACP-Server ist sein eigener.',
    },
  },

  details: {
    labels: { thoughts: 'Gedanken', changes: 'Änderungen', output: 'Ausgabe' },
    changes: 'Was der Turn geändert hat',
    output: 'Was die Tools ausgegeben haben',
    tool: 'Tool',
    nothingYet: 'Noch nichts.',
    restLost: '… der Rest wurde nicht aufgehoben.',
    cut: '… gekürzt',
    notKept:
      'Das wird nur für die letzten Turns aufgehoben und nicht über einen Neustart von wa-sync hinaus. Es steht in der Session des Coding-Agents.',
    noThoughts:
      'Keine Gedanken hier. wa-sync sieht die von Sessions, die von hier aus begonnen wurden (/new), wenn der Agent sie mitteilt; die einer Session im Terminal bleiben dort.',
  },

  stream: {
    runs: {
      execute: 'Führt aus',
      edit: 'Ändert',
      delete: 'Löscht',
      move: 'Verschiebt',
      read: 'Liest',
      search: 'Sucht',
      fetch: 'Ruft ab',
      think: 'Sub-Agent',
    },
    runsOther: 'Benutzt',
    short: {
      execute: 'Befehl',
      edit: 'ändern',
      delete: 'löschen',
      move: 'verschieben',
      read: 'lesen',
      search: 'suchen',
      fetch: 'abrufen',
      think: 'Sub-Agent',
    },
    aTool: 'ein Tool',
    tool: 'Tool',
    others: (count) => ` (und ${count} weitere)`,
    plan: (done, all) => `Plan: ${done} von ${all} erledigt`,
    planNow: (text) => `, jetzt ${text}`,
  },

  asks: {
    otherRequest: `Dieser Button gehört zu einer anderen Anfrage. ${undecided}`,
    tooLate: `Zu spät: der Agent wartet nicht mehr darauf. ${undecided}`,
    unknownButton: `Diesen Button kennt wa-sync nicht. ${undecided}`,
    stoppedByPolicy: (why) => `Von deiner Policy gestoppt: ${why}.`,
    ruleOver: `Diese Regel wartet auf keinen zweiten Tipp. ${undecided}`,
    noName: '(ohne Namen)',
    nothing: '(nichts)',
    lasting: '♾ = eine dauerhafte Regel des Agents; wa-sync kann sie nicht zurücknehmen.',
    sure: '♾ Diese Regel bleibt: was sie abdeckt, fragt der Agent von nun an nicht mehr, und wa-sync kann sie nicht zurücknehmen. In den Worten des Agents:',
    yesLasting: 'Ja, als dauerhafte Regel',
    cancel: '⛔ Anfrage abbrechen',
    wholeDiff: 'Ganzer Diff',
    wholeChange: 'Die ganze Änderung',
    wholeChangeBelow: 'Die ganze Änderung:',
    agentAsks: 'Der Agent fragt:',
    step: (at, all) => `${at} von ${all}: `,
    severalChoices: ' (mehrere)',
    behind: 'Dieser Teil des Formulars liegt hinter dir; „Zurück“ führt wieder hin.',
    behindUnused: `Dieser Teil des Formulars liegt hinter dir. ${unused}`,
    needsAnswer: 'Dieses Feld braucht eine Antwort, bevor es weitergeht.',
    oneOfChoices: 'Bei diesem Feld geht nur, was zur Wahl steht.',
    replyWith: (field) => `Antworte auf diese Nachricht mit deiner Antwort. ${field}`,
    replyHint: 'Deine Antwort',
    empty: 'Dieser Text ist leer. Das Formular wartet weiter.',
    tooLong: (characters, most) =>
      `Dieser Text hat ${characters} Zeichen, eine Antwort höchstens ${most}. Das Formular wartet weiter.`,
    unused,
    overUnused: `Diese Frage ist nicht mehr offen. ${unused}`,
    write: '✏️ Antworten…',
    moreChoices: 'Mehr zur Wahl',
    skip: 'Überspringen',
    send: 'Senden',
    next: 'Weiter',
    decline: 'Nicht antworten',
    ok: 'OK',
  },
};
