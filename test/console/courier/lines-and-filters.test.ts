import { expect, test } from '@jest/globals';
import { csvOfLines } from '../../../console/src/courier/announce/lines.js';
import { filtersOf } from '../../../console/src/courier/parcels/search.js';

test('lines become a file whatever separates their cells', () => {
  const header = 'tracking_number,user_code,vendor,description\r\n';
  expect(csvOfLines('A1\tC1\n\nA2\tC2\tShop, Inc.\tBooks')).toBe(
    `${header}A1,C1,,\r\n,,,\r\nA2,C2,"Shop, Inc.",Books\r\n`,
  );
  expect(csvOfLines('A1, C1, Shop, two books, used\n')).toBe(`${header}A1,C1,Shop,"two books, used"\r\n`);
  expect(csvOfLines('A1\nA2;C2', 'C9')).toBe(`${header}A1,C9,,\r\nA2,C2,,\r\n`);
});

const NOW = Date.UTC(2026, 10, 28, 12);

/** As the address of the list says. */
const filters = (query: string) => {
  const { search = '', ...chosen } = Object.fromEntries(new URLSearchParams(query));
  return filtersOf({ search, filters: chosen, sort: '', page: 1, before: '', columns: undefined }, NOW);
};

test('the filters of an address become those of the service, and unknown ones are left out', () => {
  expect(filters('search=ab&status=nonsense&other=1')).toEqual({});
  expect(filters('status=on_hold,customs_hold')).toEqual({ status: ['on_hold', 'customs_hold'] });
  expect(
    filters('search=abc&status=lost&owner=courier&shipper=Shop&manifest=M1&loaded=no&age=7&from=2026-11-01'),
  ).toEqual({
    q: 'abc',
    status: ['lost'],
    owner: 'courier',
    shipper: 'Shop',
    manifest_id: 'M1',
    on_manifest: false,
    min_age_days: 7,
    day_zone: 'tenant',
    entryDateFloor: '2026-11-01',
  });
});

test.each([
  ['billed=no', { entryDateFloor: '2026-10-29', entryDateCeiling: '2026-11-28' }],
  ['billed=no&from=2026-09-01', { entryDateFloor: '2026-09-01', entryDateCeiling: '2026-10-01' }],
  ['billed=no&to=2026-10-31', { entryDateFloor: '2026-10-01', entryDateCeiling: '2026-10-31' }],
  ['billed=no&from=2026-11-20', { entryDateFloor: '2026-11-20', entryDateCeiling: '2026-11-28' }],
])('bills are compared in a period of 31 days: %s', (query, period) =>
  expect(filters(query)).toEqual({ billed: false, day_zone: 'tenant', ...period }),
);
