// `node scripts/recording.ts` runs the demo and draws what it printed, with its own times, as the animated docs/round-trip.svg. The
// picture of the README is therefore a recording and never a drawing.

import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

interface Line {
  text: string;
  /** Milliseconds since the start of the command. */
  at: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** The round trip itself takes a fraction of a second, which is too fast to read. The start of relay and daemon is left out. */
const slowedBy = 6;
const leadMs = 800;
const pauseMs = 5_000;
const lineHeight = 22;
const charWidth = 8.43;
const margin = 20;
const barHeight = 34;

async function record(): Promise<Line[]> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`${root}dist/wa-sync.js`, 'demo'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'demo' },
  });
  const lines: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    lines.push({ text, at: performance.now() - startedAt });
  }
  if (lines.at(-1) === undefined) throw new Error('the demo printed nothing');
  return lines;
}

function draw(lines: readonly Line[]): string {
  const columns = Math.max(...lines.map(({ text }) => text.length));
  const width = Math.ceil(columns * charWidth + 2 * margin);
  const height = barHeight + lines.length * lineHeight + 2 * margin + lineHeight;
  const startedAt = lines[0]?.at ?? 0;
  const sinceFirst = ({ at }: Line) => leadMs + (at - startedAt) * slowedBy;
  const totalMs = Math.max(...lines.map(sinceFirst)) + pauseMs;
  const rules = lines.map((line, index) => {
    const from = ((sinceFirst(line) / totalMs) * 100).toFixed(2);
    return `@keyframes l${index}{0%,${from}%{opacity:0}${(Number(from) + 0.01).toFixed(2)}%,100%{opacity:1}}.l${index}{animation:l${index} ${Math.round(totalMs)}ms infinite}`;
  });
  const texts = lines.map(({ text }, index) => {
    const y = barHeight + margin + (index + 2) * lineHeight - 6;
    return `<text class="l${index} ${kindOf(text)}" x="${margin}" y="${y}">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recording of wa-sync demo">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}.phone{fill:#82aaff}.agent{fill:#c3e88d}.ok{fill:#ffcb6b}.dim{fill:#8b98ad}
@media (prefers-reduced-motion:no-preference){
${rules.join('\n')}
}</style>
<rect width="${width}" height="${height}" rx="10" fill="#10151e"/>
<circle cx="22" cy="17" r="6" fill="#ff5f56"/><circle cx="42" cy="17" r="6" fill="#ffbd2e"/><circle cx="62" cy="17" r="6" fill="#27c93f"/>
<text class="dim" x="${margin}" y="${barHeight + margin + lineHeight - 6}">$ npm run demo</text>
${texts.join('\n')}
</svg>
`;
}

function kindOf(text: string): string {
  if (/^\s*phone:/.test(text)) return 'phone';
  if (/^\s*agent:/.test(text)) return 'agent';
  return /ok$/.test(text) ? 'ok' : 'plain';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

await writeFile(`${root}docs/round-trip.svg`, draw(await record()));
