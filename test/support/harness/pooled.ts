import pg from 'pg';
import { startPooler, type Pooler } from './pgbouncer.js';

/** `npm run test:pooler` sets it: every service of a test reaches its database through pgbouncer in transaction mode. */
export const IS_POOLED = process.env['TEST_POOLER'] === '1';

const LOGIN = { username: 'crossdock_pooled_tests', password: 'pooled' };
// An arbitrary key, the same in all test processes.
const LOGIN_LOCK = 7_203_117;

/** Starts a pooler in front of a test database. Its login has the service's rights, because a pooled session keeps no role. */
export async function poolDatabase(ownerUrl: string): Promise<Pooler & { url: string }> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query('select pg_advisory_lock($1)', [LOGIN_LOCK]);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [LOGIN.username]);
  if (!rowCount)
    await client.query(
      `create role ${LOGIN.username} login password '${LOGIN.password}' in role crossdock_app`,
    );
  await client.end();
  const url = Object.assign(new URL(ownerUrl), LOGIN).href;
  const pooler = await startPooler([url], { size: 25 });
  return { ...pooler, url: pooler.through(url) };
}
