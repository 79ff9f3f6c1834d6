import type { SourceMutant } from '../mutant.js';

const RESOLVE = 'test/modules/scans/resolve-scan.test.ts';
const READER = 'test/modules/tracking-numbers/reader.test.ts';

/** Guards of scans. */
export const SCANS: readonly SourceMutant[] = [
  {
    name: 'scans: a format whose check digit is wrong is not a candidate',
    file: 'src/modules/tracking-numbers/reader/candidates.ts',
    find: 'return hasCheckDigit(checksum, isPrefixed ? prefix.content + serial : serial, check);',
    replace:
      'return hasCheckDigit(checksum, isPrefixed ? prefix.content + serial : serial, check) || serial !== "";',
    tests: [{ file: READER, titles: ['a wrong check digit is never valid'] }],
  },
  {
    name: 'scans: a doubled scan is read once',
    file: 'src/modules/tracking-numbers/reader/noise.ts',
    find: "if (half !== '' && half + half === text) return half;",
    replace: '',
    tests: [{ file: READER, titles: ['all 280 published numbers are answered correctly'] }],
  },
  {
    name: 'scans: a courier does not find a package without a customer by its number',
    file: 'src/modules/scans/queries.ts',
    find: 'sql`and p.user_code is not null`',
    replace: 'empty',
    tests: [{ file: RESOLVE, titles: ['does not find a package without a customer by its number'] }],
  },
  {
    name: 'intake: a parcel is found under all its keys',
    file: 'src/modules/packages/intake/intake.ts',
    find: 'lockedOpenPrealerts(ctx, keys)',
    replace: 'lockedOpenPrealerts(ctx, [key])',
    tests: [{ file: RESOLVE, titles: ['is found, and gets the key of the package'] }],
  },
  {
    name: 'intake: a settled pre-alert gets the key of the package',
    file: 'src/modules/packages/intake/prealert-queries.ts',
    find: 'tracking_key = ${keys[0]}, ',
    replace: '',
    tests: [{ file: RESOLVE, titles: ['is found, and gets the key of the package'] }],
  },
];
