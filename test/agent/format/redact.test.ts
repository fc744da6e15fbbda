import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RedactionOptions } from '../../../agent/format/redact.ts';
import { createRedactor } from '../../../agent/format/redact.ts';
import { builtInRules } from '../../../agent/format/secrets.ts';

const options = (more: Partial<RedactionOptions> = {}): RedactionOptions => ({
  own: [],
  kinds: { secrets: true, cards: false, iban: false, ssn: false },
  patterns: [],
  ...more,
});

const redact = createRedactor(options());
const everything = createRedactor(
  options({ kinds: { secrets: true, cards: true, iban: true, ssn: true }, own: ['own/secret+1234'] }),
);

// Put together at run time, so that no scanner takes this file for a leak.
const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL';
const random = (length: number) => letters.repeat(Math.ceil(length / letters.length)).slice(0, length);
const upper = (length: number) => random(length).toUpperCase();
const join = (...parts: string[]) => parts.join('');

const begin = '-----BEGIN RSA PRIVATE KEY-----';
const body = `${random(64)}\n${random(64)}\n${random(20)}==`;

const hidden: [title: string, text: string, expected: string][] = [
  ['a private key', `a\n${begin}\n${body}\n-----END RSA PRIVATE KEY-----\nb`, 'a\n[redacted:private-key]\nb'],
  ['a private key that was cut off', `a\n${begin}\n${random(64)}\n${random(11)}`, 'a\n[redacted:private-key]'],
  [
    'a cut private key, but not the prose after it',
    `${begin}\n${body}\n\nNow it works.`,
    '[redacted:private-key]\n\nNow it works.',
  ],
  [
    'a cut private key and the whole one after it',
    `${begin}\n${random(64)}\nNext: ${begin}\n${body}\n-----END RSA PRIVATE KEY-----`,
    '[redacted:private-key]\nNext: [redacted:private-key]',
  ],
  [
    'a private key inside JSON',
    `"${begin}\\n${random(64)}\\n-----END RSA PRIVATE KEY-----\\n"`,
    '"[redacted:private-key]\\n"',
  ],
  ['a Telegram bot token', `use ${join('123456789', ':AA', random(33))} now`, 'use [redacted:bot-token] now'],
  [
    'a bot token in a URL',
    `https://api.telegram.org/bot${join('123456789', ':AA', random(33))}/getMe`,
    'https://api.telegram.org/bot[redacted:bot-token]/getMe',
  ],
  ['a GitHub token', join('gh', 'p_', random(36)), '[redacted:github-token]'],
  [
    'a fine-grained GitHub token',
    `(${join('github', '_pat_', random(22), '_', random(59))})`,
    '([redacted:github-token])',
  ],
  ['a GitLab token', join('gl', 'pat-', random(20)), '[redacted:gitlab-token]'],
  ['an Anthropic key', join('sk-', 'ant-api03-', random(90)), '[redacted:anthropic-key]'],
  ['an OpenAI key', join('sk-', 'proj-', random(48)), '[redacted:openai-key]'],
  ['a Google key', join('AI', 'za', random(35)), '[redacted:google-key]'],
  ['an AWS access key', join('AK', 'IA', upper(16)), '[redacted:aws-key]'],
  [
    'an AWS secret key by its name',
    `aws_secret_access_key = ${join(random(30), '/+', random(8))}`,
    'aws_secret_access_key = [redacted:secret]',
  ],
  ['a Cloudflare token by its name', `CLOUDFLARE_API_TOKEN=${random(40)}`, 'CLOUDFLARE_API_TOKEN=[redacted:secret]'],
  [
    'a Cloudflare token by its form',
    join('v1', '.0-', 'a1'.repeat(12), '-', 'b2'.repeat(73)),
    '[redacted:cloudflare-token]',
  ],
  ['a Slack token', join('xo', 'xb-', '123456789012-', random(24)), '[redacted:slack-token]'],
  ['a Stripe key', join('sk', '_live_', random(24)), '[redacted:stripe-key]'],
  [
    'an npm token',
    `//registry/:_authToken=${join('np', 'm_', random(36))}`,
    '//registry/:_authToken=[redacted:npm-token]',
  ],
  ['a JWT', join('ey', 'J', random(30), '.ey', random(40), '.', random(43)), '[redacted:jwt]'],
  ['a token after an escaped newline', `x\\n${join('gh', 'p_', random(36))}`, 'x\\n[redacted:github-token]'],
  ['a bearer header', `Authorization: Bearer ${random(32)}`, 'Authorization: Bearer [redacted:authorization]'],
  [
    'a basic header',
    `-H "authorization: Basic ${Buffer.from('me:secret word').toString('base64')}"`,
    '-H "authorization: Basic [redacted:authorization]"',
  ],
  ['a password in a URL', 'postgres://app:s3cr3t@db:5432/x', 'postgres://app:[redacted:url-password]@db:5432/x'],
  [
    'a password for curl',
    'curl -s -u me:hunter22 https://example.com',
    'curl -s -u me:[redacted:curl-user] https://example.com',
  ],
  ['an assignment in an env file', 'DB_PASSWORD=correct-horse-battery', 'DB_PASSWORD=[redacted:secret]'],
  ['an assignment in code', `const apiKey = "${random(24)}";`, 'const apiKey = "[redacted:secret]";'],
  ['an assignment in YAML', `  client_secret: ${random(24)}\n`, '  client_secret: [redacted:secret]\n'],
  ['an assignment in JSON', `{"accessToken":"${random(24)}"}`, '{"accessToken":"[redacted:secret]"}'],
  ['an assignment in escaped JSON', `{\\"password\\":\\"${random(12)}\\"}`, '{\\"password\\":\\"[redacted:secret]\\"}'],
  ['a token in a query', `?access_token=${random(24)}&x=1`, '?access_token=[redacted:secret]&x=1'],
];

const kept: [title: string, text: string][] = [
  ['a git hash', 'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)'],
  ['a short git log', '641f424 Render Markdown\nd60c4a0 Turn rules'],
  ['a UUID', 'request 550e8400-e29b-41d4-a716-446655440000 failed'],
  ['a digest', 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['an integrity line', `"integrity": "sha512-${random(86)}=="`],
  [
    'code about tokens',
    'const token = await tokenizer.next2(); if (token === undefined) throw new TypeError("no token");',
  ],
  [
    'types',
    'interface Login { password: string; token: TokenV2; secretName: "my-app-secret-v2"; accessKey?: string | null }',
  ],
  [
    'a reference to the environment',
    'password: process.env.DB_PASSWORD1, token=$GITHUB_TOKEN2, SECRET=$VAULT_SECRET1 API_KEY=<your-key>',
  ],
  ['counts', 'max_tokens: 12345678, MAX_TOKENS=200000, token_limit=100000000, "totalTokens": 987654321'],
  ['a path', 'PRIVATE_KEY_FILE=/run/secrets/key1 password_file: ./config/p4ssword.txt'],
  [
    'prose',
    'The password is stored hashed; the secret: never log tokens. Basic authentication and bearer authentication work.',
  ],
  ['a URL with a port', 'http://localhost:3000/a@b and git@github.com:me/repo.git and ssh://git@host:22/x'],
  ['a time and a ratio', '12:30:45 took 1234567890:1 of 1699999999999'],
  [
    'a name that begins like a key',
    'task-list-with-a-very-long-name-2024-and-more sk-learn npm_config_registry hf_transformers AKIA',
  ],
  ['a bare word about a key', 'put it between -----BEGIN and -----END lines'],
  ['a function call', 'createSecret(password, { token: getToken() }); secret = hash(password)'],
];

describe('redaction', () => {
  it.each(hidden)('hides %s', (_title, text, expected) => {
    expect(redact(text).text).toBe(expected);
  });

  it.each(kept)('leaves %s alone', (_title, text) => {
    expect(redact(text)).toEqual({ text, counts: {} });
  });

  it('counts what it hid by kind', () => {
    const text = `${join('gh', 'p_', random(36))} ${join('gh', 'o_', random(36))} https://a:b1c2@example.com`;
    expect(redact(text).counts).toEqual({ 'github-token': 2, 'url-password': 1 });
  });

  it('hides the tokens of wa-sync wherever they stand, also percent-encoded', () => {
    expect(everything('xown/secret+1234y own%2Fsecret%2B1234')).toEqual({
      text: 'x[redacted:own-token]y [redacted:own-token]',
      counts: { 'own-token': 2 },
    });
  });

  it('ignores own tokens that are too short to be tokens', () => {
    expect(createRedactor(options({ own: ['', 'a'] }))('a banana').text).toBe('a banana');
  });

  it('hides cards, IBANs and social security numbers only when asked to', () => {
    const text = 'card 4111 1111 1111 1111, iban DE89 3704 0044 0532 0130 00 AND ssn 123-45-6789.';
    expect(redact(text)).toEqual({ text, counts: {} });
    expect(everything(text)).toEqual({
      text: 'card [redacted:card], iban [redacted:iban] AND ssn [redacted:ssn].',
      counts: { card: 1, iban: 1, ssn: 1 },
    });
  });

  it('leaves numbers with a wrong checksum or form alone', () => {
    const text =
      '4111 1111 1111 1112, DE88 3704 0044 0532 0130 00, 123456789, 000-12-3456, 1699999999999, 3.4111111111111111';
    expect(everything(text)).toEqual({ text, counts: {} });
  });

  it('hides what the owner names', () => {
    const own = createRedactor(options({ patterns: [{ name: 'customer', source: '\\bcust-\\d+', flags: 'i' }] }));
    expect(own('CUST-12 and cust-3')).toEqual({
      text: '[redacted:customer] and [redacted:customer]',
      counts: { customer: 2 },
    });
  });

  it('is not stopped by an own pattern that matches nothing or its own marks', () => {
    const own = createRedactor(options({ patterns: [{ name: 'any', source: '\\w*' }] }));
    expect(own('a b')).toEqual({ text: '[redacted:any] [redacted:any]', counts: { any: 2 } });
    expect(own('[redacted:any]').text).toBe('[redacted:any]');
  });

  it.each([
    [{ name: 'open', source: '(' }, /^The redaction pattern open is not a valid regular expression: /],
    [
      { name: 'Bad Name', source: 'x' },
      'The redaction pattern name "Bad Name" must be 1 to 32 characters of a-z, 0-9 and -.',
    ],
    [
      { name: 'flags', source: 'x', flags: 'y' },
      'The redaction pattern flags has the flags "y"; possible: i, m, s and u.',
    ],
  ])('refuses an own pattern that cannot be used: %j', (pattern, message) => {
    expect(() => createRedactor(options({ patterns: [{ name: 'fine', source: 'x' }, pattern] }))).toThrow(
      expect.objectContaining({
        code: 'bad_config',
        hint: 'Correct redact.patterns in config.json.',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    );
  });

  it('changes nothing the second time', () => {
    const fragments = fc.constantFrom(
      ...hidden.map(([, text]) => text),
      ...[
        '4111111111111111',
        'DE89370400440532013000',
        '123-45-6789',
        'own/secret+1234',
        'password: ',
        'TOKEN=',
        '"',
        ' ',
        '\n',
        '-',
      ],
      ...['Bearer ', 'https://a:', '@', ':', '.', '[redacted:', ']', '[redacted:x]', 'eyJ', 'sk-', begin, 'word'],
    );
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 12 }), (parts) => {
        const once = everything(parts.join('')).text;
        expect(everything(once)).toEqual({ text: once, counts: {} });
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['one letter', 'a'],
    ['one digit', '1'],
    ['digits and blanks', '4 1'],
    ['capitals and digits', 'DE89'],
    ['the beginning of a JWT', 'eyJ'],
    ['JWT parts', 'eyJaaaaaaaa.'],
    ['separated JWT parts', 'eyJaaaaaaaa-'],
    ['key headers', '-----BEGIN PRIVATE KEY-----\n'],
    ['key headers and lines', `-----BEGIN PRIVATE KEY-----\n${random(40)}\n`],
    ['names of secrets', 'token'],
    ['assignments', 'token=token:'],
    ['opaque assignments', `token=${random(20)} `],
    ['almost names', 'token=a_a_a_a_a_a_a_a_1_'],
    ['URLs', 'a://'],
    ['users', 'a://b:'],
    ['schemes', 'a+b.c-'],
    ['headers', 'authorization: bearer '],
    ['curl', 'curl -u '],
    ['dashes', '-'],
    ['blanks', ' '],
    ['newlines', '\n'],
    ['prefixes', 'sk-'],
  ])('gets through a megabyte of %s', (_title, unit) => {
    const text = unit.repeat(Math.ceil(2 ** 20 / unit.length));
    const once = everything(text).text;
    expect(everything(once).text).toBe(once);
  });
});

describe('the work of redaction', () => {
  const own = ['own/secret+1234', 'other-secret-of-ours'];
  const redactor = createRedactor(
    options({ own, kinds: { secrets: true, cards: true, iban: true, ssn: true }, patterns: [] }),
  );
  /** Milliseconds of the processor, which other programs do not add to; the shortest of some tries. */
  const shortest = (text: string) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const start = process.cpuUsage();
        redactor(text);
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1_000;
      }),
    );
  const units = [
    ...['xoxb-', 'xoxb-aaaaaaaaaaa ', 'TOKEN=abcdef ', 'TOKENTOKEN', 'curl -u a:', 'a://a:', 'a:', `${begin}a `],
    ...[
      `${begin}\n${random(24)} a`,
      'eyJaaaaaaaa.',
      '4111 1111 1111 1111 ',
      'AA00 ',
      'a\u200b',
      '123-45-6789 ',
      'token is ',
    ],
    ...[
      `123456789:${random(35)}`,
      `${own[0]}`,
      `1234567:${random(33)}${own[0]}`,
      `${join('gh', 'p_')}${random(36)}`,
      '\u200b',
    ],
  ];

  it('grows no faster than the text, for any content', () => {
    const of = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    redactor(of('token=a1b2c3d4e5f6 ', 10_000));
    const faster = units.flatMap((unit) => {
      // Eight times the text: linear work takes about eight times as long, quadratic work 64 times.
      const [small, large] = [shortest(of(unit, 8_000)), shortest(of(unit, 64_000))];
      return large / Math.max(small, 2) > 40 ? [`${unit.slice(0, 30)}: ${small} ms, ${large} ms`] : [];
    });
    expect(faster).toEqual([]);
  });

  it('hides a token that zero-width or other invisible characters cut in pieces', () => {
    const token = join('gh', 'p_', random(36));
    for (const hiddenChar of ['\u200b', '\u2060', '\ufeff', '\u00ad', '\u{e0061}']) {
      const cut = [...token].join(hiddenChar);
      expect(redactor(`key ${cut} and ${token}`).text).toBe('key [redacted:github-token] and [redacted:github-token]');
    }
  });

  it('finds what the owner names at any place of a long text', () => {
    const customer = createRedactor(options({ patterns: [{ name: 'customer', source: 'cust-\\d{1,2000}' }] }));
    for (const at of [0, 49_152, 65_530, 65_536, 150_000]) {
      const text = `${'x'.repeat(at)}cust-${'1'.repeat(1_000)}${'y'.repeat(70_000)}`;
      expect(customer(text).text).toBe(`${'x'.repeat(at)}[redacted:customer]${'y'.repeat(70_000)}`);
    }
  });

  it('names each pattern that is built in, and none of them repeats a repetition without a bound', () => {
    const rules = Object.values(builtInRules).flat();
    expect(rules.length).toBeGreaterThan(25);
    const nested = /[+*]\)[+*]|[+*]\)\{\d+,\}/;
    expect(rules.filter(({ pattern }) => nested.test(pattern.source))).toEqual([]);
  });
});
