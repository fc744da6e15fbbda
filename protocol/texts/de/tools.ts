// German: what a tool of the coding agent is about to do, does, and is called. By the name of the act.

import type { tools as english } from '../en/tools.ts';

export const tools: typeof english = {
  asks: {
    run: () => 'Befehl ausführen?',
    write: (file) => `${file ?? 'Eine Datei'} schreiben?`,
    edit: (file) => `${file ?? 'Eine Datei'} ändern?`,
    read: (file) => `${file ?? 'Dateien'} lesen?`,
    list: () => 'Dateien auflisten?',
    search: () => 'In Dateien suchen?',
    address: () => 'Eine Adresse abrufen?',
    webSearch: () => 'Im Web suchen?',
    ask: () => 'Dich etwas fragen?',
  },
  asksOther: (tool) => `${tool} benutzen?`,
  runs: {
    run: 'Führt aus',
    write: 'Schreibt',
    edit: 'Ändert',
    read: 'Liest',
    list: 'Listet Dateien auf',
    search: 'Sucht',
    address: 'Ruft ab',
    webSearch: 'Sucht im Web',
    ask: 'Fragt am Terminal',
  },
  runsOther: (tool) => `Benutzt ${tool}`,
  short: {
    run: 'Befehl',
    write: 'schreiben',
    edit: 'ändern',
    read: 'lesen',
    list: 'auflisten',
    search: 'suchen',
    address: 'abrufen',
    webSearch: 'Websuche',
    ask: 'Frage',
  },
  own: (tool) => `das Tool ${tool}`,
  ofServer: (tool, server) => `${tool} vom MCP-Server ${server}`,
};
