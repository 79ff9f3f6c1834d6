import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { unchecked } from '../../support/fixture/sent.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import type { Fixture } from '../../support/fixture/with-service.js';
import type { Call } from '../../support/service/service.js';

type Fields = Record<string, unknown>;
export type UserWithToken = { id: string; username: string; token: string };

let serial = 0;
export const freshName = () => `user${(serial += 1)}`;

/** Calls that create, change and sign in users. */
export function makeUserCalls({ api, db, service }: Fixture) {
  return {
    manage: (body: Fields, call: Call = { as: 'admin' }) => api.with(call).manageUsers(unchecked(body)),
    logIn: (username: string, password: string) =>
      api.anonymous.login({ action: 'login', username, password }),
    statusWith: (token: string) => api.withToken(token).getTwoFactor().status(),
    /** Creates a user with a token, without the cost of a hash. */
    async makeUser(fields: Fields = {}): Promise<UserWithToken> {
      const row = {
        id: newId(),
        username: freshName(),
        full_name: 'Test User',
        role: 'warehouse',
        ...fields,
      };
      const columns = Object.keys(row);
      await db.query(
        `insert into users (tenant_id, password_hash, ${columns.join(', ')})
         select $1, password_hash, ${columns.map((_, index) => `$${index + 3}`).join(', ')} from users where id = $2`,
        [DEMO.tenants.demo, DEMO.users.admin, ...Object.values(row)],
      );
      return { id: row.id, username: row.username, token: await service().tokenOf(row.username) };
    },
  };
}

/** Changes a user, with its columns as SQL, while `work` waits for the lock of all changes of users. Returns what `work` returns. */
export const changeUserMeanwhile = <Result>(
  { service }: Pick<Fixture, 'service'>,
  { id, set }: { id: string; set: string },
  work: () => Promise<Result>,
): Promise<Result> => {
  const text = `with locked as materialized (select pg_advisory_xact_lock(hashtextextended($2, 0)))
    update users set ${set} from locked where id = $1`;
  return changeMeanwhile(
    service().owner,
    { text, values: [id, `administrators ${DEMO.tenants.demo}`] },
    work,
  );
};
