import { expect, it } from 'vitest';
import { accountReminder } from '../../../agent/daemon/account-reminder.ts';
import { writeSetup } from '../../../agent/setup/state.ts';
import { type Texts, textsIn } from '../../../protocol/texts.ts';
import { temporaryFolder, testClock } from '../../helpers/surroundings.ts';

it('the phone is reminded before a temporary account ends, with the link that keeps it', async () => {
  const configDir = await temporaryFolder();
  const { now, advance } = testClock();
  const told: string[] = [];
  const tell = async (about: string, textOf: (texts: Texts) => string) =>
    void told.push(`${about}: ${textOf(textsIn('en'))}`);
  const remind = accountReminder({ configDir, clock: now, tell });
  await remind();
  const expiresAt = now() + 60 * 60_000;
  const account = { accountId: 'a', expiresAt, claimUrl: 'https://claim.example' };
  await writeSetup(configDir, { relay: { kind: 'temporary', url: 'https://r.example', script: 's', ...account } });
  for (const minutes of [1, 30, 10]) {
    advance(minutes * 60_000);
    await remind();
  }
  expect(told).toEqual([
    expect.stringMatching(`account_${expiresAt}: .* ends in 19 min.*https://claim.example.*setup --claimed`),
  ]);
  advance(60 * 60_000);
  await remind();
  expect(told).toHaveLength(1);
});
