import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { agedToken } from '../../../support/sign-in/aged-token.js';
import { changeUserMeanwhile, freshName, type UserWithToken } from '../user-calls.js';
import { makeTeamCalls } from './team-calls.js';

// A stolen session must not give anybody lasting access (decision 0135), not even below managers and owners of couriers.

const fixture = withService();
const { db } = fixture;
const { makeColleague, makeUser, manageWith } = makeTeamCalls(fixture);

type Actor = UserWithToken;

const rowOf = async (id: string) => (await db.query('select * from users where id = $1', [id]))[0];
const byOld = ({ token }: Actor, body: object, minutes = 16) =>
  manageWith(agedToken(token, minutes), { ...body });

const asOwner = { role: 'courier', courier_role: 'owner', courier_id: DEMO.couriers.IEX };
const ACTIONS: [name: string, fields: () => object][] = [
  ['create', () => ({ action: 'create', username: `iex.${freshName()}`, full_name: 'New', ...asOwner })],
  ['update of the e-mail address', () => ({ action: 'update', email: `${freshName()}@evil.example` })],
  ['change_role', () => ({ action: 'change_role', ...asOwner })],
  ['enable', () => ({ action: 'enable' })],
  ['reset_password', () => ({ action: 'reset_password' })],
];

const countOfTeam = () => db.count('users', { courier_id: DEMO.couriers.IEX });

describe.each([
  ['a manager', () => makeUser({ role: 'manager' })],
  ['an owner of a courier', () => makeColleague({ is_courier_owner: true })],
])('%s', (_who, makeActor) => {
  let actor: Actor;
  let victim: Actor;
  beforeEach(async () => {
    actor = await makeActor();
    victim = await makeColleague({ is_courier_owner: false });
  });

  test.each(ACTIONS)('%s needs the own password 15 minutes after the login', async (name, fields) => {
    if (name === 'enable') await db.query('update users set is_active = false where id = $1', [victim.id]);
    const bodyOf = () => (name === 'create' ? fields() : { user_id: victim.id, ...fields() });
    const [before, users] = [await rowOf(victim.id), await countOfTeam()];
    const refused = await byOld(actor, bodyOf()).refused(400, 'validation_failed');
    expect(refused.errors).toEqual([
      {
        field: 'current_password',
        code: 'required',
        message: expect.stringContaining('you logged in more than 15 minutes ago'),
      },
    ]);
    const guessed = { ...bodyOf(), current_password: 'guessed' };
    await byOld(actor, guessed).refused(400, 'password_wrong');
    expect([await rowOf(victim.id), await countOfTeam()]).toEqual([before, users]);
    await byOld(actor, { ...bodyOf(), current_password: DEMO.password }).ok();
    expect([await rowOf(victim.id), await countOfTeam()]).not.toEqual([before, users]);
    await byOld(actor, bodyOf(), 14).ok();
  });

  test('names, unchanged addresses and the end of an access need no password', async () => {
    const user_id = victim.id;
    await db.query("update users set email = 'victim@example.com' where id = $1", [user_id]);
    const named = { action: 'update', user_id, full_name: 'Another Name', email: 'victim@example.com' };
    await byOld(actor, named).ok();
    await byOld(actor, { action: 'disable', user_id }).ok();
    expect(await rowOf(user_id)).toMatchObject({ full_name: 'Another Name', is_active: false });
  });

  test('an unchanged address that waits does not undo a change of the address', async () => {
    const user_id = victim.id;
    await db.query("update users set email = 'victim@example.com' where id = $1", [user_id]);
    const named = { action: 'update', user_id, full_name: 'Another Name', email: 'victim@example.com' };
    const change = { id: user_id, set: "email = 'safe@example.com'" };
    await changeUserMeanwhile(fixture, change, () => byOld(actor, named).ok());
    expect(await rowOf(user_id)).toMatchObject({ full_name: 'Another Name', email: 'safe@example.com' });
  });

  test('five wrong passwords lock the confirmation', async () => {
    const body = { action: 'reset_password', user_id: victim.id };
    for (let tries = 0; tries < 5; tries++)
      await byOld(actor, { ...body, current_password: 'guessed' }).refused(400, 'password_wrong');
    await byOld(actor, { ...body, current_password: DEMO.password }).refused(429, 'too_many_attempts');
  });

  test('the address of a user who is not in the team is not found, whatever it is', async () => {
    const stranger = await makeUser({ role: 'admin', email: 'stranger@example.com' });
    for (const email of ['stranger@example.com', 'another@example.com'])
      await byOld(actor, { action: 'update', user_id: stranger.id, email }).refused(404, 'user_not_found');
  });
});
