import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  append,
  member,
  parseNodes,
  plainJson,
  remove,
  replace,
} from '../../../../agent/drivers/gemini/install-json-text.ts';

describe('editing JSON as text', () => {
  it('finds every value where JSON.parse finds it', () => {
    const text = '\ufeff { "a\\"}" : [ 1, -2.5e3 ,true,null, "\\\\", {} , [ ] ], "b":{"c":"],}"},"b" : 2 }\n';
    const root = parseNodes(text);
    const texts = (node: ReturnType<typeof parseNodes>): unknown =>
      node.items.map(({ key, value }) => [
        key,
        value.items.length > 0 ? texts(value) : text.slice(value.start, value.end),
      ]);
    expect(texts(root)).toEqual([
      ['a"}', ['1', '-2.5e3', 'true', 'null', '"\\\\"', '{}', '[ ]'].map((value) => [undefined, value])],
      ['b', [['c', '"],}"']]],
      ['b', '2'],
    ]);
    expect(text.slice(member(root, 'b')?.start, member(root, 'b')?.end)).toBe('2');
  });

  it('appends in the style of the file', () => {
    const add = (text: string) => append(text, parseNodes(text), 'k', { x: [1] });
    expect(add('{}')).toBe('{\n  "k": {\n    "x": [\n      1\n    ]\n  }\n}');
    expect(add('{"a":1}')).toBe('{"a":1,"k":{"x":[1]}}');
    expect(add('{\r\n\t"a": 1\r\n}\r\n')).toBe(
      '{\r\n\t"a": 1,\r\n\t"k": {\r\n\t\t"x": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n',
    );
    const nested = '{\n    "list": ["a"],\n    "none": []\n}';
    const list = (text: string, key: string) => member(parseNodes(text), key) ?? parseNodes('[]');
    expect(append(nested, list(nested, 'list'), undefined, { x: 1 })).toBe(
      '{\n    "list": ["a", {"x":1}],\n    "none": []\n}',
    );
    expect(append(nested, list(nested, 'none'), undefined, { x: 1 })).toBe(
      '{\n    "list": ["a"],\n    "none": [\n        {\n            "x": 1\n        }\n    ]\n}',
    );
  });

  it('replaces a value and nothing around it', () => {
    const text = '{\n  "a": {\n    "b": 1\n  }, "c": {"d":2}\n}';
    const at = (key: string) => member(parseNodes(text), key) ?? parseNodes('[]');
    expect(replace(text, at('a'), { e: 3 })).toBe('{\n  "a": {\n    "e": 3\n  }, "c": {"d":2}\n}');
    expect(replace(text, at('c'), { e: 3 })).toBe('{\n  "a": {\n    "b": 1\n  }, "c": {"e":3}\n}');
  });

  it('finds values between comments, and takes no part of a string for a comment', () => {
    const text = '// {\n{ /* "a": 0, */ "a": "/* b */" // ,\n, "c": [ 1, // 2\n 3 ] }';
    const root = parseNodes(text);
    expect(root.items.map(({ key, value }) => [key, text.slice(value.start, value.end)])).toEqual([
      ['a', '"/* b */"'],
      ['c', '[ 1, // 2\n 3 ]'],
    ]);
    expect(JSON.parse(plainJson(text))).toEqual({ a: '/* b */', c: [1, 3] });
  });

  it('keeps a comment next to its value', () => {
    const add = (text: string) => append(text, parseNodes(text), 'k', 1);
    expect(add('{\n  "a": 1 // of a, once\n  // the end\n}')).toBe(
      '{\n  "a": 1, // of a, once\n  // the end\n  "k": 1\n}',
    );
    expect(add('{ // none\n}')).toBe('{ // none\n  "k": 1\n}');
    expect(add('{"a":1/* a */}')).toBe('{"a":1,/* a */"k":1}');
    const drop = (text: string, index: number) => remove(text, parseNodes(text), index);
    expect(drop('[\n  1, // one, first\n  // two, next\n  2 // two\n]', 0)).toBe(
      '[\n  // one, first\n  // two, next\n  2 // two\n]',
    );
    expect(drop('[\n  1, // one, first\n  // two, next\n  2 // two\n]', 1)).toBe(
      '[\n  1 // one, first\n  // two, next // two\n]',
    );
    expect(drop('[ /* none */ 1 ]', 0)).toBe('[ /* none */ ]');
  });

  it('gives the bytes back when what was appended is removed, whatever the document, its indentation and its comments', () => {
    const layout = fc.record({
      indent: fc.constantFrom(undefined, 1, 2, 4, '\t'),
      comment: fc.constantFrom('', ' // a, "b": {', ' /* ] */', ' /* a, */ // }'),
    });
    const document = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(document, layout, fc.jsonValue(), (value, { indent, comment }, added) => {
        const text = JSON.stringify(value, null, indent).replaceAll('\n', `${comment}\n`);
        const key = Array.isArray(value) ? undefined : 'wa added';
        const longer = append(text, parseNodes(text), key, added);
        const expected = Array.isArray(value) ? [...value, added] : { ...value, 'wa added': added };
        // Compared as JSON has it, which knows no -0.
        expect(JSON.parse(plainJson(longer))).toEqual(JSON.parse(JSON.stringify(expected)));
        const root = parseNodes(longer);
        expect(remove(longer, root, root.items.length - 1)).toBe(text);
      }),
    );
  });
});
