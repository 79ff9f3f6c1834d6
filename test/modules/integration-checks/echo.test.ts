import { expect, test } from '@jest/globals';
import { findKilograms, findOtherZone } from '../../../src/modules/integration-checks/echo.js';

const LB = 3.25;

test('a unit beside the weight, in its name or in its value shows kilograms', () => {
  for (const content of [
    { weight: LB, unit: 'kg' },
    { package: { weight_kg: LB } },
    [{ items: [{ peso: `${LB}`, uom: 'kilos' }] }],
    { weight: LB * 2.204_62 },
  ])
    expect([content, findKilograms(content, LB)]).toEqual([content, expect.stringContaining('sent 3.25 lb')]);
});

test('pounds, another object with a unit, and other numbers show nothing', () => {
  for (const content of [
    { weight: LB, unit: 'lb' },
    { weight: LB, size: { unit: 'kg' } },
    { count: LB, unit: 'kg' },
  ])
    expect([content, findKilograms(content, LB)]).toEqual([content, undefined]);
});

test('an answer with many weights and many units is read in milliseconds', () => {
  const content = Object.fromEntries([
    ...Array.from({ length: 500 }, (_, n) => [`weight${n}`, LB]),
    ...Array.from({ length: 5_300 }, (_, n) => [`u${n}`, {}]),
  ]) as object;
  const startedMs = process.cpuUsage().user;
  for (let n = 0; n < 3; n += 1) {
    expect(findKilograms(content, LB)).toBeUndefined();
    expect(findOtherZone(content, new Date())).toBeUndefined();
  }
  // 3 ms each. To look for a unit beside each weight takes 700.
  expect((process.cpuUsage().user - startedMs) / 1_000).toBeLessThan(300);
});
