import { defineConfig } from 'vitest/config';

// The whole setup from the packed package, offline. The limits only stop what hangs.
export default defineConfig({
  test: {
    include: ['test/setup/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 1,
    env: { CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  },
});
