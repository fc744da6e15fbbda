import { describe, expect, it } from 'vitest';
import { owner, recorded, send, start } from './client.ts';

describe('scripted failures', () => {
  it('answer as scripted, as often as scripted', async () => {
    const sim = await start();
    sim.failNext({ method: 'sendMessage', times: 2, status: 429, headers: { 'Retry-After': '14' } });
    sim.failNext({ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>bad</html>' });
    expect(await send(sim, { text: 'a' })).toEqual(recorded('429_retry_after'));
    expect(await send(sim, { text: 'a' })).toEqual(recorded('429_retry_after'));
    const html = await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=a`);
    expect([html.status, await html.text()]).toEqual([502, '<html>bad</html>']);
    expect(sim.messages()).toEqual([]);
    expect((await send(sim, { text: 'a' })).status).toBe(200);
  });

  it('can lose the answer of a call that took effect', async () => {
    const sim = await start();
    sim.failNext({ reset: true, afterEffect: true });
    await expect(send(sim, { text: 'a' })).rejects.toThrow();
    sim.failNext({ hang: true });
    const controller = new AbortController();
    const hung = fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=b`, {
      signal: controller.signal,
    });
    await sim.waitForCall(({ params }) => params.text === 'b');
    controller.abort();
    await expect(hung).rejects.toThrow();
    expect(sim.messages().map(({ text }) => text)).toEqual(['a']);
    expect(sim.calls.map(({ answer }) => answer.status)).toEqual([0, 0]);
  });
});
