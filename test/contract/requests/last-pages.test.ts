import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService, type Service } from '../../support/service/service.js';
import { lists, requestList } from '../lists.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const paged = lists.filter(({ hasPages }) => hasPages);

// Both numbers are allowed, so their product must be, too.
test.each(paged)('$id answers the last page of the largest size in each order', async (list) => {
  const { id, maxLimit: limit, maxPage: page } = list;
  expect(page).toBeGreaterThan(1);
  for (const order of [{}, ...list.sorts.map((field) => ({ sort_by: field }))]) {
    const reply = await requestList(service, id, { page, limit, ...order });
    // Some orders end before.
    const isRefused = reply.status === 400 && reply.body['errors'].some(isOfPage);
    expect([order, isRefused ? 200 : reply.status]).toEqual([order, 200]);
  }
});

const isOfPage = ({ field }: { field: string }) => field === 'page';
