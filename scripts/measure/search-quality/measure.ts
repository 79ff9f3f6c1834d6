import type pg from 'pg';
import type { UserCaller } from '../../../src/platform/identity/callers.js';
import { searchCustomers } from '../../../src/modules/customers/search/search.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import type { Db } from '../../../src/platform/db/database.js';
import { quantile } from '../rig/statistics.js';
import { makeLabelled, recallAt, type Labelled } from './labelled.js';
import { makeNames, type Name } from '../rig/names.js';

export type Result = Labelled & { found: Name[]; ms: number };

export type Measured = { ours: Result[]; bruteForce: Result[] };

/** Inserts customers for the demo tenant's first courier in one statement and returns their names. */
export async function loadCustomers(owner: pg.ClientBase, count: number): Promise<Name[]> {
  const names = makeNames(count);
  await owner.query('begin');
  await owner.query(
    "select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)",
    [DEMO.tenants.demo],
  );
  await owner.query(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
     select $1, gen_random_uuid(), $2, 'QUALITY-' || n, first, last
     from unnest($3::text[], $4::text[]) with ordinality names (first, last, n)`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, names.map(({ first }) => first), names.map(({ last }) => last)],
  );
  await owner.query('commit');
  await owner.query('vacuum analyze customers, customer_terms');
  return names;
}

/**
 * Searches with misspelt queries of each kind, as an administrator does, and with every n-th query by brute
 * force: the edit distance to every customer's full name, in both orders. A result counts as found if the
 * name matches, whichever customer with this name it is.
 */
export async function measure(
  db: Db,
  owner: pg.ClientBase,
  names: Name[],
  { perKind, bruteForceEvery }: { perKind: number; bruteForceEvery: number },
): Promise<Measured> {
  const labelled = makeLabelled(names, perKind);
  // Plans and caches are created once per connection, not per query.
  for (const { query } of labelled.slice(0, 10)) await searchAsAdmin(db, query);
  const ours: Result[] = [];
  const bruteForce: Result[] = [];
  for (const [index, each] of labelled.entries()) {
    ours.push(await timed(each, () => searchAsAdmin(db, each.query)));
    if (index % bruteForceEvery === 0)
      bruteForce.push(await timed(each, () => searchByBruteForce(owner, each.query)));
  }
  return { ours, bruteForce };
}

export const latency = (results: Result[], share: number): number =>
  quantile(
    results.map(({ ms }) => ms),
    share,
  );

/** Returns the lines of the report: recall at 1, 5 and 15 per kind and in total, then the latencies. */
export function describe({ ours, bruteForce }: Measured): string[] {
  const kinds = [...new Set(ours.map(({ kind }) => kind))];
  const line = (title: string, results: Result[]) =>
    `${title.padEnd(28)} ${[1, 5, 15].map((depth) => recallAt(depth, results).toFixed(3)).join('  ')}  (${results.length})`;
  const times = (title: string, results: Result[]) =>
    `${title.padEnd(28)} p50 ${latency(results, 0.5).toFixed(1)} ms, p95 ${latency(results, 0.95).toFixed(1)} ms`;
  return [
    `${'recall at'.padEnd(28)} 1      5      15`,
    ...kinds.map((kind) =>
      line(
        kind,
        ours.filter((each) => each.kind === kind),
      ),
    ),
    line('all', ours),
    line('brute force, all', bruteForce),
    times('advanced search', ours),
    times('brute force', bruteForce),
    `${'p95 over brute force'.padEnd(28)} ${(latency(ours, 0.95) / latency(bruteForce, 0.95)).toFixed(3)}`,
  ];
}

async function timed(each: Labelled, search: () => Promise<Name[]>): Promise<Result> {
  const startMs = performance.now();
  const found = await search();
  return { ...each, found, ms: performance.now() - startMs };
}

const admin: UserCaller = {
  kind: 'user',
  tenantId: DEMO.tenants.demo,
  userId: DEMO.users.admin,
  role: 'admin',
  courierId: null,
  tokenVersion: 1,
  expiresAt: Math.floor(Date.now() / 1000) + 86_400,
};

async function searchAsAdmin(db: Db, q: string): Promise<Name[]> {
  const ctx = makeContext(db, admin, 'search-quality');
  const rows = await searchCustomers(ctx, { q, limit: 15, advanced: true });
  return rows.map((row) => ({ first: row.firstName, last: row.lastName }));
}

async function searchByBruteForce(owner: pg.ClientBase, q: string): Promise<Name[]> {
  const { rows } = await owner.query<Name>(
    `select first_name as first, last_name as last from customers where tenant_id = $2
     order by least(levenshtein(fold_name(first_name || ' ' || last_name), fold_name($1)),
       levenshtein(fold_name(last_name || ' ' || first_name), fold_name($1))), last_name, first_name, id limit 15`,
    [q, DEMO.tenants.demo],
  );
  return rows;
}
