import { expect } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Api } from '../fixture/api.js';
import type { Reply, Service } from '../service/service.js';
import { insertWithoutTriggers } from './many-rows.js';

export const CUSTOMERS = { IEX: 'IEX-1001', HRB: 'HRB-2001' } as const;
export type CourierCode = keyof typeof CUSTOMERS;
export type Row = Record<string, unknown>;

let serial = 0;
/** Returns a number that no other test of this process uses, in no carrier's format. */
export const newNumber = (): string => `PCL${process.pid}N${String((serial += 1)).padStart(6, '0')}`;

/** Returns a response without the parts that differ on every call. */
export const comparableReply = ({ status, body }: Reply): string =>
  JSON.stringify([status, { ...body, request_id: '', timestamp: '' }]);

/** API calls for tests of packages, and queries for the stored rows. */
export function makeParcels(service: Service) {
  const select = async (statement: string, values: unknown[] = []) =>
    (await service.owner.query<Row>(statement, values)).rows;
  const first = async (statement: string, values: unknown[]) => (await select(statement, values))[0] ?? {};

  const submit = (courier: CourierCode, number: string, userCode: string = CUSTOMERS[courier]) =>
    service.call('submitPrealert', {
      key: DEMO.apiKeys[courier],
      body: { UserCode: userCode, TrackingNumber: number },
    });
  const scan = (number: string, fields: object = {}) =>
    service.call('receivePackage', {
      as: 'warehouse',
      body: { tracking_number: number, weight: 2, ...fields },
    });

  return {
    select,
    submit,
    scan,
    packageRow: (id: string) => first('select * from packages where id = $1', [id]),
    prealertRow: (id: string) => first('select * from prealerts where id = $1', [id]),
    auditOf: (id: string) =>
      select('select action, actor_id, before, after from audit_entries where entity_id = $1 order by id', [
        id,
      ]),
    statusOf: async (id: string) =>
      (await first('select status from prealerts where id = $1', [id]))['status'],
    update: (as: string, packageId: string, fields: object) =>
      service.call('updatePackage', { as, body: { package_id: packageId, ...fields } }),
    /** Submits a pre-alert with the courier's key and returns its id. */
    async announce(courier: CourierCode, number: string, userCode?: string): Promise<string> {
      const reply = await submit(courier, number, userCode);
      expect(reply.status).toBe(201);
      return String(reply.body['data'].prealert_id);
    },
    /** Receives a new package and returns its id. */
    async receive(number: string, fields: object = {}): Promise<string> {
      const reply = await scan(number, fields);
      expect(reply.status).toBe(201);
      return String(reply.body['data'].package_id);
    },
  };
}

/** Creates a manifest with these packages and ships it. Returns its id and number. */
export async function shipPackages(
  api: Api,
  packageIds: string[],
): Promise<{ manifestId: string; manifestNumber: string }> {
  const staff = api.as('warehouse');
  const { data } = await staff.createManifest({}).ok();
  const { manifest_id, manifest_number: manifestNumber } = data;
  await staff.manageManifest({ action: 'add_packages', manifest_id, package_ids: packageIds }).ok();
  for (const status of ['ready', 'shipped'] as const)
    await staff.manageManifest({ action: 'update_meta', manifest_id, status }).ok();
  return { manifestId: manifest_id, manifestNumber };
}

export type PlantedClaim = { courierId: string; trackingNumber: string; status?: 'open' | 'refused' };

/** Plants a claim of a courier for its first active customer, past the limits of the operation. Returns its id. */
export async function insertClaim(
  owner: pg.Pool,
  { courierId, trackingNumber, status = 'open' }: PlantedClaim,
): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into parcel_claims (tenant_id, id, courier_id, customer_id, user_code, tracking_number, tracking_key, status, submitted_by,
       decided_by, decided_at)
     select k.tenant_id, new_id(), k.courier_id, k.id, k.user_code, $2, $2, $3, new_id(), case when $3 = 'refused' then new_id() end,
       case when $3 = 'refused' then now() end
     from customers k where k.courier_id = $1 and k.is_active order by k.user_code limit 1 returning id`,
    [courierId, trackingNumber, status],
  );
  const [row] = rows;
  if (!row) throw new Error(`The courier ${courierId} has no active customer.`);
  return row.id;
}

/** Stores a document of a claim, and returns its id. */
export async function insertDocument(owner: Pick<pg.Pool, 'query'>, claimId: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into claim_documents (tenant_id, id, claim_id, courier_id, media_type, content_hash, content, submitted_by)
     select tenant_id, new_id(), id, courier_id, 'application/pdf', encode(sha256('%PDF-1.7'), 'hex'), '%PDF-1.7 %%EOF', submitted_by
     from parcel_claims where id = $1 returning id`,
    [claimId],
  );
  const [row] = rows;
  if (!row) throw new Error(`There is no claim ${claimId}.`);
  return row.id;
}

export type PlantedPrealerts = {
  courierId: string;
  count: number;
  status?: 'pending' | 'received';
  daysAgo?: number;
  /** The tenant of the rows. */
  tenantId?: string;
};

/** Plants pre-alerts of numbers that nothing else has, without the tallies of the list. */
export async function plantPrealerts(
  owner: pg.Pool,
  { courierId, count, status = 'pending', daysAgo = 0, tenantId = DEMO.tenants.demo }: PlantedPrealerts,
): Promise<void> {
  await insertWithoutTriggers(
    owner,
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, status, created_at)
     select $1, new_id(), $2, 'PLANTED', $3 || n, $3 || n, $3 || n, $4, now() - make_interval(days => $5)
     from generate_series(1, $6::int) n`,
    [tenantId, courierId, `${newNumber()}X`, status, daysAgo, count],
  );
}

/** Inserts a link for each package that has a customer and no link. Nobody has its key. */
export async function insertTrackingLinks(owner: pg.Pool): Promise<void> {
  await owner.query(
    `insert into tracking_links (tenant_id, id, courier_id, package_id, customer_id, user_code, key_hash, key_cipher)
     select p.tenant_id, new_id(), p.courier_id, p.id, u.id, p.user_code, encode(sha256(p.id::text::bytea), 'hex'), 'v1.none'
     from packages p join customers u on u.tenant_id = p.tenant_id and u.courier_id = p.courier_id and u.user_code = p.user_code
     on conflict do nothing`,
  );
}
