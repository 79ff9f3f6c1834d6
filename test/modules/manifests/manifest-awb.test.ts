import { describe, expect, test } from '@jest/globals';
import { airlinePrefixOf, checkAwb, newSuffix } from '../../../src/modules/manifests/lifecycle/awb.js';
import { withService } from '../../support/fixture/with-service.js';

// Number, airline prefix, and result for the check digit: 1234567 modulo 7 is 5.
const CASES: [awbNumber: string, prefix: string | null, check: string][] = [
  ['106-12345675', '106', 'valid'],
  ['10612345675', '106', 'valid'],
  ['106-12345670', '106', 'invalid'],
  ['106-12345671', '106', 'invalid'],
  ['106-12345676', '106', 'invalid'],
  ['106-12345677', '106', 'invalid'],
  ['10612345679', '106', 'invalid'],
  ['001-00000000', '001', 'valid'],
  ['001-00000001', '001', 'invalid'],
  ['001-00000070', '001', 'valid'],
  ['000-99999990', '000', 'invalid'],
  ['999-99999992', '999', 'valid'],
  ['106-1234567', '106', 'not_checked'],
  ['106-123456755', '106', 'not_checked'],
  ['106 12345675', '106', 'not_checked'],
  ['106--12345675', '106', 'not_checked'],
  ['106-1234567A', '106', 'not_checked'],
  ['106-1234 5675', '106', 'not_checked'],
  ['106-12345675\n', '106', 'not_checked'],
  ['106', '106', 'not_checked'],
  ['10', null, 'not_checked'],
  ['AWB-12345675', null, 'not_checked'],
  ['10A-12345675', null, 'not_checked'],
  [' 106-12345675', null, 'not_checked'],
  ['-10612345675', null, 'not_checked'],
  ['١٠٦-12345675', null, 'not_checked'],
];

const { api, service } = withService();

test.each(CASES)('the air waybill number %j has the prefix %j and is %s', (awbNumber, prefix, check) => {
  expect(airlinePrefixOf(awbNumber)).toBe(prefix);
  expect(checkAwb(awbNumber)).toBe(check);
});

test('a missing number has no prefix and is not checked', () => {
  expect(airlinePrefixOf(null)).toBeNull();
  expect(checkAwb(null)).toBe('not_checked');
});

test('of 70,000 numbers exactly those with the right check digit are valid', () => {
  const wrong: string[] = [];
  let valid = 0;
  for (let serial = 0; serial < 7_000; serial += 1) {
    for (let digit = 0; digit < 10; digit += 1) {
      const number = `106-${String(serial).padStart(7, '0')}${digit}`;
      const check = checkAwb(number);
      // An expect() for each number would take seconds.
      if (check !== (serial % 7 === digit ? 'valid' : 'invalid')) wrong.push(number);
      if (check === 'valid') valid += 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(valid).toBe(7_000);
});

describe('stored AWB numbers', () => {
  test.each(CASES)('stores %j trimmed, whatever its check digit', async (sent) => {
    const awbNumber = sent.trim();
    const check = checkAwb(awbNumber);
    const created = await api.as('warehouse').createManifest({ awb_number: sent }).ok();
    expect(created).toMatchObject({ status: 200, body: { data: { status: 'draft', awb_check: check } } });
    expect(await stored(created.data.manifest_id)).toEqual({
      awb_number: awbNumber,
      airline_prefix: airlinePrefixOf(awbNumber),
    });
  });

  test('stores a blank number as null', async () => {
    for (const awb_number of ['', '   ']) {
      const created = await api.as('admin').createManifest({ awb_number }).ok();
      expect(created.data.awb_check).toBe('not_checked');
      expect(await stored(created.data.manifest_id)).toEqual({
        awb_number: null,
        airline_prefix: null,
      });
    }
  });
});

test('100,000 suffixes have four letters or digits and use all 36 in each position', () => {
  const seen = Array.from({ length: 4 }, () => new Set<string>());
  for (let made = 0; made < 100_000; made += 1) {
    const suffix = newSuffix();
    if (!/^[A-Z0-9]{4}$/.test(suffix)) throw new Error(suffix);
    seen.forEach((characters, place) => characters.add(suffix.charAt(place)));
  }
  expect(seen.map((characters) => characters.size)).toEqual([36, 36, 36, 36]);
});

async function stored(id: string): Promise<unknown> {
  const { rows } = await service().owner.query(
    'select awb_number, airline_prefix from manifests where id = $1',
    [id],
  );
  return rows[0];
}
