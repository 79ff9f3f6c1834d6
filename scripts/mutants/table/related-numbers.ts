import type { SourceMutant } from '../mutant.js';

const REPLACEMENTS = 'test/modules/prealerts/replacement/related-replacements.test.ts';
const RENAMED = 'test/modules/customers/renames/packages-of-renamed.test.ts';
const GROUPS = 'test/modules/tracking-numbers/in-groups.test.ts';
const STABLE = 'test/modules/tracking-numbers/stable-readings.test.ts';

/** Guards of numbers that end in the same digits, of packages of renamed customers, and of numbers among words. */
export const RELATED_NUMBERS: readonly SourceMutant[] = [
  {
    name: 'scans: a number of Amazon beside another number is a second symbol',
    file: 'src/modules/tracking-numbers/reader/in-words.ts',
    find: 'verified.length + ofAmazon.length > 1 ?',
    replace: 'verified.length + ofAmazon.length > 99 ?',
    tests: [
      {
        file: 'test/modules/tracking-numbers/in-words.test.ts',
        titles: ['one of Amazon has no check digit'],
      },
    ],
  },
  {
    name: 'scans: two numbers without anything between are two numbers',
    file: 'src/modules/tracking-numbers/read-scan.ts',
    find: 'PLAIN.test(trimmed) && !joinedIn(trimmed)',
    replace: 'PLAIN.test(trimmed)',
    tests: [
      {
        file: 'test/modules/tracking-numbers/in-words.test.ts',
        titles: ['that a scanner sends without anything between'],
      },
    ],
  },
  {
    name: 'related numbers: a pre-alert with another number is that of another parcel',
    file: 'src/modules/prealerts/prealert.ts',
    find: 'fields.trackingKey !== locked.announcedKey',
    replace: '!locked.keys.includes(fields.trackingKey)',
    tests: [{ file: REPLACEMENTS, titles: ['waits for that parcel'] }],
  },
  {
    name: 'related numbers: a flag is stored for the number that was announced',
    file: 'src/modules/prealerts/prealert.ts',
    find: '[...new Set([keys[0], announcedKey])]',
    replace: '[keys[0]]',
    tests: [{ file: REPLACEMENTS, titles: ['when the short number of another parcel'] }],
  },
  {
    name: 'related numbers: a pre-alert keeps the key of its package when something else is changed',
    file: 'src/modules/prealerts/queries.ts',
    find: "case when p.status = 'pending' or ${isMoved}::boolean then initial.new_key else p.tracking_key end",
    replace: 'initial.new_key',
    tests: [{ file: REPLACEMENTS, titles: ['when it changes something else'] }],
  },
  {
    name: 'related numbers: a corrected number reopens only pre-alerts of its package',
    file: 'src/modules/packages/update/queries.ts',
    find: 'p.tracking_key = a.tracking_key',
    replace: 'false',
    tests: [{ file: REPLACEMENTS, titles: ['does not reopen'] }],
  },
  {
    name: 'related numbers: a corrected number takes its key from open pre-alerts',
    file: 'src/modules/packages/update/move-prealerts.ts',
    find: 'ownKeys([...open, ...reopened])',
    replace: 'ownKeys(reopened)',
    tests: [{ file: REPLACEMENTS, titles: ['leaves no key'] }],
  },
  {
    name: 'related numbers: reopened pre-alerts are found for the corrected number',
    file: 'src/modules/packages/update/move-prealerts.ts',
    find: 'announced: again }',
    replace: 'announced }',
    tests: [{ file: REPLACEMENTS, titles: ['keeps the pre-alert of the short number'] }],
  },
  {
    name: 'renames: a corrected number is compared with the present code of its customer',
    file: 'src/modules/packages/update/move-prealerts.ts',
    find: '{ ...customer, ...present }',
    replace: 'customer',
    tests: [{ file: RENAMED, titles: ['is matched with its pre-alert'] }],
  },
  {
    name: 'renames: a review knows the former code of a package',
    file: 'src/modules/packages/claim/queries.ts',
    find: " or ${isFormerCode('p', code)}",
    replace: '',
    tests: [{ file: RENAMED, titles: ['can be assigned'] }],
  },
  {
    name: 'renames: a scan does not dispute a package with a former code',
    file: 'src/modules/packages/intake/prealert-queries.ts',
    find: " and not ${isFormerCode('p', presentCode('a'))}",
    replace: '',
    tests: [{ file: RENAMED, titles: ['does not flag'] }],
  },
  {
    name: 'renames: a code that another customer has now is not a former one',
    file: 'src/platform/db/user-codes.ts',
    find: "present.user_code = ${column('user_code')}",
    replace: 'false',
    tests: [{ file: RENAMED, titles: ['if another customer has it now'] }],
  },
  {
    name: 'renames: a code that the customer got later is not a former one',
    file: 'src/platform/db/user-codes.ts',
    find: 'and got.at <= lost.at',
    replace: 'and false',
    tests: [{ file: RENAMED, titles: ['if the customer got it after'] }],
  },
  {
    name: 'numbers in groups: a number and a quantity are not joined',
    file: 'src/modules/tracking-numbers/reader/in-groups.ts',
    find: ' && !isNumberAndMore(groups, isNumber)',
    replace: '',
    tests: [{ file: GROUPS, titles: ['whatever the quantity is'] }],
  },
  {
    name: 'readings: the text of a number is read as the same number',
    file: 'src/modules/tracking-numbers/read-scan.ts',
    find: 'stableOf(numbersOf(reads, sent), scan)',
    replace: 'numbersOf(reads, sent)',
    tests: [{ file: STABLE, titles: ['is stored as it is read again'] }],
  },
];
