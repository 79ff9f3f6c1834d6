import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { startService, type Service } from '../../support/service/service.js';

// The history of a package is bounded, because it is read whole (decision 0073).

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});

afterAll(async () => {
  await service.stop();
});

const LIMIT = 1_000;

const record = (body: object) => service.call('recordPackageEvent', { as: 'warehouse', body });

const countOf = async (id: string) =>
  (await parcels.select('select count(*)::int as n from package_events where package_id = $1', [id]))[0]?.[
    'n'
  ];

/** Receives a package and plants holds and releases, as many calls of RecordPackageEvent would make them. */
async function receiveWithEvents(count: number): Promise<string> {
  const id = await parcels.receive(newNumber(), { user_code: 'IEX-1001' });
  await service.owner.query(
    `insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id, source)
     select $1, gen_random_uuid(), $2, $3, case when n % 2 = 1 then 'in_transit' else 'on_hold' end,
       case when n % 2 = 1 then 'on_hold' else 'in_transit' end, $4, 'recorded'
     from generate_series(2, $5::int) as n order by n`,
    [DEMO.tenants.demo, id, DEMO.couriers.IEX, DEMO.users.warehouse, count],
  );
  const status = count % 2 === 1 ? 'on_hold' : 'in_transit';
  await service.owner.query('update packages set status = $2 where id = $1', [id, status]);
  expect(await countOf(id)).toBe(count);
  return id;
}

test('the 1,000th event of a package is recorded and the next one is refused with the package named', async () => {
  const id = await receiveWithEvents(LIMIT - 1);
  expect((await record({ package_id: id, status: 'released' })).body['data']).toMatchObject({ recorded: 1 });
  for (const status of ['on_hold', 'customs_hold', 'lost']) {
    const { status: code, body } = await record({ package_id: id, status });
    expect([code, body['code']]).toEqual([400, 'too_many_package_events']);
    expect(body['errors']).toMatchObject([{ field: 'package_id', message: expect.stringContaining(id) }]);
  }
  expect(await countOf(id)).toBe(LIMIT);
});

test('of several packages none is changed if the history of one is full', async () => {
  const [full, other] = [await receiveWithEvents(LIMIT), await receiveWithEvents(2)];
  const { body } = await record({ package_ids: [other, full], status: 'on_hold' });
  expect(body).toMatchObject({ code: 'too_many_package_events', errors: [{ field: 'package_ids[1]' }] });
  expect(await countOf(other)).toBe(2);
  expect((await record({ package_ids: [other], status: 'on_hold' })).status).toBe(200);
});

test('a package with a full history can be delivered and returned, and repeats change nothing', async () => {
  const id = await receiveWithEvents(LIMIT + 1);
  expect((await record({ package_id: id, status: 'on_hold' })).body['data']).toMatchObject({ unchanged: 1 });
  for (const status of ['delivered', 'delivered', 'returned', 'returned'])
    expect((await record({ package_id: id, status })).status).toBe(200);
  expect(await countOf(id)).toBe(LIMIT + 3);
});

test('no sequence of statuses makes the history of a package longer than the limit and its end', async () => {
  const id = await receiveWithEvents(LIMIT - 3);
  const statuses = ['on_hold', 'released', 'customs_hold', 'in_transit', 'lost', 'delivered', 'returned'];
  for (let round = 0; round < 3; round += 1)
    for (const status of statuses) await record({ package_id: id, status });
  expect(await countOf(id)).toBe(LIMIT + 2);
});
