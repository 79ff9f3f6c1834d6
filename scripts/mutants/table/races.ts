import type { SourceMutant } from '../mutant.js';

const RENAME = 'test/modules/prealerts/rename-races.test.ts';
const RENAME_LOCKS = 'test/modules/customers/renames/rename-locks.test.ts';
const FREED = 'test/modules/customers/renames/freed-codes.test.ts';
const LARGE = 'test/modules/customers/renames/large-renames.test.ts';
const LABEL = 'test/modules/scans/races/label-races.test.ts';
const MIXED = 'test/modules/scans/races/mixed-races.test.ts';
const ORDER = 'test/database/transactions/lock-order.test.ts';
const BESIDE = 'test/modules/prealerts/batches-beside-intake.test.ts';
const REFERENCE = 'test/modules/scans/races/reference-races.test.ts';

const CLAIM_DOCUMENTS = 'test/modules/claims/claim-documents.test.ts';

const LIVES = 'test/modules/sandboxes/lives/races.test.ts';
const REFUSED_STEPS = 'test/modules/sandboxes/lives/refused-steps.test.ts';

/** Guards of decision 0086: what is decided under which lock. */
export const RACES: readonly SourceMutant[] = [
  {
    name: 'lives: a step is played only at the place where it was read',
    file: 'src/modules/sandboxes/lives/play.ts',
    find: 'if (!still) throw new PlayedMeanwhile();',
    replace: 'void still;',
    tests: [{ file: LIVES, titles: ['five workers at the same time play each step once'] }],
  },
  {
    name: 'lives: a step is recorded in the transaction of its operation',
    file: 'src/modules/sandboxes/lives/play.ts',
    find: 'const hold = ctx.holdWrite(async (tx) => {',
    replace: 'const hold = makeContext(db, ctx.caller, BACKGROUND).holdWrite(async (tx) => {',
    tests: [{ file: LIVES, titles: ['a step whose transaction is lost is played again, once'] }],
  },
  {
    name: 'lives: the operations exist in sandboxes only',
    file: 'src/modules/sandboxes/lives/queries.ts',
    find: "where ${tenantRows(ctx, 'c')} and ${isSandbox(ctx)} order by c.id limit 1`;",
    replace: "where ${tenantRows(ctx, 'c')} and (true or ${isSandbox(ctx)}) order by c.id limit 1`;",
    tests: [{ file: REFUSED_STEPS, titles: ['both operations are refused'] }],
  },
  {
    name: 'lives: only a tenant that is a sandbox plays',
    file: 'src/modules/sandboxes/lives/queries.ts',
    find: "where ${tenantRows(ctx, 'c')} and c.is_active and ${isSandbox(ctx)}",
    replace: "where ${tenantRows(ctx, 'c')} and c.is_active and (true or ${isSandbox(ctx)})",
    tests: [{ file: REFUSED_STEPS, titles: ['their magic numbers start no life'] }],
  },
  {
    name: 'races: a replaced pre-alert waits for the batches of its courier',
    file: 'src/modules/prealerts/lock-prealert.ts',
    find: 'tx.later(awaitBatches(tx.tenantId, ownerOfPrealert(tx, id)));',
    replace: 'void [awaitBatches, ownerOfPrealert];',
    tests: [{ file: BESIDE, titles: ['waits for the batch with no parcel locked'] }],
  },
  {
    name: 'races: a batch of pre-alerts compares itself again when it has the locks',
    file: 'src/modules/prealerts/batches/store-batch.ts',
    find: 'await tx.count(settleBatch(tx, packed));',
    replace: 'void settleBatch;',
    tests: [{ file: BESIDE, titles: ['other parcels are received'] }],
  },
  {
    name: 'races: a rename waits for the pre-alerts that are being stored',
    file: 'src/modules/prealerts/rename/rename-customer.ts',
    find: 'tx.later(lockUserCode(tx.tenantId, change.from));',
    replace: 'void lockUserCode;',
    tests: [
      { file: RENAME, titles: ['includes the pre-alert that', 'leaves no pre-alert with the old code'] },
    ],
  },
  {
    name: 'races: the quota is checked before the locks of a rename',
    file: 'src/modules/customers/crud/customer.ts',
    find: 'if (rename) await assertQuota(tx, quota, courierId, changes);',
    replace: 'void assertQuota;',
    tests: [{ file: RENAME_LOCKS, titles: ['that the quota refuses waits for no lock'] }],
  },
  {
    name: 'races: a rename awaits no pre-alert',
    file: 'src/modules/prealerts/rename/queries.ts',
    find: '::int for update skip locked`;\n  const facts',
    replace: '::int for update`;\n  const facts',
    tests: [{ file: RENAME_LOCKS, titles: ['no pre-alert row is awaited under the lock'] }],
  },
  {
    name: 'races: a customer gets no code whose pre-alerts wait for another',
    file: 'src/modules/prealerts/rename/rename-customer.ts',
    find: 'codes.length > 0 && (await haveOne(codes))',
    replace: 'codes.length < 0 && (await haveOne(codes))',
    tests: [{ file: FREED, titles: ['stays there', 'that waits for a rename does not get the code'] }],
  },
  {
    name: 'races: a rename that waits for the worker is followed',
    file: 'src/platform/db/user-codes.ts',
    find: 'renamed.user_code = ${alias}.user_code), ${alias}.user_code)`',
    replace: 'renamed.user_code = ${alias}.user_code and false), ${alias}.user_code)`',
    tests: [{ file: LARGE, titles: ['have the new code everywhere'] }],
  },
  {
    name: 'races: a new pre-alert keeps its user code',
    file: 'src/platform/db/locks.ts',
    find: 'once`select pg_advisory_xact_lock_shared(${userCodesOf(tenantId)}, ${userCodeLockOf(sql`${userCode}::text`)})::text as code,',
    replace: 'once`select 0 as code,',
    tests: [{ file: RENAME, titles: ['includes the pre-alert that'] }],
  },
  {
    name: 'races: a bulk submission keeps its user codes',
    file: 'src/modules/prealerts/batches/store-batch.ts',
    find: 'await tx.query(keepUserCodes(tx.tenantId, userCodes));',
    replace: 'void [keepUserCodes, userCodes];',
    tests: [{ file: RENAME, titles: ['includes the pre-alert that'] }],
  },
  {
    name: 'races: a replaced pre-alert keeps its new user code',
    file: 'src/modules/prealerts/lock-prealert.ts',
    find: 'tx.later(keepUserCode(tx.tenantId, replacement.userCode));',
    replace: 'void keepUserCode;',
    tests: [{ file: RENAME, titles: ['includes the pre-alert that'] }],
  },
  {
    name: 'races: a deletion waits for the pre-alerts that are being stored',
    file: 'src/modules/customers/crud/customer.ts',
    find: 'await tx.query(lockUserCode(ctx.tenantId, stored.userCode));',
    replace: 'void lockUserCode;',
    tests: [{ file: RENAME, titles: ['a deletion waits for the pre-alerts'] }],
  },
  {
    name: 'races: a lock that is out of order is refused',
    file: 'src/platform/db/transactions/lock-order.ts',
    find: 'ORDER.indexOf(other) >= ORDER.indexOf(kind)',
    replace: 'ORDER.indexOf(other) > ORDER.indexOf(kind) && ORDER.length === 0',
    tests: [{ file: ORDER, titles: ['refuses '] }],
  },
  {
    name: 'races: a changed package is read again under the locks',
    file: 'src/modules/packages/intake/lock-identified.ts',
    find: 'found.keys.every((key) => locked.has(key))',
    replace: 'locked.size >= 0',
    tests: [{ file: MIXED, titles: ['locks only the parcel of the new number'] }],
  },
  {
    name: 'races: the customer of a pre-alert is read after the lock',
    file: 'src/modules/packages/intake/intake.ts',
    find: '[lockOpenPrealerts(tx, keys), queries.findReceipts(tx, keys), findOpenPrealerts(tx, keys)] as const;',
    replace:
      '[queries.findReceipts(tx, keys), queries.findReceipts(tx, keys), findOpenPrealerts(tx, keys)] as const;',
    tests: [{ file: RENAME, titles: ['stores the customer under the new code if it waited'] }],
  },
  {
    name: 'races: the worker of renames waits for no pre-alert',
    file: 'src/modules/prealerts/rename/queries.ts',
    find: '::int for update skip locked\n    )\n    update prealerts',
    replace: '::int for update\n    )\n    update prealerts',
    tests: [{ file: 'test/modules/customers/renames/rename-worker-locks.test.ts' }],
  },
  {
    name: 'races: scans are identified again under the locks',
    file: 'src/modules/scans/batch/execute-batch.ts',
    find: 'look: () => findScans(tx, piece),\n    identify: (keys) => readLocked(tx, piece, keys),',
    replace:
      'look: async () => (piece.looked = await findScans(tx, piece)),\n    identify: async (keys) => ({ ...(await readLocked(tx, piece, keys)), ...piece.looked }),',
    tests: [
      {
        file: LABEL,
        titles: [
          'is executed for the package, and stays so',
          'a load is executed for the package',
          'holds during as many corrections',
        ],
      },
    ],
  },
  {
    name: 'races: a carrier that a scan names is not deleted meanwhile',
    file: 'src/modules/packages/intake/queries.ts',
    find: 'named."carrierId" for key share)',
    replace: 'named."carrierId")',
    tests: [{ file: REFERENCE, titles: ['refuses only that scan:'] }],
  },
  {
    name: 'races: a batch looks a customer up once',
    file: 'src/modules/packages/intake/intake.ts',
    find: '= identified\n    ? await readParcel(tx, keys)\n    : await readLocked(tx, intake, lock);',
    replace: '= await readLocked(tx, intake, lock);\n  identified = undefined;',
    tests: [{ file: REFERENCE, titles: ['whose customer is deactivated after the check'] }],
  },
  {
    name: 'races: a batch whose scan_id is stored meanwhile runs again',
    file: 'src/platform/db/violations.ts',
    find: 'return isAborted || isFoundByNextAttempt(error);',
    replace: 'return isAborted;',
    tests: [{ file: REFERENCE, titles: ['and are written at once, one is stored'] }],
  },
  {
    name: 'races: the loading gate is read after the lock of the manifest',
    file: 'src/modules/manifests/lifecycle/locked.ts',
    find: 'const [, [manifest]] = await tx.query([lockedManifest(tx, id), findManifest(tx, id)]);',
    replace: 'const [[manifest]] = await tx.query([findManifest(tx, id), lockedManifest(tx, id)]);',
    tests: [
      {
        file: 'test/modules/scans/loading-gate-warehouses.test.ts',
        titles: ['the gate counts a package that was added while the shipment waited'],
      },
    ],
  },
  {
    name: 'claims: documents that are added at once are counted one after the other',
    file: 'src/modules/claims/documents/queries.ts',
    find: '::uuid for no key update`',
    replace: '::uuid`',
    tests: [{ file: CLAIM_DOCUMENTS, titles: ['waits for one that is being added'] }],
  },
];
