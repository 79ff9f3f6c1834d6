import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';
import { makeUserCalls } from '../user-calls.js';

type Fields = Record<string, unknown>;

/** Calls that create and change the users of a team. */
export function makeTeamCalls(fixture: Fixture) {
  const { api, db } = fixture;
  const { logIn, makeUser, statusWith } = makeUserCalls(fixture);
  return {
    logIn,
    makeUser,
    statusWith,
    /** As the manager, if nobody else is named. */
    manageTeam: (body: Fields, as = 'manager') => api.as(as).manageTeam(unchecked(body)),
    manageWith: (token: string, body: Fields) => api.withToken(token).manageTeam(unchecked(body)),
    /** The audit entries of a user that others have caused: its logins are not among them. */
    changesOf: async (id: string) => (await db.auditOf(id)).filter(({ actor_id }) => actor_id !== id),
    /** Why the sessions of a user have ended; null for one that is open. */
    endingsOf: async (id: string) =>
      new Set((await db.all('sessions', { user_id: id })).map(({ end_reason }) => end_reason)),
    /** Creates a user of IEX with a token. */
    makeColleague: (fields: Fields = {}) =>
      makeUser({ role: 'courier', courier_id: DEMO.couriers.IEX, ...fields }),
  };
}
