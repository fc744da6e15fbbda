import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest files, which wait most of their time: one that begins last would run alone. */
const first = [
  'faults/approvals',
  'worker/poll',
  'e2e/mcp',
  'acceptance/files',
  'e2e/owned',
  'hooks/launcher',
  'e2e/large-inputs',
  'acceptance/trouble',
  'worker/files',
  'agent/format/growth',
  'e2e/planted',
  'acceptance/hooks',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = first.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return at === -1 ? first.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

// Real processes and a real workerd on two noisy cores: the time limits only stop what hangs, they assert nothing.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{gemini,claude,codex,acp}/**', 'test/browser/**', 'test/setup/**'],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/property-seed.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // More than half of the time of a test is waiting: for a process, a timer or a disk.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    env: { CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  },
});
