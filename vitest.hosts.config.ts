import { defineConfig } from 'vitest/config';

// The real coding agents, one at a time. The limits only stop what hangs: some API errors are retried for minutes.
export default defineConfig({
  test: {
    include: ['test/{gemini,claude,codex,acp}/**/*.test.ts'],
    globalSetup: ['test/hosts/install.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
