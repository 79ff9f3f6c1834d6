import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeUpdates, freshNumber, deliveryJobOf, type Row } from './package-updates.js';

const { IEX } = DEMO.couriers;

const fixture = withService({ poolSize: 30 });
const { api, service } = fixture;
const { addPackage, update, tracesOf, rowOf, select } = makeUpdates(fixture);
beforeEach(() => emptyQueue(service().owner));

describe('concurrent updates', () => {
  const SAME_CALLERS = rounds(100, 500);
  const DIFFERENT_CALLERS = rounds(60, 200);
  const NUMBER_ROUNDS = rounds(4, 30);

  test(`${SAME_CALLERS} callers with the same values make one change, one audit entry, one queued synchronisation and one delivery job`, async () => {
    const id = await addPackage();
    const fields = {
      weight: 8.125,
      user_code: 'IEX-1003',
      tracking_number: freshNumber(),
      description: 'Same',
    };
    const replies = await Promise.all(
      Array.from({ length: SAME_CALLERS }, (_, index) =>
        untilAdmitted(() => update(index % 2 ? 'admin' : 'warehouse', id, fields).answer()),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(SAME_CALLERS).fill(200));
    const counts = replies.map(({ data }) => data.fields_updated);
    expect(counts.filter((count) => count > 0)).toEqual([4]);
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect(audited).toHaveLength(1);
    expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
    expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
  }, 120_000);

  test(`of ${DIFFERENT_CALLERS} callers with different values the last one wins, the audit log has no gap, and one synchronisation waits`, async () => {
    const id = await addPackage();
    const replies = await Promise.all(
      Array.from({ length: DIFFERENT_CALLERS }, (_, index) =>
        untilAdmitted(() => update('admin', id, { weight: index + 1 }).answer()),
      ),
    );
    expect(replies.map(({ data }) => data.fields_updated)).toEqual(Array(DIFFERENT_CALLERS).fill(1));
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect(audited).toHaveLength(DIFFERENT_CALLERS);
    expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
    expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
    // Each change began with the value that another one wrote: an Eulerian path from the first weight to the last.
    const weightsOf = (side: string) => audited.map((entry) => (entry[side] as Row)['weight_lb']);
    const { weight_lb: last } = await rowOf(id);
    expect([...weightsOf('before'), Number(last).toFixed(3)].sort()).toEqual(
      ['4.250', ...weightsOf('after')].sort(),
    );
  }, 120_000);

  test('two packages and a scan that race for one number leave one package with it, and no caller gets a 500', async () => {
    for (let round = 0; round < NUMBER_ROUNDS; round += 1) {
      const [a, b] = [await addPackage(), await addPackage()];
      const wanted = freshNumber();
      const replies = await Promise.all([
        update('admin', a, { tracking_number: wanted }).answer(),
        update('warehouse', b, { tracking_number: wanted }).answer(),
        api.as('warehouse').receivePackage({ tracking_number: wanted, weight: 1 }).answer(),
      ]);
      const rows = await select('select id from packages where tracking_key = $1', [wanted]);
      expect(rows).toHaveLength(1);
      expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
      expect(replies.slice(0, 2).filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    }
  }, 60_000);

  test('concurrent updates and dispatches of the same packages all succeed with one synchronisation each and one delivery job', async () => {
    await service().owner.query(
      "update couriers set api_url_update_package = 'https://receiver.example.com/update' where id = $1",
      [IEX],
    );
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await addPackage());
    const calls = Array.from({ length: 100 }, (_, index) =>
      untilAdmitted<Pick<Reply, 'status' | 'body'>>(() =>
        index % 5 === 0
          ? api.as('admin').listPackages({ action: 'queue_dispatch', package_ids: ids }).answer()
          : update('admin', String(ids[index % 20]), {
              weight: 1 + index,
              tracking_number: freshNumber(),
            }).answer(),
      ),
    );
    const replies = await Promise.all(calls);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    for (const id of ids) {
      const { syncs, deliveryJobs } = await tracesOf(id);
      expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
      expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
    }
  }, 60_000);
});
