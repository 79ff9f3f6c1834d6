import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeUserMeanwhile } from '../user-calls.js';
import { makeTeamCalls } from './team-calls.js';

const RACES = rounds(8, 60);

const fixture = withService();
const { db } = fixture;
const { makeColleague, manageWith } = makeTeamCalls(fixture);

const MEMBER = { role: 'courier', courier_role: 'member' };

test('of two owners who remove each other at once, one succeeds and stays an owner', async () => {
  for (let round = 0; round < RACES; round += 1) {
    const [one, two] = [await makeColleague(), await makeColleague()];
    const body = round % 2 === 0 ? { action: 'disable' } : { action: 'change_role', ...MEMBER };
    const replies = await Promise.all([
      manageWith(one.token, { ...body, user_id: two.id }).answer(),
      manageWith(two.token, { ...body, user_id: one.id }).answer(),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toEqual([200]);
    const owners = [await db.user(one.id), await db.user(two.id)].filter(
      (user) => user.is_active && user.is_courier_owner,
    );
    expect(owners).toHaveLength(1);
  }
});

describe('while a change waits for another one', () => {
  const afterChange = (callerToken: string, change: { id: string; set: string }, targetId: string) =>
    changeUserMeanwhile(fixture, change, () =>
      manageWith(callerToken, { action: 'update', user_id: targetId, full_name: 'Too Late' }).answer(),
    );

  test.each([
    ['who becomes a member meanwhile', 'is_courier_owner = false', 403, 'permission_denied'],
    ['whose password is reset meanwhile', 'token_version = token_version + 1', 401, 'token_invalid'],
    ['who is disabled meanwhile', 'is_active = false', 401, 'token_invalid'],
  ])('an owner %s changes nobody', async (_what, set, status, code) => {
    const [owner, target] = [await makeColleague(), await makeColleague()];
    expect(await afterChange(owner.token, { id: owner.id, set }, target.id)).toMatchObject({ status, code });
    expect(await db.user(target.id)).toMatchObject({ full_name: 'Test User' });
  });

  test('an owner changes no user who has moved to another courier meanwhile', async () => {
    const [owner, target] = [await makeColleague(), await makeColleague()];
    const set = `courier_id = '${DEMO.couriers.HRB}'`;
    const late = await afterChange(owner.token, { id: target.id, set }, target.id);
    expect(late).toMatchObject({ status: 404, code: 'user_not_found' });
    expect(await db.user(target.id)).toMatchObject({ full_name: 'Test User' });
  });
});
