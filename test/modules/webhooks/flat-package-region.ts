import { afterEach, beforeEach, expect } from '@jest/globals';
import { assignedLater } from '../../support/fixture/assigned-later.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import {
  startRegionReceiver,
  type RegionReceiver,
  type RegionRequest,
} from '../../support/receivers/region-receiver.js';
import { setEndpoints, type Endpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

// The characters that JSON and URLs spell in several ways.
export const TOKEN = 'tok/en"of\\the+region';

export type Url = 'add_package' | 'update_package';

/** A service that sends flat packages of IEX to a receiver of the region, a new one in each test. */
export function withRegion() {
  const fixture = withService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '600' } });
  const { api, db, service } = fixture;
  const [region, setRegion] = assignedLater<RegionReceiver>('receiver of the region');

  beforeEach(async () => {
    setRegion(await startRegionReceiver({ token: TOKEN }));
    await setFormats();
  });

  afterEach(async () => {
    // Pending deliveries of one test must not reach the receiver of the next.
    await db.query('delete from webhook_deliveries');
    await db.query('delete from package_syncs');
    await region.close();
  });

  const setFormats = (given: Endpoints = {}) =>
    setEndpoints(
      { owner: service().owner, secrets: service().app.secrets },
      {
        add: `${region.url}/add`,
        update: `${region.url}/update`,
        token: TOKEN,
        addFormat: 'flat',
        updateFormat: 'flat',
        ...given,
      },
    );

  let scans = 0;
  async function receive(fields: object = { user_code: 'IEX-1001' }): Promise<string> {
    const body = { tracking_number: `FLAT-${(scans += 1)}`, weight: 2.25, ...fields };
    return (await api.as('warehouse').receivePackage(body).created()).data.package_id;
  }

  /** Returns the request that an action causes. */
  async function caused(action: () => Promise<unknown>): Promise<RegionRequest> {
    const before = region.requests.length;
    await action();
    await until(async () => region.requests.length > before || region.faults.length > 0);
    expect(region.faults).toEqual([]);
    const request = region.requests[before];
    if (!request) throw new Error('No request arrived.');
    return request;
  }

  const record = (package_id: string, status: string) =>
    api.as('warehouse').recordPackageEvent(unchecked({ package_id, status })).succeeded();

  /** Returns the newest delivery of a package once it has been attempted. */
  async function attempted(packageId: string, attempts = 1) {
    const newest = async () =>
      (await api.as('iex').listWebhookDeliveries({ package_id: packageId }).ok()).data[0];
    await until(async () => ((await newest())?.attempt_count ?? 0) >= attempts);
    const delivery = await newest();
    if (!delivery) throw new Error(`The package ${packageId} has no delivery.`);
    return delivery;
  }

  const sendTest = async (endpoint: Url) =>
    (await api.as('iex').manageWebhookDeliveries({ action: 'send_test', endpoint }).ok()).data;

  return { ...fixture, region, setFormats, receive, caused, record, attempted, sendTest };
}
