import { expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import { changeUserMeanwhile, freshName, makeUserCalls } from './user-calls.js';

// A change of a user that waits for another one finds that its caller may no longer change anybody.

const fixture = withService();
const { db } = fixture;
const { makeUser, manage } = makeUserCalls(fixture);

const CHANGES = [
  ['who is disabled', 'is_active = false, token_version = token_version + 1'],
  ['who gets another role', "role = 'warehouse', token_version = token_version + 1"],
  ['whose password is reset', 'token_version = token_version + 1'],
] as const;

const REQUESTS = [
  ['enables itself', { action: 'enable' }, 'own'],
  ['makes itself an administrator', { action: 'change_role', role: 'admin' }, 'own'],
  ['renames itself', { action: 'update', full_name: 'Too Late' }, 'own'],
  ['disables another', { action: 'disable' }, 'other'],
  ['resets the password of another', { action: 'reset_password' }, 'other'],
  ['turns off the second factor of another', { action: 'reset_two_factor' }, 'other'],
] as const;

const CASES = CHANGES.flatMap(([who, set]) => REQUESTS.map((request) => [who, set, ...request] as const));

test.each(CASES)(
  'an administrator %s meanwhile (%s) and %s changes nothing',
  async (_who, set, _what, sent, of) => {
    const [rogue, other] = [
      await makeUser({ role: 'admin' }),
      await makeUser({ two_factor_enabled: true, totp_secret: 'x' }),
    ];
    const user_id = of === 'own' ? rogue.id : other.id;
    const reply = await changeUserMeanwhile(fixture, { id: rogue.id, set }, () =>
      manage({ ...sent, user_id }, { token: rogue.token }).answer(),
    );
    expect(reply).toMatchObject({ status: 401, code: 'token_invalid' });
    // The only entries of the audit log would be those of the late change: the earlier one was made by SQL.
    expect([await db.auditOf(rogue.id), await db.auditOf(other.id)]).toEqual([[], []]);
  },
);

test.each(CHANGES)('an administrator %s meanwhile (%s) creates no user', async (_who, set) => {
  const rogue = await makeUser({ role: 'admin' });
  const username = freshName();
  const reply = await changeUserMeanwhile(fixture, { id: rogue.id, set }, () =>
    manage(
      { action: 'create', username, full_name: 'Second Self', role: 'admin' },
      { token: rogue.token },
    ).answer(),
  );
  expect(reply).toMatchObject({ status: 401, code: 'token_invalid' });
  expect(await db.all('users', { username })).toEqual([]);
});
