import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import {
  nextStatuses,
  SUSPENDED,
  type PackageStatus,
} from '../../../../src/modules/packages/events/transitions.js';
import { rounds } from '../../../support/harness/effort.js';
import { type Reply } from '../../../support/service/service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;

export const TENANT = DEMO.tenants.demo;

export const CALLERS = rounds(60, 200);

export type Row = Record<string, unknown>;

let serial = 0;

const freshNumber = () => `EVT${process.pid}N${(serial += 1)}`;

export const tally = (replies: Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const key = status === 200 ? `200 ${body['data'].recorded}` : `${status} ${body['code']}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

export const errorsOf = ({ status, body }: Reply) => ({
  status,
  code: body['code'],
  errors: (body['errors'] as { field: string; code: string }[]).map(({ field, code }) => `${field} ${code}`),
});

/** Calls and stored rows for tests of package events. */
export function makeRecordedEvents({ api, service }: Fixture) {
  const select = async <Found = Row>(statement: string, values: unknown[] = []) =>
    (await service().owner.query<Found & Row>(statement, values)).rows;

  const record = (body: object, as = 'warehouse') => api.as(as).recordPackageEvent(unchecked(body));
  const historyOf = (package_id: string, as = 'manager') => api.as(as).listPackageEvents({ package_id });
  const manage = async (body: object) => {
    const reply = await api.as('warehouse').manageManifest(unchecked(body)).ok();
    return reply;
  };
  async function step(manifest_id: string, ...statuses: string[]): Promise<void> {
    for (const status of statuses) await manage({ action: 'update_meta', manifest_id, status });
  }

  async function newManifest(packageIds: string[] = []): Promise<string> {
    const { body } = await manage({ action: 'create_manifest' });
    const manifest_id = body['data'].manifest_id;
    if (packageIds.length > 0) await manage({ action: 'add_packages', manifest_id, package_ids: packageIds });
    return manifest_id;
  }

  async function receive(fields: object = { user_code: 'IEX-1001' }): Promise<string> {
    const body = { tracking_number: freshNumber(), weight: 1, ...fields };
    const reply = await api.as('warehouse').receivePackage(body).created();
    return reply.data.package_id;
  }

  /** Inserts packages directly: received an hour ago, now in the given status. */
  async function insertRows(
    count: number,
    status: PackageStatus = 'received',
    courierId = IEX,
  ): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    await service().owner.query(
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, status,
       warehouse_id, received_at)
     select $1, id, $2, id::text, id::text, house_number, 1, $3, $4, now() - interval '1 hour'
     from unnest($5::uuid[], $6::text[]) as new (id, house_number)`,
      [TENANT, courierId, status, DEMO.warehouses.primary, ids, ids.map(newHouseNumber)],
    );
    const at = "now() - interval '1 hour'";
    const line = `insert into package_events
      (tenant_id, id, package_id, courier_id, previous_status, status, source, occurred_at, recorded_at)
    select $1, new_id(), id, $2, $3, $4, $5, ${at}, ${at} from unnest($6::uuid[]) id`;
    await service().owner.query(line, [TENANT, courierId, null, 'received', 'intake', ids]);
    if (status !== 'received')
      await service().owner.query(line, [TENANT, courierId, 'received', status, 'manifest', ids]);
    return ids;
  }

  const one = async (status?: PackageStatus) => (await insertRows(1, status))[0] ?? '';
  const pair = async (status?: PackageStatus) => [await one(status), await one(status)] as const;
  const statusOf = async (id: string) => (await select('select status from packages where id = $1', [id]))[0];
  const auditOf = (ids: string[]) =>
    select(
      `select entity_id, before, after, remarks, actor_id from audit_entries
     where action = 'package.status_changed' and entity_id = any($1)`,
      [ids],
    );

  /** Asserts that each event starts at the previous one's status, in order, and that the last matches the package. */
  async function expectChain(id: string): Promise<Row[]> {
    const events = await select<{ previous_status: PackageStatus | null; status: PackageStatus }>(
      `select previous_status, status, source, occurred_at, lag(status) over chain as was,
       coalesce(occurred_at >= lag(occurred_at) over chain, true) as is_in_order
     from package_events where package_id = $1 window chain as (order by place) order by place`,
      [id],
    );
    for (const event of events) {
      expect(event['previous_status']).toBe(event['was']);
      expect(event['is_in_order']).toBe(true);
      const { previous_status: from, status: to, source } = event;
      if (source !== 'recorded' || from === null) continue;
      const isReleased =
        (SUSPENDED as readonly string[]).includes(from) && ['received', 'shipped'].includes(to);
      if (!isReleased) expect(nextStatuses(from)).toContain(to);
    }
    expect(await statusOf(id)).toEqual({ status: events.at(-1)?.status });
    return events;
  }

  return {
    select,
    record,
    historyOf,
    manage,
    step,
    newManifest,
    receive,
    insertRows,
    one,
    pair,
    statusOf,
    auditOf,
    expectChain,
  };
}
