import { randomUUID } from 'node:crypto';
import { beforeAll, expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import { withService } from '../../../support/fixture/with-service.js';
import { setWebhookUrls } from '../../../support/receivers/outbound.js';
import { untilAdmitted } from '../../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
const CUSTOMERS: Record<string, string> = { [IEX]: 'IEX-1001', [HRB]: 'HRB-2001' };

export const statusesOf = (replies: { status: number }[]) =>
  [...new Set(replies.map(({ status }) => status))].sort();

/** A service for many simultaneous callers, the calls that record events, and the events of each courier. */
export function withSimultaneousChanges() {
  // A large pool, so that the callers contend in the database and not for a connection.
  const fixture = withService({ poolSize: 40 });
  const { api, db, service } = fixture;
  beforeAll(async () => {
    await setWebhookUrls(service().owner, [IEX, HRB]);
    for (const user of ['admin', 'warehouse', 'manager']) await service().tokenOf(user);
  }, 60_000);

  const receive = (courierId: string) =>
    untilAdmitted(() =>
      api
        .as('warehouse')
        .receivePackage({
          tracking_number: `EVENTS-${randomUUID()}`,
          weight: 1,
          user_code: CUSTOMERS[courierId],
        })
        .answer(),
    );

  const dispatch = (body: object) =>
    untilAdmitted(() =>
      api
        .as('manager')
        .listPackages({ action: 'queue_dispatch', ...body })
        .answer(),
    );

  type ManifestAction = Parameters<ReturnType<typeof api.as>['manageManifest']>[0];
  const manage = (body: ManifestAction) =>
    untilAdmitted(() => api.as('warehouse').manageManifest(body).answer());
  const ship = (manifestId: string) =>
    manage({ action: 'update_meta', manifest_id: manifestId, status: 'shipped' });

  /** Inserts packages directly, so that they have no events yet. */
  async function addPackages(
    many: number,
    courierId: string | null,
    tenantId = DEMO.tenants.demo,
  ): Promise<string[]> {
    const fresh = Array.from({ length: many }, () => [`EVENTS-${randomUUID()}`, newHouseNumber()] as const);
    const rows = await db.query<{ id: string }>(
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
       select $1, gen_random_uuid(), $2, number, number, house, 1, w.id
       from unnest($3::text[], $4::text[]) as fresh (number, house), warehouses w
       where w.tenant_id = $1 and w.is_primary returning id`,
      [tenantId, courierId, fresh.map(([number]) => number), fresh.map(([, house]) => house)],
    );
    return rows.map(({ id }) => id);
  }

  /** Creates a manifest with these packages that is ready to ship. */
  async function loadManifest(packageIds: string[]): Promise<string> {
    const created = await untilAdmitted(() => api.as('warehouse').createManifest().answer());
    const manifestId = created.data.manifest_id;
    await manage({ action: 'add_packages', manifest_id: manifestId, package_ids: packageIds });
    await manage({ action: 'update_meta', manifest_id: manifestId, status: 'ready' });
    return manifestId;
  }

  /** Returns for each courier the number of events and the highest sequence that a reader can see now. */
  const readFeeds = () =>
    db.query<{ courier_id: string; events: number; last: number; counted: number | null }>(
      `select e.courier_id, count(*)::int as events, max(sequence)::int as last,
         (select last_sequence::int from event_counters c where c.courier_id = e.courier_id) as counted
       from events e where sequence is not null group by e.courier_id order by e.courier_id`,
    );

  /** Sequences are unique. If there are as many as the highest, they are 1, 2, 3 and so on. */
  async function expectNoGap(): Promise<void> {
    for (const { events, last, counted } of await readFeeds())
      expect({ events, counted }).toEqual({ events: last, counted: last });
  }

  return { ...fixture, receive, dispatch, manage, ship, addPackages, loadManifest, readFeeds, expectNoGap };
}
