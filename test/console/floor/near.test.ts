import { expect, test } from '@jest/globals';
import { nearNumbers, partsOf } from '../../../console/src/which/near.js';

const rows = (...numbers: string[]) => numbers.map((tracking_number) => ({ tracking_number }));

test('A number with a character or two that are wrong is near, the nearest first', () => {
  const found = nearNumbers(
    ' 1za17r92yw97893932 ',
    rows(
      '1ZA17R92YW97893944',
      '1ZA17R92YW97893937',
      '1ZA17R92YW97893932',
      '1ZA17R92YW978939370',
      '1ZA17R92YW97890000',
    ),
  );
  expect(found.map(({ tracking_number }) => tracking_number)).toEqual([
    '1ZA17R92YW97893937',
    '1ZA17R92YW97893944',
  ]);
});

test('Only a number that is long enough is looked for, by its halves', () => {
  expect(partsOf('1ZA17R92YW')).toEqual(['1ZA17', 'R92YW']);
  expect(partsOf('1ZA17R92Y')).toEqual([]);
  expect(partsOf('1ZA17 R92YW')).toEqual([]);
});
