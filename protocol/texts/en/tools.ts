// English: what a tool of the coding agent is about to do, does, and is called. By the name of the act.

/** Clauses of the past. */
const ran = {
  run: 'a command ran',
  write: 'a file was written',
  edit: 'a file was edited',
  read: 'files were read',
  list: 'files were listed',
  search: 'files were searched',
  address: 'an address was fetched',
  webSearch: 'the web was searched',
  ask: 'a question was asked at the terminal',
};

export const tools = {
  ran,
  /** The same behind "before". */
  before: ran,
  ranOther: (tool: string) => `${tool} ran`,
  /** The question above a call; `file` undefined = not named in one line. */
  asks: {
    run: () => 'Run a command?',
    write: (file: string | undefined) => `Write ${file ?? 'a file'}?`,
    edit: (file: string | undefined) => `Edit ${file ?? 'a file'}?`,
    read: (file: string | undefined) => `Read ${file ?? 'files'}?`,
    list: () => 'List files?',
    search: () => 'Search in files?',
    address: () => 'Fetch an address?',
    webSearch: () => 'Search the web?',
    ask: () => 'Ask you something?',
  },
  asksOther: (tool: string) => `Use ${tool}?`,
  runs: {
    run: 'Running',
    write: 'Writing',
    edit: 'Editing',
    read: 'Reading',
    list: 'Listing files',
    search: 'Searching',
    address: 'Fetching',
    webSearch: 'Searching the web',
    ask: 'Asking at the terminal',
  },
  runsOther: (tool: string) => `Using ${tool}`,
  short: {
    run: 'command',
    write: 'write',
    edit: 'edit',
    read: 'read',
    list: 'list',
    search: 'search',
    address: 'fetch',
    webSearch: 'web search',
    ask: 'question',
  },
  own: (tool: string) => `the tool ${tool}`,
  ofServer: (tool: string, server: string) => `${tool} of the MCP server ${server}`,
};
