import type { SourceMutant } from '../mutant.js';

const RESOLVE = 'test/modules/scans/resolve-scan.test.ts';
const BATCH = 'test/modules/scans/scan-batch.test.ts';
const DAYS = 'test/modules/scans/scan-days.test.ts';
const GATE = 'test/modules/scans/loading-gate.test.ts';
const RECEIPTS = 'test/modules/scans/loading-gate-warehouses.test.ts';
const SYMBOLS = 'test/modules/scans/several-symbols.test.ts';
const RECORDS = 'test/modules/scans/known-records.test.ts';
const OWNERS = 'test/modules/scans/resolve-scan-owners.test.ts';
const ORDER = 'test/modules/scans/scan-batch-order.test.ts';
const LIMIT = 'test/modules/scans/cost/scan-limit.test.ts';
const NUMBER = 'test/modules/tracking-numbers/scanned-number.test.ts';
const KEYS = 'test/database/migrations/parcel-keys.test.ts';
const READER = 'test/modules/tracking-numbers/reader.test.ts';
const IN_WORDS = 'test/modules/tracking-numbers/in-words.test.ts';

const CORRECTED = 'test/modules/scans/corrections/corrected-numbers.test.ts';
const DISPUTE = 'test/modules/scans/corrections/one-dispute.test.ts';

/** Guards of scans. */
export const SCANS: readonly SourceMutant[] = [
  {
    name: 'corrected numbers: scans that wait for the new number are executed',
    file: 'src/modules/packages/update/update.ts',
    find: 'if (changes.tracking_key !== undefined && isScanned)',
    replace: 'if (false)',
    tests: [{ file: CORRECTED, titles: ['keep a held parcel from being shipped'] }],
  },
  {
    name: 'corrected numbers: the load of the old number counts',
    file: 'src/modules/scans/batch/save.ts',
    find: "((b.loadedAt ?? '') > (a.loadedAt ?? '') ? b : a)",
    replace: 'a',
    tests: [{ file: CORRECTED, titles: ['stays when its scans are no longer stored'] }],
  },
  {
    name: 'disputes: intake does not clear a flag',
    file: 'src/modules/packages/intake/ownership.ts',
    find: 'if (isUnderReview(prealerts)) return contested(null);',
    replace: '',
    tests: [{ file: DISPUTE, titles: ['is not cleared by'] }],
  },
  {
    name: 'loading gate: a package on a manifest keeps its warehouse',
    file: 'src/modules/packages/update/queries.ts',
    find: 'p.manifest_id is not null or (w',
    replace: 'false or (w',
    tests: [
      {
        file: RECEIPTS,
        titles: [
          'does not change the warehouse of a package on a manifest, also between warehouses without a gate',
        ],
      },
    ],
  },
  {
    name: 'loading gate: a late receipt does not move a package away from the gate',
    file: 'src/modules/packages/update/queries.ts',
    find: 'w.loading_gate and not o.loading_gate',
    replace: 'false',
    tests: [
      { file: RECEIPTS, titles: ['does not take a package away from the gate before it is on a manifest'] },
    ],
  },
  {
    name: 'scans: the number of a manifest is never a new parcel',
    file: 'src/modules/packages/intake/identify-parcel.ts',
    find: "if (found.some(({ kind }) => kind === 'manifest')) return",
    replace: 'if (found.length < 0) return',
    tests: [
      {
        file: RECORDS,
        titles: ['is refused by ReceivePackage, and by batches in every kind'],
      },
    ],
  },
  {
    name: 'scans: the code of a customer is never a new parcel',
    file: 'src/modules/packages/intake/identify-parcel.ts',
    find: "return records.length > 0 || isParcelOfOther ? undefined : ['code_of_customer', { text }];",
    replace: 'return undefined;',
    tests: [
      {
        file: RECORDS,
        titles: ['is refused by ReceivePackage, and by batches in every kind'],
      },
    ],
  },
  {
    name: 'scans: a house number is never a new parcel',
    file: 'src/modules/packages/intake/identify-parcel.ts',
    find: 'houseNumber === number.folded',
    replace: "houseNumber === ''",
    tests: [
      {
        file: RECORDS,
        titles: ['ReceivePackage answers with the package, in every spelling, also 40 at once'],
      },
    ],
  },
  {
    name: 'scans: two known numbers in one scan are refused',
    file: 'src/modules/packages/intake/identify-parcel.ts',
    find: 'if (found && !other) return unknown',
    replace: 'if (found) return unknown',
    tests: [
      {
        file: SYMBOLS,
        titles: ['without a record, or with two, intake refuses and names both, and ResolveScan says so'],
      },
    ],
  },
  {
    name: 'scans: the number inside a barcode is its key',
    file: 'src/modules/tracking-numbers/scanned-number.ts',
    find: 'return withoutPadding(inside?.trackingNumber ?? folded);',
    replace: 'return withoutPadding(folded);',
    tests: [{ file: NUMBER, titles: ['a published barcode finds each number that its candidates name'] }],
  },
  {
    name: 'scans: the check digit decides between two numbers in a barcode of USPS',
    file: 'src/modules/tracking-numbers/reader/usps.ts',
    find: '(hasUspsCheckDigit(number) ? 2 : 0)',
    replace: '0',
    tests: [{ file: NUMBER, titles: ['the check digit decides between two numbers in a barcode of USPS'] }],
  },
  {
    name: 'scans: a courier does not see the claims of a package whose number it sees masked',
    file: 'src/modules/scans/find-matches.ts',
    find: 'ctx.caller.courierId === null || userCode !== null',
    replace: 'ctx.caller.courierId === null || userCode !== undefined',
    tests: [{ file: OWNERS, titles: ['is shown no claim of a package whose number it sees masked'] }],
  },
  {
    name: 'scans: a parcel stores 500 scans',
    file: 'src/modules/scans/batch/admission/batch-parcels.ts',
    find: 'if (left === 0) refused.set(id, TOO_MANY_SCANS);',
    replace: 'if (left < 0) refused.set(id, TOO_MANY_SCANS);',
    tests: [
      {
        file: LIMIT,
        titles: [
          'a parcel stores 500 scans, refuses the next one, and repeats the answers to the stored ones',
        ],
      },
    ],
  },
  {
    name: 'scans: packages stored twice are not merged',
    file: 'src/jobs/background-migrations/rekey-queries.ts',
    find: ' and w.other_id is null and w.first_id = w.id',
    replace: ' and w.first_id = w.id',
    tests: [
      {
        file: KEYS,
        titles: [
          'packages, pre-alerts, flags and waiting scans get the new keys, and packages stored twice are reported, not merged',
        ],
      },
    ],
  },
  {
    name: 'scans: a format whose check digit is wrong is not a candidate',
    file: 'src/modules/tracking-numbers/reader/candidates.ts',
    find: 'return hasCheckDigit(checksum, isPrefixed ? prefix.content + serial : serial, check);',
    replace:
      'return hasCheckDigit(checksum, isPrefixed ? prefix.content + serial : serial, check) || serial !== "";',
    tests: [{ file: READER, titles: ['a wrong check digit is never valid'] }],
  },
  {
    name: 'scans: a reference of digits in a frame is not the number of a carrier',
    file: 'src/modules/tracking-numbers/reader/in-words.ts',
    find: "return others.every((part) => lettered.includes(part.replace(/[.,;]$/, ''))) ? numbers : [];",
    replace: 'return numbers;',
    tests: [{ file: IN_WORDS, titles: ['is never the parcel of another frame'] }],
  },
  {
    name: 'scans: a number among words keeps its piece',
    file: 'src/modules/tracking-numbers/reader/in-words.ts',
    find: 'numbers[0] === parts[0] ? [joined] : [undefined]',
    replace: 'numbers[0] === parts[0] ? numbers : [undefined]',
    tests: [{ file: IN_WORDS, titles: ['among words is that piece'] }],
  },
  {
    name: 'scans: a doubled scan is read once',
    file: 'src/modules/tracking-numbers/scanned-number.ts',
    find: 'const repeated = repetitionIn(folded);',
    replace: 'const repeated = undefined as string | undefined;',
    tests: [{ file: READER, titles: ['all 280 published numbers are answered correctly'] }],
  },
  {
    name: 'scans: a courier does not find a package without a customer by its number',
    file: 'src/modules/scans/queries.ts',
    find: 'sql`and p.user_code is not null`',
    replace: 'empty',
    tests: [{ file: OWNERS, titles: ['does not find a package without a customer by its number'] }],
  },
  {
    name: 'scans: an id is executed once',
    file: 'src/modules/scans/batch/admission/admit-scans.ts',
    find: 'if (hash !== undefined && hash !== each.contentHash) return { scanId: each.id, refusal: ID_REUSED };',
    replace: '',
    tests: [
      { file: BATCH, titles: ['refuses an id that is stored with another content, and changes nothing'] },
    ],
  },
  {
    name: 'scans: the earliest receive scan makes the receipt',
    file: 'src/modules/scans/batch/receive.ts',
    find: 'if (receipt) await replaceReceipt(',
    replace: 'if (!receipt) await replaceReceipt(',
    tests: [{ file: DAYS, titles: ['random days of two stations converge to one state'] }],
  },
  {
    name: 'scans: the time of a scan decides, not its arrival',
    file: 'src/modules/scans/fold/fold.ts',
    find: 'compareText(a.scannedAt, b.scannedAt) ||',
    replace: 'compareText(a.arrivedAt, b.arrivedAt) ||',
    tests: [{ file: DAYS, titles: ['random days of two stations converge to one state'] }],
  },
  {
    name: 'scans: a scan that arrived before a fact comes before it',
    file: 'src/modules/scans/fold/fold.ts',
    find: ' && arrivedAt > fact.recordedAt',
    replace: '',
    tests: [{ file: ORDER, titles: ['a scan of a clock that is ahead does not undo what staff did later'] }],
  },
  {
    name: 'gate: packages on hold stay behind when their manifest ships',
    file: 'src/modules/manifests/lifecycle/loading-gate.ts',
    find: 'await leaveSuspendedBehind(tx, after.id);',
    replace: '',
    tests: [{ file: GATE, titles: ['has left the manifest, so that'] }],
  },
  {
    name: 'gate: a package that is on hold and loaded stays on its manifest',
    file: 'src/modules/manifests/lifecycle/package-queries.ts',
    find: 'and o.manifest_id = p.manifest_id)',
    replace: 'and false)',
    tests: [{ file: GATE, titles: ['a package that is on hold and loaded stays on the manifest'] }],
  },
  {
    name: 'gate: packages are locked before they are compared',
    file: 'src/modules/manifests/lifecycle/loading-gate.ts',
    find: 'tx.later(lockedManifestPackages(tx, after.id));',
    replace: '',
    tests: [{ file: GATE, titles: ['a release and a shipment at the same time'] }],
  },
  {
    name: 'gate: it also applies to packages of another warehouse',
    file: 'src/modules/scans/loading/queries.ts',
    find: 'and p.tenant_id = m.tenant_id and p.manifest_id = m.id and p.warehouse_id = w.id)',
    replace: 'and false)',
    tests: [{ file: GATE, titles: ['packages of a warehouse with a gate are not shipped'] }],
  },
  {
    name: 'gate: only some roles override',
    file: 'src/modules/manifests/lifecycle/loading-gate.ts',
    find: "  assertMayDecide(tx, 'loading_override_reason');\n",
    replace: '',
    tests: [{ file: GATE, titles: ['lets a manager ship with a reason, which is audited and shown'] }],
  },
  {
    name: 'gate: a batch keeps its manifests from being shipped',
    file: 'src/modules/scans/batch/stored/queries.ts',
    find: 'order by m.id for share`',
    replace: 'order by m.id`',
    tests: [
      { file: GATE, titles: ['an unload and a shipment at the same time'] },
      {
        file: 'test/modules/manifests/reopen-manifest.test.ts',
        titles: ['loads and a step back at the same time'],
      },
    ],
  },
  {
    name: 'intake: a parcel is found under all its keys',
    file: 'src/modules/packages/intake/intake.ts',
    find: 'findOpenPrealerts(tx, keys)',
    replace: 'findOpenPrealerts(tx, [keys[0]])',
    tests: [{ file: RESOLVE, titles: ['is found, and gets the key of the package'] }],
  },
  {
    name: 'intake: a settled pre-alert gets the key of the package',
    file: 'src/modules/packages/intake/prealert-queries.ts',
    find: 'tracking_key = ${key}, ',
    replace: '',
    tests: [{ file: RESOLVE, titles: ['is found, and gets the key of the package'] }],
  },
  {
    name: 'pre-alerts: an announced number finds its package by all its keys',
    file: 'src/modules/prealerts/queries.ts',
    find: 'keyIn(alias, keys) });',
    replace: 'keyIn(alias, keys.slice(0, 1)) });',
    tests: [
      {
        file: 'test/modules/prealerts/announced-labels.test.ts',
        titles: ['a number of 12 digits finds the package that was received with 14 digits that end in it'],
      },
    ],
  },
  {
    name: 'packages: the history of a package is bounded',
    file: 'src/modules/packages/events/record.ts',
    find: 'growing.has(id) && states.get(id)?.isFull',
    replace: 'growing.has(id) && false',
    tests: [
      {
        file: 'test/security/bounds/package-events.test.ts',
        titles: ['the next one is refused with the package named'],
      },
    ],
  },
  {
    name: 'scans: a house number has only the claims of its package',
    file: 'src/modules/scans/find-matches.ts',
    find: '!keys.has(trackingKey)',
    replace: 'true',
    tests: [
      {
        file: 'test/modules/prealerts/announced-house-numbers.test.ts',
        titles: ['a scan of a house number shows the owner of its package'],
      },
    ],
  },
  {
    name: 'scans: a large batch is executed in pieces',
    file: 'src/modules/scans/batch/messages/pieces.ts',
    find: 'const MAX_SCANS = 100;',
    replace: 'const MAX_SCANS = 1_000;',
    tests: [
      {
        file: 'test/modules/scans/pieces/large-batches.test.ts',
        titles: ['a batch gives up the locks of its first hundred parcels before it receives the others'],
      },
    ],
  },
  {
    name: 'scans: the scans of a parcel are in one piece',
    file: 'src/modules/scans/batch/messages/pieces.ts',
    find: '[id, ...reading.numbers.flatMap(({ keys }) => keys)]',
    replace: '[id, ...reading.numbers.flatMap(() => [])]',
    tests: [
      {
        file: 'test/modules/scans/pieces/large-batches.test.ts',
        titles: ['the scans of a parcel are executed together, wherever they are in a large batch'],
      },
    ],
  },
  {
    name: 'scans: a batch of eleven waits for a large one',
    file: 'src/platform/limits/bulk-limits.ts',
    find: 'if (scans <= 1) return work(',
    replace: 'if (scans <= 100) return work(',
    tests: [
      {
        file: 'test/modules/scans/pieces/large-batches.test.ts',
        titles: ['a batch of ten scans is executed beside a large one, and one of eleven waits for it'],
      },
    ],
  },
  {
    name: 'scans: users take turns after each piece of a batch',
    file: 'src/modules/scans/batch/execute-batch.ts',
    find: 'if (index > 0) await giveWay();',
    replace: '',
    tests: [
      {
        file: 'test/modules/scans/pieces/large-batches.test.ts',
        titles: ['a batch of another user is executed after the present piece of a batch'],
      },
    ],
  },
  {
    name: 'scans: a stored scan that has become too old keeps its result',
    file: 'src/modules/scans/batch/admission/identify-scans.ts',
    find: 'storedKeys.has(item.id) ? undefined : ',
    replace: '',
    tests: [
      {
        file: 'test/modules/scans/pieces/large-batches.test.ts',
        titles: ['a stored scan that is sent again when it has become too old keeps its result'],
      },
    ],
  },
  {
    name: 'scans: the prefixes of a FedEx number keep its check digit',
    file: 'src/modules/tracking-numbers/reader/fedex.ts',
    find: '7 * digitAt(two, 1)',
    replace: '3 * digitAt(two, 1)',
    tests: [
      {
        file: 'test/modules/tracking-numbers/fedex-keys.test.ts',
        titles: ['the numbers that end in 12 digits are those of all hundred with a right check digit'],
      },
    ],
  },
  {
    name: 'turns: the loops of all requests share a turn',
    file: 'src/platform/concurrency/pause-when-due.ts',
    find: 'if (sinceMs === undefined) begin(nowMs);\n  else if',
    replace: 'begin(nowMs);\n  if',
    tests: [
      {
        file: 'test/resilience/bulk/shared-turns.test.ts',
        titles: ['loops of many requests use a turn of the event loop for as long as one'],
      },
    ],
  },
];
