import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { rounds } from '../../../support/harness/effort.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { figuresOf, TENANT, withDispatch } from './queued-dispatch.js';

const { IEX } = DEMO.couriers;
const { service, dispatch, select, idsWhere, queuedSyncs, queued } = withDispatch();

describe('repeated dispatch', () => {
  test('keeps the queued row of a package that is already queued and adds no second one', async () => {
    const ids = [...DEMO.packages.available.IEX];
    await dispatch('admin', { package_ids: ids.slice(0, 2) }).ok();
    const before = await queuedSyncs();
    expect(figuresOf(await dispatch('admin', { package_ids: ids }).answer())).toEqual([
      ids.length,
      ids.length - 2,
    ]);
    expect(await queued()).toEqual([...ids].sort());
    // The rows are unchanged, the time of the request included.
    expect(await queuedSyncs()).toEqual(expect.arrayContaining(before));
  });

  const setStatus = (status: string) =>
    service().owner.query('update package_syncs set status = $1, settled_at = now()', [status]);

  test.each([
    ['sending', true],
    ['sent', true],
    ['failed', false],
  ])(
    'queues a package that is %s again under a new job id and wakes its delivery queue (changed since: %s)',
    async (status, isChanged) => {
      const [id] = DEMO.packages.available.IEX;
      await dispatch('admin', { package_ids: [id] }).ok();
      const before = await select<{ job_id: string }>('select job_id from package_syncs');
      await setStatus(status);
      if (isChanged)
        await service().owner.query('update packages set updated_at = now() where id = $1', [id]);
      await emptyQueue(service().owner);
      expect(figuresOf(await dispatch('admin', { package_ids: [id] }).answer())).toEqual([1, 1]);
      const [after] = await select<{ job_id: string; settled_at: Date | null }>(
        'select * from package_syncs',
      );
      expect(after).toMatchObject({ status: 'queued', settled_at: null });
      expect(after?.job_id).not.toBe(before[0]?.job_id);
      expect(await queued()).toEqual([id]);
    },
  );

  test.each(['sending', 'sent'])('queues no package that is %s and has not changed since', async (status) => {
    const ids = [...DEMO.packages.available.IEX];
    await dispatch('admin', { package_ids: ids }).ok();
    await setStatus(status);
    await emptyQueue(service().owner);
    const before = await select('select * from package_syncs order by package_id');
    expect(figuresOf(await dispatch('iex', { package_ids: ids }).answer())).toEqual([ids.length, 0]);
    expect(await select('select * from package_syncs order by package_id')).toEqual(before);
    expect(await queued()).toEqual([]);
  });

  const CALLERS = rounds(40, 100);

  test(`${CALLERS} callers with overlapping sets in different orders queue each package once, and none fails`, async () => {
    const ids = await idsWhere('courier_id is not null');
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => {
        const set = [...ids.slice(index), ...ids.slice(0, index)].slice(0, 300);
        if (index % 2) set.reverse();
        return untilAdmitted(() => dispatch(index % 3 ? 'admin' : 'manager', { package_ids: set }).answer());
      }),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    const sum = replies.reduce((total, reply) => total + Number(figuresOf(reply)[1]), 0);
    expect(await queued()).toHaveLength(sum);
    expect(sum).toBe(new Set(ids.slice(0, CALLERS + 299)).size);
  }, 60_000);
});

describe('large dispatches', () => {
  beforeAll(async () => {
    await insertWithoutTriggers(
      service().owner,
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, shipper, warehouse_id)
       select $1, gen_random_uuid(), $2, 'many' || n, 'many' || n, 'M' || n, 1, case when n <= 10000 then 'Ten' else 'Hundred' end, $3
       from generate_series(1, 100001) n`,
      [TENANT, IEX, DEMO.warehouses.primary],
    );
  }, 60_000);

  test('queues 10,000 packages in one request, by id and by filter', async () => {
    const ids = await idsWhere("shipper = 'Ten'");
    expect(figuresOf(await dispatch('admin', { package_ids: ids }).answer())).toEqual([10_000, 10_000]);
    expect(figuresOf(await dispatch('admin', { shipper: 'Ten' }).answer())).toEqual([10_000, 0]);
    expect(await queued()).toEqual(ids);
  }, 60_000);

  test('rejects more than 100,000 packages and queues nothing', async () => {
    const reply = await dispatch('admin', { courierID: IEX }).answer();
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(reply.message).toContain('100000');
    expect(await queued()).toEqual([]);
  }, 60_000);
});
