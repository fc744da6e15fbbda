import { defineConfig } from 'vitest/config';

// Drives the phone page in a real browser; needs chromium, named by WA_CHROMIUM where it is not in Debian's place.
export default defineConfig({
  test: { include: ['test/browser/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
});
