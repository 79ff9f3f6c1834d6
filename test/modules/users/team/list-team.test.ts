import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeTeamCalls } from './team-calls.js';

const fixture = withService();
const { api } = fixture;
const { makeColleague } = makeTeamCalls(fixture);

const namesOf = (users: { username: string }[]) => users.map(({ username }) => username);

test.each(['manager', 'admin'])('%s sees the users of the warehouse and of all couriers', async (as) => {
  const { data, meta } = await api.as(as).listTeam({ limit: 500 }).ok();
  expect(namesOf(data)).toEqual(expect.arrayContaining(['hrb', 'iex', 'warehouse']));
  expect(new Set(data.map(({ role }) => role))).toEqual(new Set(['warehouse', 'courier']));
  expect(meta).toMatchObject({ can_manage: true, total_records: data.length });
});

test('the team of a tenant has no user of another', async () => {
  const { data } = await api.as('two/admin').listTeam().ok();
  expect(data).toMatchObject([{ user_id: DEMO.usersOfTwo.two, courier_role: 'owner' }]);
});

test('an owner and a member of a courier see the users of their courier, and only the owner may manage them', async () => {
  const member = await makeColleague({ is_courier_owner: false });
  const { data, meta } = await api.as('iex').listTeam({ courier_id: DEMO.couriers.HRB }).ok();
  expect(data).toMatchObject([
    { username: 'iex', courier_code: 'IEX', courier_role: 'owner' },
    { user_id: member.id, courier_code: 'IEX', courier_role: 'member' },
  ]);
  expect(meta).toMatchObject({ can_manage: true, total_records: 2 });
  const seen = await api.withToken(member.token).listTeam().ok();
  expect(namesOf(seen.data)).toEqual(namesOf(data));
  expect(seen.meta).toMatchObject({ can_manage: false });
});

test('a user of the warehouse may not see the team', async () => {
  await api.as('warehouse').listTeam().refused(403, 'permission_denied');
  await api.as('manager').listTeam({ limit: 501 }).refused(400, 'validation_failed');
});
