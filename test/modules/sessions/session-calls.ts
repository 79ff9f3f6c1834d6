import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import type { Api } from '../../support/fixture/api.js';
import type { Db } from '../../support/fixture/db.js';
import { unchecked } from '../../support/fixture/sent.js';
import { randomAddress } from '../../support/sign-in/random-address.js';

type Fields = Record<string, unknown>;
export type User = { id: string; username: string };

/** Of the demo password, at the lowest cost. */
const cheapHash = bcrypt.hash(DEMO.password, 4);

/** The id of the session that a token names. */
export const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).session;

/** Calls of users who sign in from an address of their own. The service must trust the proxy 127.0.0.1. */
export function makeSessionCalls(api: Api, db: Db) {
  return {
    async makeUser(fields: Fields = {}): Promise<User> {
      const row = {
        id: newId(),
        username: `s-${randomBytes(4).toString('hex')}`,
        full_name: 'Session User',
        role: 'manager',
        password_hash: await cheapHash,
        tenant_id: DEMO.tenants.demo,
        ...fields,
      };
      const columns = Object.keys(row);
      await db.query(
        `insert into users (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
        Object.values(row),
      );
      return row;
    },
    async logIn({ username }: User, headers: Record<string, string> = {}): Promise<string> {
      const address = randomAddress();
      const call = api.anonymous.login(
        { action: 'login', username, password: DEMO.password },
        { headers: { 'x-forwarded-for': address, ...headers } },
      );
      return (await call.ok()).data.access_token;
    },
    manage: (token: string, body: Fields) => api.withToken(token).manageSessions(unchecked(body)),
    list: async (token: string, query: Fields = {}) =>
      (await api.withToken(token).listSessions(unchecked(query)).ok()).data,
    /** What a request with a token ends with. */
    async statusWith(token: string): Promise<string> {
      const { status, code, body } = await api.withToken(token).getTwoFactor().answer();
      return `${status} ${code ?? String(body['status'])}`;
    },
    /** The audit entries of a user except logins. */
    async auditOf(id: string) {
      const entries = await db.auditOf(id);
      return entries
        .filter(({ action }) => action !== 'user.logged_in')
        .map(({ action, actor_id, after }) => ({ action, actor_id, after }));
    },
  };
}
