// Sessions of a coding agent between the phone, the daemon and the command line.

import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import { addSession } from '../helpers/sessions.ts';

let ws: Workstation;
let newAgent: Scene['newAgent'];
eachTest((scene) => {
  ({ ws, newAgent } = scene);
});

it('/sessions with words is answered by the daemon of the project; the session that its agent has open is not deleted', async () => {
  const path = await addSession({ home: join(ws.root, 'home'), project: ws.project }, 'gemini');
  const anHourAgo = new Date(Date.now() - 3_600_000);
  await utimes(path, anHourAgo, anHourAgo);
  // A process of its own, whose home folder is the one with the session.
  const daemon = ws.run('start');
  await until('the daemon runs', () => daemon.stdout().includes('is running'));
  await ws.chat.say('/sessions plan STEP');
  const answer = await until('the daemon has answered', () =>
    ws.chat.fromBot().find(({ text }) => text?.startsWith('Sessions of this project')),
  );
  expect(answer.text).toContain('/resume_b70b5752');

  const agent = await newAgent();
  await agent.hook('BeforeAgent', { transcript_path: path, prompt: 'x' });
  const refused = await ws.run('sessions', 'delete', 'latest', '--yes').exited;
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`session b70b5752 is the one of ${ws.project} (session_in_use)`);
});
