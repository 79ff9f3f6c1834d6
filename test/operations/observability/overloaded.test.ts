import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { growth, scrape } from '../../support/readers/exposition.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

const LIMIT_MS = 60_000;

let service: Service;

beforeAll(async () => {
  service = await startService({ env: { METRICS_PORT: '0' }, poolSize: 3 });
}, LIMIT_MS);

afterAll(() => service.stop(), LIMIT_MS);

test(
  'a request that waits in vain for a connection counts as refused, although no queue stands and the event loop is not late',
  async () => {
    const read = () => scrape(service.metrics?.port ?? 0);
    const list = () => service.call('listCarriers', { as: 'warehouse' });
    expect((await list()).status).toBe(200);
    const before = await read();
    const blocker = await service.owner.connect();
    await blocker.query('begin');
    await blocker.query('lock table carriers in access exclusive mode');
    const lists = Array.from({ length: 9 }, list);
    const first = await Promise.race(lists);
    await blocker.query('rollback');
    blocker.release();
    const statuses = (await Promise.all(lists)).map(({ status }) => status);
    const refused = statuses.filter((status) => status === 503).length;
    expect([first.status, first.body]).toMatchObject([503, { code: 'overloaded' }]);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const counted = async (name: string) => {
      const grown = growth(before, await read(), `crossdock_${name}_total`);
      return Object.values(grown).reduce((sum, count) => sum + count, 0);
    };
    await until(async () => (await counted('overloaded')) >= refused, 10_000);
    expect([refused, await counted('overloaded')]).toEqual([refused, refused]);
    expect([await counted('pool_refused'), await counted('loop_refused')]).toEqual([0, 0]);
    expect(refused).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
