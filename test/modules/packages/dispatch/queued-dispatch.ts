import { afterEach, beforeAll, expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { emptyQueue, waitingJobs } from '../../../support/receivers/outbound.js';
import { type Reply } from '../../../support/service/service.js';

export const TENANT = DEMO.tenants.demo;

type SyncRow = { package_id: string; courier_id: string; job_id: string; settled_at: Date | null };

export const figuresOf = ({ body }: Reply) => [body['data'].total_selected, body['data'].total_queued];

/** A service whose couriers have a URL for updates, and the packages that it has queued for them. */
export function withDispatch() {
  const fixture = withService({ poolSize: 20 });
  const { api, service } = fixture;
  beforeAll(async () => {
    await setUrls('https://receiver.example.com/update');
  }, 60_000);

  afterEach(async () => {
    await service().owner.query('delete from package_syncs');
    await emptyQueue(service().owner);
  });

  const setUrls = (url: string | null, courierId: string | null = null) =>
    service().owner.query(
      'update couriers set api_url_update_package = $1 where $2::uuid is null or id = $2::uuid',
      [url, courierId],
    );

  const dispatch = (as: string, body: object = {}) =>
    api.as(as).listPackages({ action: 'queue_dispatch', ...body });

  const select = async <Row>(statement: string, values: unknown[] = []) =>
    (await service().owner.query(statement, values)).rows as Row[];

  const idsWhere = async (condition: string) =>
    (
      await select<{ id: string }>(
        `select id from packages where tenant_id = $1 and ${condition} order by id`,
        [TENANT],
      )
    ).map(({ id }) => id);

  const queuedSyncs = () =>
    select<SyncRow>("select * from package_syncs where status = 'queued' order by package_id");

  /**
   * Returns the queued packages. Checks that each has its own job id and that each courier has exactly one delivery
   * job.
   */
  async function queued() {
    const syncs = await queuedSyncs();
    expect(new Set(syncs.map(({ job_id }) => job_id)).size).toBe(syncs.length);
    const couriers = [...new Set(syncs.map(({ courier_id }) => courier_id))].sort();
    const deliveryJobs = await waitingJobs(service().owner, 'deliver');
    deliveryJobs.sort((a, b) => (String(a['courierId']) < String(b['courierId']) ? -1 : 1));
    expect(deliveryJobs).toEqual(
      couriers.map((courierId) => ({ tenantId: TENANT, courierId, endpoint: 'update_package' })),
    );
    return syncs.map(({ package_id }) => package_id);
  }

  return { ...fixture, setUrls, dispatch, select, idsWhere, queuedSyncs, queued };
}
