import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { matching } from '../support/assertions/matching.js';
import { PAGES } from '../../console/src/pages.js';
import { doubtOf, isCodeText, readMeasures } from '../../console/src/staff/parcel.js';
import { countDay } from '../../console/src/staff/day.js';
import { en as courierEn } from '../../console/src/courier/texts/en.js';
import { es as courierEs } from '../../console/src/courier/texts/es.js';
import { OFFICE_PAGES } from '../../console/src/office/pages.js';
import { en as officeEn } from '../../console/src/office/texts/en.js';
import { es as officeEs } from '../../console/src/office/texts/es.js';
import { officeFailuresEs } from '../../console/src/office/texts/failures-es.js';
import { announcedEn } from '../../console/src/texts/on-use/announced/announced-en.js';
import { hooksEn } from '../../console/src/texts/on-use/hooks-en.js';
import { announcedEs } from '../../console/src/texts/on-use/announced/announced-es.js';
import { hooksEs } from '../../console/src/texts/on-use/hooks-es.js';
import { ratesEn } from '../../console/src/texts/on-use/rates/rates-en.js';
import { ratesEs } from '../../console/src/texts/on-use/rates/rates-es.js';
import { reportsEn } from '../../console/src/texts/on-use/reports-en.js';
import { reportsEs } from '../../console/src/texts/on-use/reports-es.js';
import { runEn } from '../../console/src/texts/on-use/run-en.js';
import { runEs } from '../../console/src/texts/on-use/run-es.js';
import { teamEn } from '../../console/src/texts/on-use/team-en.js';
import { teamEs } from '../../console/src/texts/on-use/team-es.js';
import { callsEn } from '../../console/src/integration/calls/texts-en.js';
import { callsEs } from '../../console/src/integration/calls/texts-es.js';
import { feedsEn } from '../../console/src/integration/feeds/texts-en.js';
import { feedFailuresEs, feedsEs } from '../../console/src/integration/feeds/texts-es.js';
import { eventsEn, eventsEs } from '../../console/src/integration/events-texts.js';
import { manifestHistoryTexts } from '../../console/src/flights/history/texts.js';
import { sandboxTexts } from '../../console/src/integration/sandbox/texts.js';
import { trackingFailuresEs, trackingTexts } from '../../console/src/integration/tracking/texts.js';
import { integrationEn, integrationEs } from '../../console/src/integration/texts.js';
import { voidEn, voidEs } from '../../console/src/find/void/texts.js';
import { accountEn, accountEs } from '../../console/src/session/account-texts.js';
import { pinEn, pinEs } from '../../console/src/session/pin/texts.js';
import { unsavedEn, unsavedEs } from '../../console/src/texts/on-use/unsaved.js';
import { en as stationEn } from '../../console/src/texts/en.js';
import { es as stationEs } from '../../console/src/texts/es.js';
import { failuresEs as stationFailuresEs } from '../../console/src/texts/failures-es.js';

import { operations, type OperationId } from '../../generated/operations.js';
import { projectRoot } from '../../src/config/project-root.js';
import { hasPermission, type Permission } from '../../src/platform/access/permissions.js';
import { bundle, codesOf, operationOf } from '../support/service/contract.js';

// The texts of the office load with it, and those of couriers with their pages.
const en: Record<string, string> = {
  ...stationEn,
  ...officeEn,
  ...courierEn,
  ...announcedEn,
  ...hooksEn,
  ...ratesEn,
  ...reportsEn,
  ...runEn,
  ...teamEn,
  ...unsavedEn,
  ...pinEn,
  ...accountEn,
  ...voidEn,
  ...integrationEn,
  ...eventsEn,
  ...callsEn,
  ...feedsEn,
  ...sandboxTexts.en,
  ...trackingTexts.en,
  ...manifestHistoryTexts.en,
};
const es: Record<string, string> = {
  ...stationEs,
  ...officeEs,
  ...courierEs,
  ...announcedEs,
  ...hooksEs,
  ...ratesEs,
  ...reportsEs,
  ...runEs,
  ...teamEs,
  ...unsavedEs,
  ...pinEs,
  ...accountEs,
  ...voidEs,
  ...integrationEs,
  ...eventsEs,
  ...callsEs,
  ...feedsEs,
  ...sandboxTexts.es,
  ...trackingTexts.es,
  ...manifestHistoryTexts.es,
};
const failuresEs: Record<string, string> = {
  ...stationFailuresEs,
  ...officeFailuresEs,
  ...feedFailuresEs,
  ...trackingFailuresEs,
};

// Parts for administrators only count as pages of their own.
const ADMIN_PARTS = OFFICE_PAGES.flatMap(({ id, adminOperations = [] }) => ({
  id,
  roles: ['admin'] as const,
  operations: adminOperations,
}));
const ALL_PAGES = [...PAGES, ...OFFICE_PAGES, ...ADMIN_PARTS];

const folder = join(projectRoot, 'console/src');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
const sources = files
  .filter(({ path }) => !/^(?:(?:office|courier)\/)?texts/.test(path))
  .map(({ text }) => text)
  .join('\n');

describe('the texts', () => {
  test('have the same keys in English and Spanish', () => {
    expect(Object.keys(es).sort()).toEqual(Object.keys(en).sort());
  });

  test('of the office and of couriers replace none of the others', () => {
    const shared = (one: object, other: object) => Object.keys(one).filter((key) => key in other);
    expect([
      ...shared(officeEn, stationEn),
      ...shared(courierEn, { ...stationEn, ...officeEn }),
      ...shared(reportsEn, { ...stationEn, ...officeEn, ...courierEn, ...hooksEn }),
      ...shared(hooksEn, { ...stationEn, ...officeEn, ...courierEn }),
      ...shared(officeFailuresEs, stationFailuresEs),
    ]).toEqual([]);
  });

  test('have the same placeholders in both languages, and none is empty', () => {
    const placeholders = (texts: Record<string, string>) =>
      Object.entries(texts).map(([key, text]) => [
        key,
        text.length > 0,
        [...new Set(text.match(/\{\w+\}/g))].sort(),
      ]);
    expect(placeholders(es).sort()).toEqual(placeholders(en).sort());
  });

  test('are all used', () => {
    // `word.received` is also used as t(`word.${word}`) or textOf('word', word).
    const prefixes = new Set(
      [...sources.matchAll(/[`'](\w+)\.(?:to\.)?\$\{|(?:textOf\()'(\w+)'/g)].map(
        ([, inText, asArgument]) => inText ?? asArgument,
      ),
    );
    const unused = Object.keys(en).filter(
      (key) => !sources.includes(`'${key}'`) && !prefixes.has(key.split('.')[0]),
    );
    expect(unused).toEqual([]);
  });
});

describe('a failure that the service tells the console', () => {
  const SESSION = [
    'login',
    'changePassword',
    'manageTwoFactor',
    'manageSessions',
    'resetPassword',
    'manageStationWorker',
    'switchWorker',
    'updatePreferences',
  ];
  // A wrong name has no operation, which the tests of the menu find.
  const used = [
    ...new Set([...ALL_PAGES.flatMap(({ operations: names }) => names), ...SESSION]),
  ] as OperationId[];
  const failures = (id: OperationId) =>
    operationOf(id)
      .statuses.filter((status) => status >= 400)
      .flatMap((status) => codesOf(id, status));

  test('has a text in Spanish, whichever operation of the console it comes from', () => {
    const codes = new Set(used.flatMap(failures));
    expect(codes.size).toBeGreaterThan(50);
    expect([...codes].filter((code) => !failuresEs[code])).toEqual([]);
  });

  test('is one of the contract', () => {
    const known = new Set(used.flatMap(failures));
    expect(Object.keys(failuresEs).filter((code) => !known.has(code))).toEqual([]);
  });

  test('has a text for each reason of a scan', () => {
    // The list ends with null, for scans without a reason.
    const { ScanReason } = bundle.components['schemas'] as Record<
      'ScanReason',
      { 'x-extensible-enum': (string | null)[] }
    >;
    const reasons = ScanReason['x-extensible-enum'];
    expect(reasons).toContain('already_received');
    expect(reasons.filter((reason) => reason !== null && !(`reason.${reason}` in en))).toEqual([]);
  });
});

describe('an English text of the service', () => {
  const FIELDS = ['message', 'remarks', 'explanation'];
  /** Where the console reads one, and why. Nothing is read out of it: what a page needs of it is a field or a code of the response. */
  const READERS = [
    'courier/bills/bill-view.tsx remarks: of people',
    'flights/history/changes.tsx remarks: of people',
    'flights/history/loads.tsx remarks: of people',
    'find/find.tsx explanation: on a device in English only',
    'find/find.tsx remarks: of people; or the text of a change that has no fields yet',
    'office/pages/audit.tsx remarks: of people',
    'office/pages/parcels/event-dialog.tsx remarks: written here, by people',
    'office/pages/parcels/history/timeline.tsx remarks: of people; a text of a change has fields, which are shown instead',
    'office/pages/bills/bill.tsx remarks: of people',
    'office/pages/bills/draft-fields.tsx remarks: written here, by people',
    'office/pages/bills/run/columns.tsx message: of warnings of a later version',
    'office/pages/bills/run/progress.tsx message: of reasons of a later version',
    'office/pages/bills/run/steps.ts remarks: of people',
    "office/ui/failure.ts message: the console's own",
    'queue/advice.ts message: on a device in English, and of reasons of a later version',
    'queue/batches.ts message: passed to queue/advice.ts',
    "queue/panel.tsx message: the console's own",
    "queue/sender.ts message: the console's own",
    'queue/store.ts message: of the browser',
    'session/session.ts message: of the browser',
    'texts/failures.ts message: on a device in English, and of codes of a later version',
  ];

  test('is shown only where the device is English or nothing else is known, and never read by a program', () => {
    const used = files.flatMap(({ path, text }) => {
      const code = text.replace(/\/\*[^]*?\*\/|\/\/.*|'[^'\n]*'/g, '');
      return FIELDS.filter((field) => new RegExp(String.raw`\b${field}\b`).test(code)).map(
        (field) => `${path} ${field}`,
      );
    });
    expect(used.sort()).toEqual(READERS.map((reader) => reader.slice(0, reader.indexOf(':'))).sort());
    const names = `(?:${FIELDS.join('|')})`;
    const calls = 'match|matchAll|replace|replaceAll|split|includes|startsWith|endsWith|indexOf|slice';
    const [field = ''] = FIELDS;
    const parsed = matching(
      new RegExp(String.raw`\.(?:exec|test)\((?:\w+\??\.)*${names}\b|\b${names}\??\.(?:${calls})\(`),
      `pattern.exec(event.${field})`,
      `event.${field}.includes('x')`,
    );
    expect(files.filter(({ text }) => parsed.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe('the menu', () => {
  const pairs = ALL_PAGES.flatMap(({ id, roles, operations: names }) =>
    roles.flatMap((role) => names.map((name) => [id, role, name] as const)),
  );

  test.each(pairs)('shows %s to %s, who may %s', (_, role, name) => {
    const operation = (operations as Record<string, { permission: Permission | null } | undefined>)[name];
    expect(operation?.permission && hasPermission(role, operation.permission)).toBe(true);
  });
});

describe('the measures of a parcel', () => {
  const typed = { weight: '', length: '', width: '', height: '' };

  test('are read with a decimal point or comma, and lengths may be missing', () => {
    expect(readMeasures({ ...typed, weight: ' 3,25 ', height: '12.5' })).toEqual({
      measures: { weight: 3.25, height: 12.5 },
    });
  });

  test.each(['', '0', '-1', '1e3', '3.1234', 'abc', '100000'])(
    'are refused with the weight "%s", as the service would',
    (weight) => {
      expect(readMeasures({ ...typed, weight })).toEqual({ wrong: ['weight'] });
    },
  );

  test('name every field that is not acceptable', () => {
    expect(readMeasures({ weight: '1', length: 'x', width: '', height: '0.005' })).toEqual({
      wrong: ['length', 'height'],
    });
  });
});

describe('a weight that is not plausible', () => {
  const doubt = (weight: string, [length, width, height]: string[] = ['', '', ''], limitLb = 150) => {
    const typed = { weight, length: length ?? '', width: width ?? '', height: height ?? '' };
    const read = readMeasures(typed);
    return 'measures' in read ? doubtOf(typed, read.measures, limitLb) : read.wrong;
  };

  test.each([
    ['150', undefined],
    ['150.001', 'heavy'],
    ['325', 'heavy'],
    ['70 kg', 'heavy'],
    ['12345', 'barcode'],
    ['00012', 'barcode'],
    ['1234 lb', 'heavy'],
  ])('is asked about by its value: %s', (weight, expected) => expect(doubt(weight)).toBe(expected));

  test.each([
    ['20', ['12', '12', '12'], undefined],
    ['120', ['6', '6', '6'], 'dense'],
    ['0.1', ['24', '24', '24'], 'light'],
    ['0.1', ['24', '24', ''], undefined],
  ])('is asked about by the size of the parcel: %s lb in %j', (weight, size, expected) =>
    expect(doubt(weight, size)).toBe(expected),
  );

  test('may be allowed by the warehouse, but digits without a unit may still be a barcode', () => {
    expect([doubt('325', undefined, 5_000), doubt('4000', undefined, 5_000)]).toEqual([undefined, 'barcode']);
  });

  test('is no weight at all if it has the letters and digits of a code', () => {
    expect(['1Z999AA10123', 'TBA3054123', '12.5 lb', '12KG', 'abc', '325'].map(isCodeText)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

test('a day is counted per hour of the warehouse and per courier', () => {
  const at = (hour: number, courier: string | null, day = 21) => ({
    entry_date_time: new Date(2026, 10, day, hour, 30).toISOString().slice(0, 19).replace('T', ' '),
    courier_name: courier,
    user_code: courier && 'CODE',
    weight: 1.5,
    status: 'received' as const,
  });
  const packages = [at(8, 'Island'), at(8, 'Harbour'), at(17, 'Island'), at(23, null)];
  const day = countDay(packages, (ms) => new Date(ms).getHours());
  expect([day.received, day.weight, day.withoutOwner]).toEqual([4, 6, 1]);
  expect(Object.fromEntries(day.hours.entries())).toMatchObject({ 7: 0, 8: 2, 17: 1, 23: 1 });
  expect(day.couriers).toEqual([
    { name: 'Island', count: 2, share: 0.5 },
    { name: 'Harbour', count: 1, share: 0.25 },
    { name: null, count: 1, share: 0.25 },
  ]);
});
