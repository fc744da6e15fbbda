// Secrets are compared by their digests, in constant time.

const encoder = new TextEncoder();

export async function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', encoder.encode(text));
}

/** False when there is nothing to compare with. */
export async function isSecret(given: string | null, secret: string): Promise<boolean> {
  if (given === null || secret === '') return false;
  return crypto.subtle.timingSafeEqual(await sha256(given), await sha256(secret));
}
