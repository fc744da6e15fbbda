// Starts what is timed from a small process: forking the bench itself, with its relay client and simulator, costs more
// than the shortest command here.

const { spawnSync } = require('node:child_process');

process.on('message', ({ file, args, cwd, env, stdin }) => {
  const startedAt = performance.now();
  const { status, stdout, error } = spawnSync(file, args, { cwd, env, input: stdin, encoding: 'utf8' });
  const tookMs = performance.now() - startedAt;
  // One that never reads its stdin closes the pipe.
  const failed = error && error.code !== 'EPIPE' ? error.message : status === 0 ? undefined : `exit code ${status}`;
  process.send({ tookMs, stdout, failed });
});
