// Whatever may come in from outside: any JSON, objects that look like what we know with anything in them, any bytes.

import fc from 'fast-check';

/** A JSON value as text would bring it, with the keys that a careless merge trips over. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown> },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('{"__proto__":{"read":true}}', '{"constructor":1}', '[[[[[]]]]]', '1e999', '-0', '"\\ud800"')
      .map((text) => JSON.parse(text) as unknown),
  },
);

type Path = (string | number)[];

/** Every place in a value, outermost first. */
function placesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]))];
}

/** A copy with another value at one place; `undefined` takes the place away. */
function withValueAt(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
  if (key === undefined) return put;
  if (typeof value !== 'object' || value === null) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  const inner = withValueAt(copy[key], rest, put);
  if (inner === undefined) delete copy[key];
  else Object.defineProperty(copy, key, { value: inner, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** A recorded value with up to three places changed: taken away, of another type, too large, or from somewhere else in it. */
export function mutated(recorded: readonly unknown[]): fc.Arbitrary<unknown> {
  const change = fc.record({
    place: fc.nat(),
    put: fc.oneof(
      fc.constantFrom<unknown>(
        undefined,
        null,
        '',
        0,
        -1,
        2 ** 53,
        2 ** 53 - 1,
        -(2 ** 53 - 1),
        1.5,
        true,
        [],
        {},
        'x'.repeat(5_000),
        '/status',
        'stop',
        '\u0000',
        '\ud800',
      ),
      anyJson,
    ),
  });
  return fc.tuple(fc.constantFrom(...recorded), fc.array(change, { maxLength: 3 })).map(([start, changes]) =>
    changes.reduce<unknown>((value, { place, put }) => {
      const places = placesOf(value);
      return withValueAt(value, places[place % places.length] ?? [], put);
    }, start),
  );
}

/** What stands on a pipe: JSON, torn JSON, or anything. */
export function anyBytes(json: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array> {
  const text = json.map((value) => JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 3, arbitrary: text.map((whole) => Buffer.from(whole)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(text, fc.nat())
        .map(([whole, cut]) => Buffer.from(whole).subarray(0, cut % (whole.length + 1))),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(text, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 })).map(([whole, at, put]) => {
        const bytes = Buffer.from(whole);
        const cut = at % (bytes.length + 1);
        return Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(cut)]);
      }),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }) },
  );
}
