import type { Config } from '../../../src/config/config.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { placeOf, withDatabase, type Print } from '../rig/database.js';
import { ensureTenant } from '../rig/tenants.js';
import type { Scale } from './scale.js';

export type PressureTenant = {
  id: string;
  host: string;
  /** A manifest with the scale's number of packages. */
  manifestId: string;
  courierIds: string[];
  /** A customer of each courier. */
  userCodes: string[];
  /** Received packages on no manifest. */
  packageIds: string[];
  /** Users besides the administrator, with the demo password. */
  usernames: string[];
};

export type PressureDatabase = { ownerUrl: string; tenant: PressureTenant };

const SLUG = 'pressure';
const USERS = 20;
/** More than a minute's single writes change, so that these seldom change the same package twice. */
const PACKAGES = 20_000;

/** Prepares the demo data and one tenant for `work`. A full run keeps them for the next run, a smoke run removes them. */
export function withPressureDatabase<Result>(
  config: Config,
  { name, size, manifestPackages }: Scale,
  print: Print,
  work: (database: PressureDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, { place: placeOf(name, SLUG), print }, async (ownerUrl) => {
    const tenant = await withClient(ownerUrl, async (client) => {
      const loaded = await ensureTenant(client, SLUG, { size, manifestPackages }, print);
      const read = async (text: string) => {
        const { rows } = await client.query<{ value: string }>(text, [loaded.id]);
        return rows.map(({ value }) => value);
      };
      await client.query(ADD_USERS, [loaded.id, USERS]);
      return {
        ...loaded,
        courierIds: await read('select id as value from couriers where tenant_id = $1 order by code'),
        userCodes: await read(
          `select min(u.user_code) as value from customers u join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
           where c.tenant_id = $1 and u.user_code like c.code || '-%' group by c.code order by c.code`,
        ),
        packageIds: await read(
          `select id as value from packages where tenant_id = $1 and manifest_id is null and status = 'received'
           order by id limit ${PACKAGES}`,
        ),
        usernames: await read(
          "select username as value from users where tenant_id = $1 and username like 'clerk%' order by username",
        ),
      };
    });
    return work({ ownerUrl, tenant });
  });
}

const ADD_USERS = `insert into users (tenant_id, id, username, full_name, role, password_hash)
  select u.tenant_id, gen_random_uuid(), 'clerk' || n, 'Clerk ' || n, 'warehouse', u.password_hash
  from users u, generate_series(1, $2::int) n where u.tenant_id = $1 and u.username = 'admin'
  on conflict do nothing`;
