import type { SourceMutant } from '../mutant.js';

/** Guards of manifests, rates and bills. */
export const RECORDS: readonly SourceMutant[] = [
  {
    name: 'manifests: the status moves one step',
    file: 'src/modules/manifests/lifecycle/status.ts',
    find: 'if (to === from || to === next) return;',
    replace: 'if (to || next) return;',
    tests: [{ file: 'test/modules/manifests/manifests.test.ts', titles: ['moving > from'] }],
  },
  {
    name: 'manifests: one of two callers moves it',
    file: 'src/modules/manifests/lifecycle/queries.ts',
    find: "where ${tenantRows(db, caller, 'm')} and m.id = ${id}::uuid\n    for update",
    replace: "where ${tenantRows(db, caller, 'm')} and m.id = ${id}::uuid",
    tests: [
      {
        file: 'test/modules/manifests/manifests-races.test.ts',
        titles: ['each step asked for by 200 callers at once'],
      },
    ],
  },
  {
    name: 'manifests: one with packages aboard is not deleted',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: "throw new ApiError('manifest_not_empty');",
    replace: ';',
    tests: [{ file: 'test/modules/manifests/manifests.test.ts', titles: ['with a package aboard it stays'] }],
  },
  {
    name: 'manifests: packages change while it is draft or ready',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (manifest.status === 'draft' || manifest.status === 'ready') return manifest;",
    replace: 'if (manifest.status) return manifest;',
    tests: [{ file: 'test/modules/manifests/manifests.test.ts', titles: ['on a manifest in'] }],
  },
  {
    name: 'manifests: packages are added all or none',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (refused.length > 0) throw new ApiError('packages_not_assignable', { errors: refused });\n  return cargo;",
    replace: 'return cargo.filter((row) => !whyNot(row));',
    tests: [
      { file: 'test/modules/manifests/manifests.test.ts', titles: ['one that cannot fly refuses all'] },
    ],
  },
  {
    name: 'manifests: a package on another manifest is not taken off it',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (manifest_id !== null) return ['on_another_manifest', { id }];",
    replace: '',
    tests: [
      { file: 'test/modules/manifests/manifests.test.ts', titles: ['one that cannot fly refuses all'] },
    ],
  },
  {
    name: 'rates: tiers that overlap are refused in words',
    file: 'src/modules/rates/tier.ts',
    find: 'if (errors.length === 0) errors.push(...overlappingTiers(sent));',
    replace: '',
    tests: [{ file: 'test/modules/rates/rates.test.ts', titles: ['save_rates'] }],
  },
  {
    name: 'rates: one table is saved at a time',
    file: 'src/modules/rates/rate-table.ts',
    find: 'await tx.execute(lockRates(change.caller.tenantId));',
    replace: '',
    tests: [
      {
        file: 'test/modules/rates/rates-races.test.ts',
        titles: ['saving, copying and deleting the same table at once'],
      },
    ],
  },
  {
    name: 'bills: a draft is published once',
    file: 'src/modules/bills/shared/locked-bill.ts',
    find: "if (bill.status === 'draft') return bill;",
    replace: 'if (bill.status) return bill;',
    tests: [
      { file: 'test/modules/bills/courier-bills.test.ts', titles: ['numbers bills one after the other'] },
    ],
  },
  {
    name: 'bills: the lines of a draft add up to it when it is published',
    file: 'src/modules/bills/publication/publish-queries.ts',
    find: 'and s.subtotal = b.subtotal and s.packages = b.total_packages\n',
    replace: '\n',
    tests: [
      { file: 'test/modules/bills/courier-bills.test.ts', titles: ['a draft whose lines do not add up'] },
    ],
  },
  {
    name: 'bills: no more is paid than is outstanding',
    file: 'src/modules/bills/payments/payment-queries.ts',
    find: 'and b.paid_amount + ${amountUsd}::numeric <= b.total_amount\n',
    replace: '\n',
    tests: [
      {
        file: 'test/modules/bills/courier-bills.test.ts',
        titles: ['of a day to come, of more than is outstanding'],
      },
    ],
  },
  {
    name: 'bills: a payment is voided once',
    file: 'src/modules/bills/payments/payment-queries.ts',
    find: ' and p.voided_at is null\n',
    replace: '\n',
    tests: [{ file: 'test/modules/bills/courier-bills-races.test.ts', titles: ['one payment voided by'] }],
  },
  {
    name: 'bills: a payment is of a bill that was published',
    file: 'src/modules/bills/payments/payment.ts',
    find: "if (bill.status === 'draft') throw new ApiError('bill_not_published');",
    replace: '',
    tests: [{ file: 'test/modules/bills/courier-bills.test.ts', titles: ['payments'] }],
  },
  {
    name: 'logos: a style that reaches out of the picture is removed',
    file: 'src/modules/couriers/logo/svg-worker.ts',
    find: 'if (isHostileCss(element.textContent)) element.remove();\n    else',
    replace: '',
    tests: [
      {
        file: 'test/modules/couriers/logos.test.ts',
        titles: ['what an SVG may not hold is taken out of it'],
      },
    ],
  },
  {
    name: 'logos: a link out of the picture is removed',
    file: 'src/modules/couriers/logo/svg-worker.ts',
    find: 'else element.removeAttributeNode(attribute);\n}',
    replace: '}',
    tests: [
      {
        file: 'test/modules/couriers/logos.test.ts',
        titles: ['what an SVG may not hold is taken out of it'],
      },
    ],
  },
];
