import fc from 'fast-check';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import {
  append,
  itemsOf,
  member,
  parseJson,
  plainJson,
  remove,
  replace,
} from '../../../../agent/drivers/install/json-text.ts';

const at = (text: string, ...path: (string | number)[]) => findNodeAtLocation(parseJson(text), path) as Node;

describe('an edit of JSON as text', () => {
  it('finds the member that JSON.parse keeps, and no items in a value of another type', () => {
    const text = '\ufeff { "b":{"c":"],}"}, "a\\"}" : [ 1 ],"b" : 2 }\n';
    const root = parseJson(text);
    expect(member(root, 'b')?.value).toBe(2);
    expect(itemsOf(root, 'object').map(({ key }) => key)).toEqual(['b', 'a"}', 'b']);
    expect(itemsOf(member(root, 'a"}'), 'array').map(({ value }) => value.value)).toEqual([1]);
    expect([itemsOf(root, 'array'), itemsOf(undefined, 'object')]).toEqual([[], []]);
  });

  it('appends in the style of the file', () => {
    const add = (text: string) => append(text, parseJson(text), 'k', { x: [1] });
    expect(add('{}')).toBe('{\n  "k": {\n    "x": [\n      1\n    ]\n  }\n}');
    expect(add('{"a":1}')).toBe('{"a":1, "k": {"x":[1]}}');
    expect(add('{\r\n\t"a": 1\r\n}\r\n')).toBe(
      '{\r\n\t"a": 1,\r\n\t"k": {\r\n\t\t"x": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n',
    );
    const nested = '{\n    "list": ["a"],\n    "none": []\n}';
    expect(append(nested, at(nested, 'list'), undefined, { x: 1 })).toBe(
      '{\n    "list": ["a", {"x":1}],\n    "none": []\n}',
    );
    expect(append(nested, at(nested, 'none'), undefined, { x: 1 })).toBe(
      '{\n    "list": ["a"],\n    "none": [\n        {\n            "x": 1\n        }\n    ]\n}',
    );
  });

  it('replaces a value and nothing around the value', () => {
    const text = '{\n  "a": {\n    "b": 1\n  }, "c": {"d":2}\n}';
    expect(replace(text, at(text, 'a'), { e: 3 })).toBe('{\n  "a": {\n    "e": 3\n  }, "c": {"d":2}\n}');
    expect(replace(text, at(text, 'c'), { e: 3 })).toBe('{\n  "a": {\n    "b": 1\n  }, "c": {"e":3}\n}');
  });

  it('keeps a comment next to its value', () => {
    const add = (text: string) => append(text, parseJson(text), 'k', 1);
    expect(add('{\n  "a": 1 // of a, once\n  // the end\n}')).toBe(
      '{\n  "a": 1, // of a, once\n  // the end\n  "k": 1\n}',
    );
    expect(add('{ // none\n}')).toBe('{ // none\n  "k": 1\n}');
    expect(add('{"a":1/* a */}')).toBe('{"a":1,/* a */ "k": 1}');
    const numbers = '[\n  1, // one, first\n  // two, next\n  2 // two\n]';
    expect(remove(numbers, at(numbers, 0))).toBe('[\n   // one, first\n  // two, next\n  2 // two\n]');
    expect(remove(numbers, at(numbers, 1))).toBe('[\n  1 // one, first\n  // two, next\n // two\n]');
    const one = '[ /* none */ 1 ]';
    expect(remove(one, at(one, 0))).toBe('[ /* none */  ]');
  });

  it('removes a value with its lines', () => {
    const text = '{\n  "a": 1,\n  "b": {\n    "c": 2\n  },\n  "d": 3\n}\n';
    expect(remove(text, at(text, 'a'))).toBe('{\n  "b": {\n    "c": 2\n  },\n  "d": 3\n}\n');
    expect(remove(text, at(text, 'b'))).toBe('{\n  "a": 1,\n  "d": 3\n}\n');
    const line = '[1, // one\n 2]';
    expect(remove(line, at(line, 1))).toBe('[1 // one\n]');
    expect(remove(text, at(text, 'd'))).toBe('{\n  "a": 1,\n  "b": {\n    "c": 2\n  }\n}\n');
  });

  it('keeps every other value and every comment, whatever the document, its indentation and its comments', () => {
    const layout = fc.record({
      indent: fc.constantFrom(undefined, 1, 2, 4, '\t'),
      comment: fc.constantFrom('', ' // a, "b": {', ' /* ] */', ' /* a, */ // }'),
    });
    const document = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    // As JSON has the value, which knows no -0.
    const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
    fc.assert(
      fc.property(document, layout, fc.jsonValue(), fc.nat(), (value, { indent, comment }, added, which) => {
        const text = JSON.stringify(value, null, indent).replaceAll('\n', `${comment}\n`);
        const countOf = (each: string) => each.split(comment).length;
        const key = Array.isArray(value) ? undefined : 'wa added';
        const longer = append(text, parseJson(text), key, added);
        const expected = Array.isArray(value) ? [...value, added] : { ...value, 'wa added': added };
        expect(JSON.parse(plainJson(longer))).toEqual(asJson(expected));
        const restored = remove(longer, parseJson(longer).children?.at(-1) as Node);
        expect(JSON.parse(plainJson(restored))).toEqual(asJson(value));
        const index = which % Object.keys(expected).length;
        const shorter = remove(longer, parseJson(longer).children?.[index] as Node);
        const without = Array.isArray(expected)
          ? expected.toSpliced(index, 1)
          : Object.fromEntries(Object.entries(JSON.parse(plainJson(longer))).toSpliced(index, 1));
        expect(JSON.parse(plainJson(shorter))).toEqual(asJson(without));
        if (comment !== '') expect([longer, restored].map(countOf)).toEqual([countOf(text), countOf(text)]);
      }),
    );
  });
});
