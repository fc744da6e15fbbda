import { defineConfig } from 'vitest/config';

// Real processes and a real workerd on two noisy cores: the time limits only stop what hangs, they assert nothing.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{gemini,claude,codex,acp}/**', 'test/browser/**', 'test/setup/**'],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Half of the time of a test is waiting: for a process, a timer or a disk.
    maxWorkers: 3,
    env: { CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  },
});
