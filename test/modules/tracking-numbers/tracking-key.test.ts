import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';

const digits = (first: string, length: number) => first.padEnd(length, '0123456789');

// Published by jkeen/tracking_number_data (MIT), in its FedEx and USPS files.
const FEDEX_34: [label: string, number: string][] = [
  ['1001921334250001000300779017972697', '779017972697'],
  ['1001921380360001000300639585804382', '639585804382'],
  ['1001901781990001000300617767839437', '617767839437'],
  ['1002297871540001000300790695517286', '790695517286'],
  ['1027590111820004833500785458233610', '785458233610'],
  ['1195266473930007521100871079919940', '871079919940'],
  ['1195271874060007521100871140316925', '871140316925'],
  ['1195583874210007521100871140316936', '871140316936'],
  ['9622001900000000000000776632517510', '776632517510'],
  ['9622001560000000000000794808390594', '794808390594'],
  ['9622001560001234567100794808390594', '794808390594'],
  ['9632001560123456789900794808390594', '794808390594'],
];
const FEDEX_32: [label: string, number: string][] = [
  ['32971514560102447849175802862014', '784917580286'],
  ['32971510360102447848540980802018', '784854098080'],
  ['32971508360102447847941133172013', '784794113317'],
  ['33810799560000004380417923803212', '438041792380'],
];
const USPS_34: [label: string, number: string][] = [
  ['4201002334249200190132607600833457', '9200190132607600833457'],
  ['4201028200009261290113185417468510', '9261290113185417468510'],
];

const OWN_KEYS: [name: string, number: string][] = [
  ['33 digits', digits('96', 33)],
  ['35 digits', digits('96', 35)],
  ['34 digits that begin with 92', digits('92', 34)],
  ['34 digits that begin with 9 and have a right check digit', '9201921334250001000300779017972697'],
  ['34 digits with a wrong check digit', '2001921334250001000300779017972698'],
  ['34 characters with a letter', `96${'A'.repeat(20)}794644790132`],
  ['32 digits with a wrong check digit at offset 16', '32971514560102447849175802852014'],
  ['32 digits that begin with 4', '42971514560102447849175802862014'],
  ['31 digits', '3297151456010244784917580286201'],
  ['a line break after 32 digits', '32971514560102447849175802862014\n'],
  ['a space among 32 digits', '3 2971514560102447849175802862014'],
];

describe('USPS', () => {
  test.each([20, 22, 26, 30])('420, a ZIP and a number of %i digits give the number', (length) => {
    const number = digits('94', length);
    expect(trackingKey(`42033126${number}`)).toBe(number);
    expect(trackingKey(`420331261234${number}`)).toBe(number);
  });

  test.each(USPS_34)('the published label of 34 digits %s is not parsed as FedEx', (label, number) => {
    expect(trackingKey(label)).toBe(number);
  });

  test('a plain number is its own key', () => {
    expect(trackingKey('9400111899223100001234')).toBe('9400111899223100001234');
  });

  test.each([
    ['a number that does not begin with 9', `42033126${digits('84', 22)}`],
    ['a digit too few', `42033126${digits('94', 21)}`],
    ['a digit too many', `42033126${digits('94', 23)}`],
    ['another application identifier', `42133126${digits('94', 22)}`],
    ['a ZIP with a letter', `4203312A${digits('94', 22)}`],
    ['a space after the ZIP', `42033126 ${digits('94', 22)}`],
    ['a character in front', `A42033126${digits('94', 22)}`],
    ['a line break at the end', `42033126${digits('94', 22)}\n`],
  ])('uses the whole text as the key if it has %s', (_name, number) => {
    expect(trackingKey(number)).toBe(number);
  });
});

describe('FedEx', () => {
  const routing = (first: string) => digits(first, 22);

  test.each(FEDEX_34)('the published label of 34 digits %s gives %s', (label, number) => {
    expect(trackingKey(label)).toBe(number);
  });

  test.each(FEDEX_32)('the published ASTRA label %s gives %s', (label, number) => {
    expect(trackingKey(label)).toBe(number);
  });

  test.each(['0', '1', '2', '3', '4', '5', '6', '7', '8'])(
    '34 digits that begin with %s and have a valid check digit give the number',
    (first) => {
      expect(trackingKey(`${first}001921334250001000300779017972697`)).toBe('779017972697');
    },
  );

  test('returns a tracking number of 14 digits in full', () => {
    expect(trackingKey('12019213342500010003' + '12345678901230')).toBe('12345678901230');
  });

  test.each(['96', '10', '11'])(
    '34 digits that begin with %s give the last 12 digits even with a wrong check digit',
    (first) => {
      expect(trackingKey(`${routing(first)}794644790132`)).toBe('794644790132');
    },
  );

  test('the 12 digits alone are their own key', () => {
    expect(trackingKey('794644790132')).toBe('794644790132');
  });

  test.each(OWN_KEYS)('uses the whole text as the key for %s', (_name, number) => {
    expect(trackingKey(number)).toBe(number);
  });
});

test.each(['1Z999AA10123456784', 'TBA123456789000', 'a', 'Ä ß', '1z999aa10123456784'])(
  '%j is its own key, byte for byte',
  (number) => {
    expect(trackingKey(number)).toBe(number);
  },
);

test('the key of a key is the same key', () => {
  const labels = [...FEDEX_34, ...FEDEX_32, ...USPS_34].map(([label]) => label);
  for (const number of [...labels, `42033126${digits('94', 22)}`]) {
    expect(trackingKey(trackingKey(number))).toBe(trackingKey(number));
  }
});

describe('tracking_key_of in SQL', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  beforeAll(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
  }, 60_000);
  afterAll(async () => {
    await owner.end();
    await database.drop();
  });

  test('agrees with trackingKey for all numbers above and 20,000 random ones', async () => {
    const published = [...FEDEX_34, ...FEDEX_32, ...USPS_34].flat();
    const numbers = [...published, ...OWN_KEYS.map(([, number]) => number), ...randomNumbers(20_000)];
    const { rows } = await owner.query<{ key: string }>(
      'select tracking_key_of(number) as key from unnest($1::text[]) with ordinality as n (number, place) order by place',
      [numbers],
    );
    const differing = rows.filter(({ key }, index) => key !== trackingKey(numbers[index] ?? ''));
    expect(differing).toEqual([]);
    const stripped = rows.filter(({ key }, index) => key !== numbers[index]).length;
    expect(stripped).toBeGreaterThan(3_000);
  });
});

/** Returns random digits with the lengths and prefixes that the rules distinguish. */
function randomNumbers(count: number): string[] {
  const beginnings = ['', '3', '10', '11', '12', '96', '92', '42033126', '4203312612349', '420331269'];
  const lengths = [12, 14, 28, 30, 31, 32, 33, 34, 34, 34, 35, 38, 42];
  const pick = <T>(from: T[]): T | undefined => from[Math.floor(Math.random() * from.length)];
  return Array.from({ length: count }, () => {
    let number = pick(beginnings) ?? '';
    const length = pick(lengths) ?? 34;
    while (number.length < length) number += String(Math.floor(Math.random() * 10));
    return number;
  });
}
