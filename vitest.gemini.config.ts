import { defineConfig } from 'vitest/config';

// The real Gemini CLI, one at a time. The limits only stop what hangs: some API errors are retried for minutes.
export default defineConfig({
  test: {
    include: ['test/gemini/**/*.test.ts'],
    globalSetup: ['test/gemini/install.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 180_000,
    // A hook gives up after its deadline, by contract: on a starved machine a message comes one turn later than the
    // scenario expects. A scenario that fails twice is wrong.
    retry: 1,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
