// Which targets may become a link entity: the chat server refuses the whole message for one wrong URL.
// Must never pass a target it is not sure of; such targets are shown as text.

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
  // The parser repairs blanks, backslashes and the like; the server does not, so it gets the repaired form then.
  const asWritten = /^https?:\/\/[!-[\]-~]+$/i.test(target) && target.slice(0, -1).includes(url.host);
  const chosen = asWritten ? target : url.href;
  return chosen.length <= maxUrlUnits ? chosen : null;
}

/** What to show of a target that cannot be a link; null when the label says it already or it leads nowhere. */
export function shownTarget(target: string, label: string): string | null {
  const bare = target.replace(/^(?:mailto|tel):/i, '');
  if (bare === '' || bare.startsWith('#') || bare === label.trim() || target === label.trim()) return null;
  return bare;
}

/** The chat client links these by itself. */
export function isSelfLabelled(target: string, label: string): boolean {
  return target === label || target === `http://${label}` || target === `mailto:${label}`;
}
