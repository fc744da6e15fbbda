import { expect, it } from 'vitest';
import { withoutSecrets } from '../../agent/process.ts';
import { ownerSecrets } from '../../protocol/telegram-settings.ts';

it('a process that wa-sync starts gets no secret of the owner', () => {
  const secrets = Object.fromEntries(
    [...ownerSecrets, 'WA_AGENT_TOKEN', 'CLOUDFLARE_API_TOKEN'].map((name) => [name, 'x']),
  );
  expect(withoutSecrets({ ...secrets, PATH: '/bin', EMPTY: undefined })).toEqual({ PATH: '/bin' });
});
