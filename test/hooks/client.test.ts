// The launcher's client by itself: what it says of an end, on which systems it speaks, and how it names a socket there.

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hookLimits } from '../../protocol/limits.ts';
import { type Bench, clientFile, http, type Outcome, openBench, printed, run, whereIs } from './launcher-run.ts';

const perl = whereIs('perl') ?? 'perl';
let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const socketOf = () => join(bench.runtime, 'hook.sock');
const words = (path: string, seconds = '5') => [path, '', seconds, '/hook/a/B', 'x-one: 1', 'x-two: 2'];

/** As on another system, whose calls are written to stderr in place of being made. */
function runOn(system: string, stdin: string): Promise<Outcome> {
  const calls = ['socket', 'fcntl', 'connect'].map(
    (name) =>
      `*CORE::GLOBAL::${name} = sub (*;@) { my ($handle, @rest) = @_; print STDERR "${name} @{[map { /^\\d+$/ ? $_ : unpack 'H*', $_ } @rest]}\\n"; '${name}' ne 'connect' };`,
  );
  const source = `BEGIN { $^O = '${system}'; ${calls.join(' ')} } do '${clientFile}'; die $@ if $@`;
  return run(perl, ['-e', source, ...words('/run/hook.sock')], {}, stdin);
}

describe.runIf(whereIs('perl') !== undefined)('the client', () => {
  it.runIf(['linux', 'darwin'].includes(process.platform))(
    'posts stdin with the headers that it was given, and prints the object',
    async () => {
      await bench.listen((socket) => socket.end(http('200 OK', '\n\n{"a":{"b":1}}\n')));
      expect(await run(perl, [clientFile, ...words(socketOf())], {}, '{"x":"é"}')).toEqual(printed('{"a":{"b":1}}'));
      expect(bench.requests[0]?.head.split('\r\n')).toEqual([
        'POST /hook/a/B HTTP/1.1',
        'Host: localhost',
        'x-one: 1',
        'x-two: 2',
        'Connection: close',
        'Content-Type: application/json',
        'Content-Length: 10',
      ]);
      expect(bench.requests[0]?.body.toString()).toBe('{"x":"é"}');
    },
  );

  it('gives stdin back and says so where nobody answers', async () => {
    expect(await run(perl, [clientFile, ...words(socketOf())], {}, 'kept')).toEqual({ ...printed('kept'), code: 3 });
    await bench.listen(() => {});
    expect(await run(perl, [clientFile, ...words(socketOf(), '0.05')], {}, 'kept')).toEqual({
      ...printed('kept'),
      code: 3,
    });
  });

  it('gives back at most what a hook passes on', async () => {
    const long = 'x'.repeat(hookLimits.stdinBytes + 70_000);
    const { code, stdout } = await run(perl, [clientFile, ...words(socketOf())], {}, long);
    expect([code, stdout.length]).toEqual([3, hookLimits.stdinBytes]);
  });

  it('needs no more than core Perl: it loads no module', async () => {
    const source = `do '${clientFile}'; END { print STDERR join ',', keys %INC }`;
    const { stderr } = await run(perl, ['-e', source, ...words(socketOf())], {}, '{}');
    expect(stderr).toBe(clientFile);
  });

  it('names a socket as the system does', async () => {
    const name = '/run/hook.sock';
    const path = Buffer.from(name).toString('hex');
    const linux = Buffer.from(Uint16Array.of(1).buffer).toString('hex');
    expect((await runOn('linux', '{}')).stderr).toBe(`socket 1 ${1 | 2048} 0\nconnect ${linux}${path}00\n`);
    // The length of the whole, then the family in one byte; F_SETFL and O_NONBLOCK are both 4.
    const darwin = Buffer.from([name.length + 3, 1]).toString('hex');
    expect((await runOn('darwin', '{}')).stderr).toBe(`socket 1 1 0\nfcntl 4 4\nconnect ${darwin}${path}00\n`);
  });

  it('touches nothing on a system that it does not know, so that the fallback asks', async () => {
    expect(await runOn('freebsd', 'kept')).toEqual({ code: 4, signal: null, stdout: '', stderr: '' });
  });
});
