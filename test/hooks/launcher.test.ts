import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allDrivers } from '../../agent/drivers/registry.ts';
import { hookHeaders } from '../../protocol/hook.ts';
import { aloneAfterSocketMs, aloneMs, hookLimits } from '../../protocol/limits.ts';
import {
  type Bench,
  chunk,
  chunkedHead,
  http,
  launcherFile,
  openBench,
  payloadFile,
  printed,
  type RunOptions,
  run,
  runLauncher,
  shells,
  until,
  whereIs,
} from './launcher-run.ts';

// Answers with what the launcher passed on, so that one value shows arguments, kept stdin and the reason for its turn.
const honestFallback = `
const chunks = [];
process.stdin.on('data', (c) => chunks.push(c));
process.stdin.on('end', () => {
  const stdin = Buffer.concat(chunks).toString('latin1');
  process.stdout.write(JSON.stringify({ args: process.argv.slice(2), stdin: stdin.length > 99 ? stdin.length : stdin }) + '\\n');
});`;
/** What the client gave back ends with a newline; where nobody asked the socket the fallback reads the stdin itself. */
const fromFallback = (tried: 0 | 1, event = 'BeforeAgent', max = '60', stdin = tried === 1 ? '{}\n' : '{}') => {
  const args = ['gemini', event, max, String(tried), String(process.pid)];
  return printed(`${JSON.stringify({ args, stdin })}\n`);
};
const held = ['gemini', 'AfterAgent', '86400', 'hold'];
/** Whose answer is asserted has time for it: the peer is a process with much else to do. */
const patient = ['gemini', 'BeforeAgent', '60x20'];
const nothing = printed('{}\n');

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

it('the launcher is a script for /bin/sh without a carriage return', async () => {
  const text = await readFile(launcherFile, 'utf8');
  expect(text.split('\n')[0]).toBe('#!/bin/sh');
  expect(text).not.toContain('\r');
});

it('a hook that is not held has given up before the time that was promised to its host', () => {
  const { answerMs, deadlineMs } = hookLimits;
  expect(answerMs + aloneAfterSocketMs).toBeLessThan(deadlineMs);
  expect(aloneMs).toBeLessThan(deadlineMs);
  expect(deadlineMs).toBeLessThan(500);
});

it('the launcher names no tool and no event', async () => {
  const text = await readFile(launcherFile, 'utf8');
  const names = allDrivers().flatMap(({ name, events }) => [name, ...Object.keys(events)]);
  expect(names.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

describe.each(shells)('the launcher under %s', (shell) => {
  const launch = (options: Omit<RunOptions, 'shell'> = {}) => runLauncher(bench, { ...options, shell });

  it('posts stdin and prints the answer of the daemon', async () => {
    const payload = await readFile(payloadFile('BeforeAgent'));
    await bench.listen((socket) => socket.end(http('200 OK', '{"a":"\\u2026 {} é…"}')));
    let pid = 0;
    const onStart = (started: number) => {
      pid = started;
    };
    expect(await launch({ args: patient, stdin: payload, onStart })).toEqual(printed('{"a":"\\u2026 {} é…"}\n'));
    const [request] = bench.requests;
    expect(request?.head.split('\r\n')[0]).toBe('POST /hook/gemini/BeforeAgent HTTP/1.1');
    expect(request?.head).toContain(`${hookHeaders.parentPid}: ${process.pid}\r\n`);
    expect(request?.head).toContain(`${hookHeaders.launcherPid}: ${pid}\r\n`);
    expect(request?.head).toContain(`${hookHeaders.maxSeconds}: 60\r\n`);
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual(JSON.parse(payload.toString()));
  });

  it('carries every byte but NUL, and a payload of several megabytes', async () => {
    await bench.listen((socket) => socket.end(http('200 OK', '{}')));
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1));
    const long = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(3_000_000, bytes), Buffer.from('"}')]);
    // Megabytes only where the time is not short: a busy machine may need more than the deadline of an ordinary event.
    const runs = [
      { stdin: bytes, args: patient },
      { stdin: bytes, args: held },
      { stdin: long, args: held },
    ];
    for (const { stdin, args } of runs) {
      expect(await launch({ stdin, args })).toEqual(nothing);
      const sent = bench.requests.at(-1)?.body ?? Buffer.alloc(0);
      expect(sent.equals(stdin)).toBe(true);
    }
  });

  it('prints an answer with every character that JSON leaves unescaped', async () => {
    const text = Array.from({ length: 0xd7ff }, (_, code) => String.fromCharCode(code + 1)).join('');
    const answer = JSON.stringify({ text, more: ['a{b', '{{', '\\', '*', '$(x)', '`x`', '%s'] });
    await bench.listen((socket) => socket.end(http('200 OK', answer)));
    expect(await launch({ args: patient })).toEqual(printed(`${answer}\n`));
    expect(await launch({ args: held })).toEqual(printed(`${answer}\n`));
  });

  it('cuts garbage before the object, in any amount', async () => {
    for (const garbage of ['hello\n', '\n'.repeat(1_500_000), 'x'.repeat(500_000)]) {
      const server = await bench.listen((socket) => socket.end(http('200 OK', `${garbage}{"a":{"b":{}}}\n`)));
      for (const args of [['gemini', 'SessionStart', '60x20'], held])
        expect(await launch({ args })).toEqual(printed('{"a":{"b":{}}}\n'));
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('waits through keep-alive newlines for a held answer and leaves no file', async () => {
    await bench.listen((socket) => {
      socket.write(chunkedHead);
      const newlines = chunk('\n'.repeat(hookLimits.keepAliveBytes));
      socket.write(newlines, () =>
        socket.write(newlines, () => socket.end(`${chunk('{"decision":"block",\n"reason":"go"}')}0\r\n\r\n`)),
      );
    });
    expect(await launch({ args: held })).toEqual(printed('{"decision":"block",\n"reason":"go"}\n'));
    expect(readdirSync(bench.runtime)).toEqual(['hook.sock']);
  });

  it('waits at any event once an answer is kept alive', async () => {
    await bench.addFallback(honestFallback);
    await bench.listen((socket) => {
      socket.write(chunkedHead + chunk('\n'.repeat(hookLimits.keepAliveBytes)));
      // Longer than any other hook has.
      setTimeout(() => socket.end(`${chunk('{"decision":"deny"}')}0\r\n\r\n`), 10 * hookLimits.deadlineMs + 200);
    });
    expect(await launch({ args: ['gemini', 'AfterTool', '180x10', 'now'] })).toEqual(printed('{"decision":"deny"}\n'));
  });

  it('waits for a mute daemon as long as `answerMs` says, on a slow machine a multiple of it, and tells it which', async () => {
    // In the client's place stands a program that writes down what it was told.
    const bin = await bench.pathWith('node', 'head', 'cat', 'rm');
    await writeFile(
      join(bin, 'perl'),
      `#!/bin/sh\nfor each; do printf '%s\\n' "$each"; done >>'${bench.dir}/told'\nexit 3\n`,
    );
    await chmod(join(bin, 'perl'), 0o755);
    await bench.listen(() => {});
    const told = async (max: string) => {
      await rm(join(bench.dir, 'told'), { force: true });
      await launch({ args: ['gemini', 'BeforeAgent', max], env: { PATH: bin } });
      const args = (await readFile(join(bench.dir, 'told'), 'utf8')).split('\n');
      const seconds = args[args.indexOf('/hook/gemini/BeforeAgent') - 1];
      const headers = args.filter((each) => /^x-wa-(slowness|max-seconds): /.test(each));
      return [Number(seconds) * 1_000, ...headers];
    };
    const { answerMs } = hookLimits;
    expect(await told('60')).toEqual([answerMs, 'x-wa-max-seconds: 60', 'x-wa-slowness: 1']);
    expect(await told('60x7')).toEqual([7 * answerMs, 'x-wa-max-seconds: 60', 'x-wa-slowness: 7']);
    expect(await told('60x20')).toEqual([20 * answerMs, 'x-wa-max-seconds: 60', 'x-wa-slowness: 20']);
    for (const odd of ['60x21', '60x0', '60x', 'x', '60x-1'])
      expect(await told(odd)).toEqual([answerMs, 'x-wa-max-seconds: 60', 'x-wa-slowness: 1']);
  });

  describe('gives its turn to the fallback, with the kept stdin, when the daemon', () => {
    const troubles: [string, (socket: Socket) => void][] = [
      ['answers 500', (socket) => socket.end(http('500 Internal Server Error', '{"error":1}'))],
      ['answers a page with 200', (socket) => socket.end(http('200 OK', '<style>a{b}</style>', 'text/html'))],
      ['answers nothing with 200', (socket) => socket.end(http('200 OK', ''))],
      ['dies in the middle of a chunked answer', (socket) => socket.end(`${chunkedHead}${chunk('{"a":{}}')}`)],
      ['dies in the middle of a measured answer', (socket) => socket.end(http('200 OK', '{"a":{}}   ').slice(0, -3))],
      ['dies before its head is complete', (socket) => socket.end('HTTP/1.1 200')],
      ['speaks no HTTP', (socket) => socket.end('{"a":1}')],
      ['hangs up', (socket) => socket.destroy()],
    ];
    it.each(troubles)('%s', async (_, reply) => {
      await bench.addFallback(honestFallback);
      await bench.listen(reply);
      expect(await launch()).toEqual(fromFallback(1));
      expect(await launch({ args: held })).toEqual(fromFallback(1, 'AfterAgent', '86400'));
    });

    it('accepts and stays mute', async () => {
      await bench.addFallback(honestFallback);
      await bench.listen(() => {});
      expect(await launch()).toEqual(fromFallback(1));
    });

    // It takes 15 s to give up, whatever the shell.
    it.runIf(shell === shells[0])('stays mute while it should hold', async () => {
      await bench.addFallback(honestFallback);
      await bench.listen((socket) => void socket.write(chunkedHead));
      expect(await launch({ args: held })).toEqual(fromFallback(1, 'AfterAgent', '86400'));
    });

    // It takes seconds, whatever the shell.
    it.runIf(shell === shells[0])('does not begin to answer at a gate that is open', async () => {
      const gate = ['gemini', 'BeforeTool', '86400', 'gate'];
      await bench.addFallback(honestFallback);
      let answers = false;
      await bench.listen((socket) => {
        // Later than a gate waits that has no gate file.
        if (answers) setTimeout(() => socket.end(http('200 OK', '{"late":1}')), 5_000);
      });
      expect(await launch({ args: gate })).toEqual(fromFallback(1, 'BeforeTool', '86400'));
      await mkdir(join(bench.runtime, 'gate'));
      await writeFile(join(bench.runtime, 'gate', 'gemini-BeforeTool'), '{"decision":"deny"}\n');
      answers = true;
      expect(await launch({ args: gate })).toEqual(printed('{"late":1}\n'));
    });

    it('dies while it holds', async () => {
      await bench.addFallback(honestFallback);
      await bench.listen((socket) => {
        socket.write(chunkedHead);
        socket.write(chunk('\n'.repeat(64)), () => socket.destroy());
      });
      expect(await launch({ args: held })).toEqual(fromFallback(1, 'AfterAgent', '86400'));
    });

    it('has left a socket that nobody serves', async () => {
      await bench.addFallback(honestFallback);
      const die = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
      await run(process.execPath, ['-e', die, join(bench.runtime, 'hook.sock')], {}, '');
      expect(readdirSync(bench.runtime)).toEqual(['hook.sock']);
      expect(await launch()).toEqual(fromFallback(1));
    });

    it('is stopped, with more connections waiting than its socket takes', async () => {
      await bench.addFallback(honestFallback);
      const serve = `require('net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log('ready'))`;
      const path = join(bench.runtime, 'hook.sock');
      const stopped = spawn(process.execPath, ['-e', serve, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(stopped.stdout, 'data');
      stopped.kill('SIGSTOP');
      const waiting = Array.from({ length: 4 }, () => createConnection(path).on('error', () => {}));
      await new Promise((resolve) => waiting[0]?.once('connect', resolve));
      expect(await launch()).toEqual(fromFallback(1));
      for (const socket of waiting) socket.destroy();
      stopped.kill('SIGKILL');
      await once(stopped, 'exit');
    });

    it('is not there', async () => {
      await bench.addFallback(honestFallback);
      expect(await launch()).toEqual(fromFallback(0));
    });

    it('is a plain file in place of a socket', async () => {
      await bench.addFallback(honestFallback);
      await writeFile(join(bench.runtime, 'hook.sock'), '');
      expect(await launch()).toEqual(fromFallback(0));
    });

    it.runIf(process.getuid?.() === 0)('belongs to another user', async () => {
      await bench.addFallback(honestFallback);
      await bench.listen((socket) => socket.end(http('200 OK', '{"a":1}')));
      await chown(join(bench.runtime, 'hook.sock'), 12345, 12345);
      expect(await launch()).toEqual(fromFallback(0));
    });

    it('cannot be asked because perl or the client is missing, with stdin untouched', async () => {
      await bench.addFallback(honestFallback);
      await bench.listen((socket) => socket.end(http('200 OK', '{"a":1}')));
      const PATH = await bench.pathWith('cat', 'rm', 'node');
      expect(await launch({ env: { PATH } })).toEqual(fromFallback(0));
      expect(await launch({ env: { PATH }, args: held })).toEqual(fromFallback(0, 'AfterAgent', '86400'));
      await rm(join(dirname(bench.launcher), 'client.pl'));
      expect(await launch()).toEqual(fromFallback(0));
      expect(await launch({ args: held })).toEqual(fromFallback(0, 'AfterAgent', '86400'));
    });
  });

  it('prints {} when the fallback is missing, fails, lies or shouts', async () => {
    expect(await launch()).toEqual(nothing);
    for (const source of [
      'process.exit(3)',
      'console.error("x"); console.log("[1]")',
      'console.log(`{"a":1}`); process.exit(1)',
      'syntax error(',
    ]) {
      await bench.addFallback(source);
      expect(await launch()).toEqual(nothing);
    }
  });

  it('prints the gate line when neither daemon nor Node answers, for that event only', async () => {
    const deny = '{"decision":"deny","reason":"wa-sync does not answer"}';
    await mkdir(join(bench.runtime, 'gate'));
    await writeFile(join(bench.runtime, 'gate', 'gemini-BeforeTool'), `${deny}\n`);
    await bench.addFallback('process.exit(1)');
    expect(await launch({ args: ['gemini', 'BeforeTool', '300'] })).toEqual(printed(`${deny}\n`));
    expect(await launch({ args: held })).toEqual(nothing);
    await writeFile(join(bench.runtime, 'gate', 'gemini-BeforeTool'), deny);
    expect(await launch({ args: ['gemini', 'BeforeTool', '300'] })).toEqual(printed(`${deny}\n`));
    await rm(join(bench.runtime, 'gate', 'gemini-BeforeTool'));
    await mkdir(join(bench.runtime, 'gate', 'gemini-BeforeTool'));
    expect(await launch({ args: ['gemini', 'BeforeTool', '300'] })).toEqual(nothing);
  });

  it('prints {} without a client, Node, PATH, home, any variable or any argument', async () => {
    await bench.addFallback(honestFallback);
    const PATH = await bench.pathWith('cat', 'rm');
    const bare = { WA_RUNTIME_DIR: '', PATH: '/nonexistent' };
    expect(await launch({ env: { PATH } })).toEqual(nothing);
    expect(await launch({ env: bare })).toEqual(nothing);
    expect(await launch({ env: bare, args: [] })).toEqual(nothing);
    expect(await run(whereIs(shell) ?? shell, ['-u', bench.launcher], {}, '')).toMatchObject({ code: 0, stderr: '' });
  });

  it('finds the socket through XDG_RUNTIME_DIR, else below the home folder', async () => {
    const env = { WA_RUNTIME_DIR: '', HOME: join(bench.dir, 'home') };
    const places = [
      { env, runtime: join(bench.dir, 'home', '.local', 'state', 'wa-sync', 'run') },
      { env: { ...env, XDG_RUNTIME_DIR: join(bench.dir, 'xdg') }, runtime: join(bench.dir, 'xdg', 'wa-sync') },
    ];
    for (const [index, place] of places.entries()) {
      bench.runtime = place.runtime;
      await mkdir(bench.runtime, { recursive: true });
      await bench.listen((socket) => socket.end(http('200 OK', `{"place":${index}}`)));
      expect(await launch({ args: patient, env: place.env })).toEqual(printed(`{"place":${index}}\n`));
    }
  });

  describe('with the directories that the installer wrote', () => {
    const foreign = () => ({ WA_RUNTIME_DIR: '/nonexistent', XDG_RUNTIME_DIR: '/nonexistent', HOME: '/nonexistent' });
    const installed = (...words: string[]) => [
      ...words,
      bench.runtime,
      join(bench.dir, 'config'),
      join(bench.dir, 'state'),
    ];

    it('finds socket and gate there, whatever the environment says', async () => {
      const line = '{"decision":"deny"}';
      await mkdir(join(bench.runtime, 'gate'));
      await writeFile(join(bench.runtime, 'gate', 'gemini-BeforeTool'), `${line}\n`);
      const gate = { args: installed('gemini', 'BeforeTool', '300', 'gate'), env: foreign() };
      expect(await launch(gate)).toEqual(printed(`${line}\n`));
      await bench.listen((socket) => socket.end(http('200 OK', '{"a":1}')));
      expect(await launch(gate)).toEqual(printed('{"a":1}\n'));
    });

    it('hands them to the fallback, and nothing that makes Node or Perl load something else', async () => {
      const evil = join(bench.dir, 'evil');
      await writeFile(`${evil}.cjs`, `require('fs').writeFileSync(${JSON.stringify(`${evil}.ran`)}, '')`);
      await writeFile(`${evil}.pm`, `package evil; open my $f, '>', '${evil}.ran'; 1;\n`);
      await bench.addFallback('console.log(JSON.stringify({ args: process.argv.slice(7) }))');
      const env = {
        ...foreign(),
        NODE_OPTIONS: `--require=${evil}.cjs`,
        NODE_CHANNEL_FD: '1',
        PERL5OPT: '-Mevil',
        PERL5LIB: bench.dir,
        PERL_UNICODE: 'SD',
        ENV: `${evil}.cjs`,
      };
      const args = installed('gemini', 'BeforeAgent', '60x20', 'now');
      expect(await launch({ args, env })).toEqual(printed(`${JSON.stringify({ args: args.slice(4) })}\n`));
      await bench.listen((socket) => socket.end(http('200 OK', '{"a":1}')));
      expect(await launch({ args, env })).toEqual(printed('{"a":1}\n'));
      expect(readdirSync(bench.dir).includes('evil.ran')).toBe(false);
    });

    it.each(["it's", '$(touch x)`id`', '-n', ' * ', '\n', '"{"', '\\', '/proc/self/mem', '..'])(
      'prints one object and says nothing on stderr when one of them is %j',
      async (odd) => {
        await bench.addFallback('process.stdin.resume(); console.log(JSON.stringify({ args: process.argv.slice(7) }))');
        for (const args of [[odd, odd, odd], [bench.runtime, odd, odd], [odd], [odd, '', odd]]) {
          const passed = args.length >= 3 && !args.includes('') ? args : [];
          for (const mode of [[], ['gate']]) {
            expect(await launch({ args: ['gemini', 'BeforeAgent', '60', ...mode, ...args] })).toEqual(
              printed(`${JSON.stringify({ args: passed })}\n`),
            );
          }
        }
      },
    );
  });

  it('does not let an argument leave the address', async () => {
    await bench.listen((socket) => socket.end(http('200 OK', '{}')));
    expect(await launch({ args: ['../x', 'a b"', '$(id)'] })).toEqual(nothing);
    await until(() => bench.requests.length > 0);
    expect(bench.requests[0]?.head.split('\r\n')[0]).toBe('POST /hook/none/none HTTP/1.1');
    expect(bench.requests[0]?.head).toContain(`${hookHeaders.maxSeconds}: 60\r\n`);
  });

  it('survives 50 MB of anything on stdin and passes on the first 4 MiB', async () => {
    await bench.addFallback(honestFallback);
    await bench.listen((socket) => socket.end(http('500 Internal Server Error', '')));
    const size = 50_000_000;
    for (const [stdin, kept] of [
      [Buffer.alloc(size, 'x'), hookLimits.stdinBytes + 1],
      [Buffer.alloc(size, '}'), hookLimits.stdinBytes + 1],
      [Buffer.alloc(size, '\n'), '\n'],
      [Buffer.alloc(size, 0), '\n'],
      [Buffer.alloc(0), '\n'],
    ] as const) {
      const outcome = await launch({ stdin });
      expect(outcome).toEqual(
        printed(
          `${JSON.stringify({ args: ['gemini', 'BeforeAgent', '60', '1', String(process.pid)], stdin: kept })}\n`,
        ),
      );
    }
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'leaves a hold on %s at once, silently, and takes the client with it',
    async (signal) => {
      await bench.addFallback(honestFallback);
      let connection: Socket | undefined;
      await bench.listen((socket) => {
        connection = socket;
        socket.write(chunkedHead);
      });
      let pid = 0;
      const outcome = launch({ args: held, onStart: (started) => (pid = started) });
      await until(() => connection !== undefined);
      const closed = new Promise((resolve) => connection?.once('close', resolve));
      process.kill(pid, signal);
      expect(await outcome).toEqual(printed(''));
      await closed;
      // It is removed by a process of its own, which nobody waits for.
      await until(() => readdirSync(bench.runtime).join() === 'hook.sock');
    },
  );

  it('exits 0 when nobody reads its answer', async () => {
    await bench.listen((socket) => socket.end(http('200 OK', JSON.stringify({ a: 'x'.repeat(200_000) }))));
    const outcome = await launch({ onStart: (_, closeStdout) => closeStdout() });
    expect(outcome).toEqual(printed(''));
  });
});
