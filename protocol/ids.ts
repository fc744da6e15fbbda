// Names of things on the wire. Pure string work: the hooks bundle it.

/** `msg_<epoch>_<project>_<seq>`, numbers in base 36. A negative project does not exist. */
export function messageId(epoch: string, project: number, seq: number): string {
  return `msg_${epoch}_${project.toString(36)}_${seq.toString(36)}`;
}

export interface MessageIdParts {
  epoch: string;
  project: number;
  seq: number;
}

export function parseMessageId(id: string): MessageIdParts | undefined {
  const match = /^msg_([a-z0-9]{1,32})_([a-z0-9]{1,11})_([a-z0-9]{1,11})$/.exec(id);
  if (!match) return undefined;
  const [, epoch = '', project = '', seq = ''] = match;
  return { epoch, project: Number.parseInt(project, 36), seq: Number.parseInt(seq, 36) };
}

/** Names a bound project in journal lines, state file names and log lines, e.g. `1000001.0` or `-100123.12`. */
export function projectKey(mailbox: string, project: number): string {
  return `${mailbox}.${project}`;
}

/** The project's number in a `projectKey()`. */
export function projectNumber(key: string): number {
  return Number(key.slice(key.lastIndexOf('.') + 1));
}

/** The Mailbox object of a chat, `account` = the relay's own id at the chat's platform; derived, so that no directory is needed. */
export function mailboxName(account: string, chatId: string): string {
  return `v1:${account}:${chatId}`;
}

export function parseMailboxName(name: string): { account: string; chatId: string } | undefined {
  const [, account, chatId] = /^v1:([^:]+):([^:]+)$/.exec(name) ?? [];
  return account === undefined || chatId === undefined ? undefined : { account, chatId };
}

/** Whether a text names the message: the id of one message may begin that of another. */
export function namesId(text: string, id: string): boolean {
  for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
    if (!/[0-9a-z]/.test(text.charAt(at + id.length))) return true;
  }
  return false;
}
