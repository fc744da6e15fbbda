import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmacWith, sha256Hex } from '../../agent/crypto.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.nat(200).map((length) => 'x'.repeat(length)),
);

describe('the digest that hooks make without node:crypto', () => {
  it('is SHA-256', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(sha256Hex(value)).toBe(createHash('sha256').update(value, 'utf8').digest('hex'));
      }),
    );
  });

  it('is HMAC-SHA-256 with a key', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f]{1,64}$/), text, (key, value) => {
        const expected = createHmac('sha256', key).update(value, 'utf8').digest('hex');
        expect(hmacWith(key)(value)).toBe(expected);
        expect(hmacWith(key, (bytes) => createHash('sha256').update(bytes).digest())(value)).toBe(expected);
      }),
    );
  });
});
