// Which targets may become a link entity: the chat server refuses the whole message for one wrong URL.
// Must never pass a doubtful target; doubtful targets are shown as text.

const maxUrlUnits = 2048;

/** The URL for a `text_link` entity: http or https, a host with a dot or an IPv6 address, no credentials; else null. */
export function linkUrl(target: string): string | null {
  let url: URL;
  try {
    url = new URL(target);
  } catch {
    return null;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  if (url.username !== '' || url.password !== '') return null;
  if (!/^(?:[a-z0-9_-]+\.)+[a-z0-9_-]+$/.test(url.hostname) && !url.hostname.startsWith('[')) return null;
  // The parser repairs blanks and backslashes and the server does not, so the server gets the repaired form of such a target.
  const asWritten = /^https?:\/\/[!-[\]-~]+$/i.test(target) && target.slice(0, -1).includes(url.host);
  const chosen = asWritten ? target : url.href;
  return chosen.length <= maxUrlUnits ? chosen : null;
}

/** The text for a target that cannot be a link; null when the label already shows the target or the target is empty. */
export function shownTarget(target: string, label: string): string | null {
  const bare = target.replace(/^(?:mailto|tel):/i, '');
  if (bare === '' || bare.startsWith('#') || bare === label.trim() || target === label.trim()) return null;
  return bare;
}

/** True when the chat client makes the link by itself. */
export function isSelfLabelled(target: string, label: string): boolean {
  return target === label || target === `http://${label}` || target === `mailto:${label}`;
}
