import { expect, test } from '@jest/globals';
import { untilAdmitted } from '../../support/service/service.js';

const answers = (...replies: [status: number, code?: string][]) => {
  const left = replies.map(([status, code]) => ({ status, body: { code } }));
  return () => Promise.resolve(left.shift() ?? { status: 0, body: {} });
};

test('untilAdmitted repeats 503 overloaded, and shows every other 503 to its test', async () => {
  expect((await untilAdmitted(answers([503, 'overloaded'], [503, 'overloaded'], [201]))).status).toBe(201);
  const unavailable = await untilAdmitted(answers([503, 'overloaded'], [503, 'unavailable'], [201]));
  expect(unavailable).toEqual({ status: 503, body: { code: 'unavailable' } });
});
