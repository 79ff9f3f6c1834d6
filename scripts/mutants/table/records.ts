import type { SourceMutant } from '../mutant.js';

const CLAIM = 'test/modules/claims/claim-parcel.test.ts';
const LIMITS = 'test/modules/claims/claim-limits.test.ts';
const BLIND = 'test/modules/claims/blind-claims.test.ts';
const REVIEW = 'test/modules/claims/review-claim.test.ts';
const RACES = 'test/modules/claims/claim-races.test.ts';
const ANNOUNCED = 'test/modules/claims/announced-numbers.test.ts';
const DOCUMENT = 'test/modules/manifests/documents/manifest-document.test.ts';
const REOPEN = 'test/modules/manifests/reopen-manifest.test.ts';
const UNKNOWN = 'test/modules/claims/unknown-parcels.test.ts';
const CURRENCY = 'test/modules/tenant-settings/currency.test.ts';
const PLACES = 'test/modules/packages/locations/list-locations.test.ts';
const PREFERENCES = 'test/modules/preferences/preferences.test.ts';
const SETTINGS = 'test/modules/tenant-settings/tenant-settings.test.ts';
const DAYS = 'test/modules/tenant-settings/days-of-zones.test.ts';

/** Guards of claims, manifests, rates, bills and logos. */
export const RECORDS: readonly SourceMutant[] = [
  {
    name: 'claims: a review does not choose between packages with a short number',
    file: 'src/modules/packages/claim/claim.ts',
    find: 'if (fitting.length > 1)',
    replace: 'if (fitting.length > 9)',
    tests: [
      {
        file: 'test/modules/prealerts/duplicates/short-numbers.test.ts',
        titles: ['is refused with the numbers of both, and changes nothing'],
      },
    ],
  },
  {
    name: 'claims: a new pre-alert does not choose between packages with a short number',
    file: 'src/modules/prealerts/status/initial-status-queries.ts',
    find: 'where fitting.alike = 1 or fitting.tracking_key = ${key}',
    replace: '',
    tests: [
      {
        file: 'test/modules/prealerts/duplicates/short-numbers.test.ts',
        titles: ['is pending if two packages of the courier fit'],
      },
    ],
  },
  {
    name: 'manifests: the status changes by one step at a time',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: 'if (to === from || to === next) return;',
    replace: 'if (to || next) return;',
    tests: [
      {
        file: 'test/modules/manifests/manifest-transitions.test.ts',
        titles: ['follow the transition table from'],
      },
    ],
  },
  {
    name: 'manifests: only a ready manifest goes back to draft',
    file: 'src/modules/manifests/lifecycle/reopen.ts',
    find: "if (status !== 'ready')",
    replace: "if (status === 'completed')",
    tests: [{ file: REOPEN, titles: ['a manifest that is'] }],
  },
  {
    name: 'manifests: a manifest with loaded parcels stays ready',
    file: 'src/modules/manifests/lifecycle/loaded.ts',
    find: 'if (total === 0) return;',
    replace: 'if (total >= 0) return;',
    tests: [{ file: REOPEN, titles: ['stays ready while parcels are loaded for it'] }],
  },
  {
    name: 'manifests: a manifest with loaded parcels is not deleted',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: "if (before.status === 'ready')",
    replace: "if (before.status === 'completed')",
    tests: [{ file: REOPEN, titles: ['is not deleted while a parcel is loaded for it'] }],
  },
  {
    name: 'manifests: one that goes back and forth mails a courier a few times',
    file: 'src/modules/mail/manifest-mails/queries.ts',
    find: 'const MAILS_OF_STATUS = 3;',
    replace: 'const MAILS_OF_STATUS = 30;',
    tests: [
      {
        file: 'test/modules/mail/manifest-mails/mail-limit.test.ts',
        titles: ['mails a courier three times'],
      },
    ],
  },
  {
    name: 'manifests: a skipped mail has no job',
    file: 'src/modules/mail/manifest-mails/queries.ts',
    find: "and mail.status = 'queued'`",
    replace: '`',
    tests: [
      {
        file: 'test/modules/mail/manifest-mails/mail-limit.test.ts',
        titles: ['a skipped mail queues no job'],
      },
    ],
  },
  {
    name: 'rates: a copied table is charged for its tiers',
    file: 'src/modules/rates/rate-table.ts',
    find: 'const written = saved.isChanged ?',
    replace: 'const written = !saved.isChanged ?',
    tests: [
      {
        file: 'test/security/bounds/written-allowance.test.ts',
        titles: ['a copy of a rate table is charged for its tiers'],
      },
    ],
  },
  {
    name: 'webhooks: looking for the start of a secret counts as a search',
    file: 'src/modules/webhooks/exchanges/mask-secrets.ts',
    find: 'search.stepsLeft -= text.length / UNITS_PASSED_PER_STEP;',
    replace: '',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/hostile-answers.test.ts',
        titles: ['many values of a URL that an answer almost repeats'],
      },
    ],
  },
  {
    name: 'manifest documents: one has a limit of lines',
    file: 'src/modules/manifests/document/document.ts',
    find: 'if (lines.length > MAX_LINES)',
    replace: 'if (lines.length > 2 * MAX_LINES)',
    tests: [{ file: DOCUMENT, titles: ['is written in each format, and a longer one is refused'] }],
  },
  {
    name: 'manifest documents: a cell is no formula',
    file: 'src/modules/manifests/document/cells.ts',
    find: "harmless(line.shipper ?? '')",
    replace: "line.shipper ?? ''",
    tests: [{ file: DOCUMENT, titles: ['contains no formula'] }],
  },
  {
    name: 'manifest documents: a draft is marked on its pages',
    file: 'src/modules/manifests/document/to-document.ts',
    find: "isDraft: head.status === 'draft'",
    replace: 'isDraft: false',
    tests: [{ file: DOCUMENT, titles: ['has DRAFT across its pages'] }],
  },
  {
    name: 'manifests: a page of a list follows the last row in its order',
    file: 'src/modules/manifests/detail/list-queries.ts',
    find: "direction === 'ASC' ? '>' : '<'",
    replace: "direction === 'ASC' ? '<' : '<'",
    tests: [
      {
        file: 'test/modules/manifests/manifest-filters.test.ts',
        titles: ['is the same on pages of one manifest, in both directions'],
      },
    ],
  },
  {
    name: 'manifests: one of two concurrent callers changes the status',
    file: 'src/modules/manifests/lifecycle/queries.ts',
    find: "where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid\n  for update",
    replace: "where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid",
    tests: [
      {
        file: 'test/modules/manifests/manifests-races.test.ts',
        titles: ['simultaneous callers of each transition'],
      },
    ],
  },
  {
    name: 'manifests: a manifest with packages cannot be deleted',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: "throw new ApiError('manifest_not_empty');",
    replace: ';',
    tests: [
      {
        file: 'test/modules/manifests/manifests.test.ts',
        titles: ['is rejected at once while another transaction holds a package on it'],
      },
    ],
  },
  {
    name: 'manifests: packages can change only in draft or ready',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (manifest.status === 'draft' || manifest.status === 'ready') return;",
    replace: 'if (manifest.status) return;',
    tests: [
      {
        file: 'test/modules/manifests/manifest-cargo.test.ts',
        titles: ['is possible only while the manifest is draft or ready'],
      },
    ],
  },
  {
    name: 'manifests: packages are added all or none',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (refused.length > 0) throw new ApiError('packages_not_assignable', { errors: refused });\n  return cargo;",
    replace: 'return cargo.filter((row) => !whyNot(row));',
    tests: [
      {
        file: 'test/modules/manifests/manifest-cargo.test.ts',
        titles: ['rejects all packages if one cannot be added'],
      },
    ],
  },
  {
    name: 'manifests: a package on another manifest stays on it',
    file: 'src/modules/manifests/cargo/cargo.ts',
    find: "if (current !== null) return ['on_another_manifest', { id }];",
    replace: '',
    tests: [
      {
        file: 'test/modules/manifests/manifest-cargo.test.ts',
        titles: ['rejects all packages if one cannot be added'],
      },
    ],
  },
  {
    name: 'manifests: a manifest has a limit of packages',
    file: 'src/modules/manifests/cargo/queries.ts',
    find: '<= ${most - ids.length}::int',
    replace: '<= ${most}::int',
    tests: [
      {
        file: 'test/modules/manifests/manifest-size.test.ts',
        titles: ['a manifest takes 10,000 packages and no more'],
      },
    ],
  },
  {
    name: 'manifests: callers cannot fill the same room of a manifest',
    file: 'src/modules/manifests/lifecycle/queries.ts',
    find: 'and m.id = ${id}::uuid\n  for update`;',
    replace: 'and m.id = ${id}::uuid`;',
    tests: [
      {
        file: 'test/modules/manifests/manifest-size.test.ts',
        titles: ['simultaneous callers who each add a package to a manifest with room for one'],
      },
    ],
  },
  {
    name: 'invoices: a preview has a limit of packages',
    file: 'src/modules/invoices/invoices.ts',
    find: 'if (count > MAX_PACKAGES)\n',
    replace: 'if (count < 0)\n',
    tests: [
      {
        file: 'test/modules/bills/draft-bills.test.ts',
        titles: ['rejects more than 100,000 as a draft and as a preview'],
      },
    ],
  },
  {
    name: 'rates: overlapping tiers are rejected with an error message',
    file: 'src/modules/rates/tier.ts',
    find: 'if (errors.length === 0) errors.push(...overlappingTiers(sent));',
    replace: '',
    tests: [{ file: 'test/modules/rates/save-rates.test.ts', titles: ['save_rates'] }],
  },
  {
    name: 'rates: concurrent changes of one rate table are serialized',
    file: 'src/modules/rates/rate-table.ts',
    find: 'await tx.query(lockRates(ctx.tenantId));',
    replace: '',
    tests: [
      {
        file: 'test/modules/rates/rates-races.test.ts',
        titles: ['a save of the default table that starts during another one'],
      },
    ],
  },
  {
    name: 'bills: a draft is published at most once',
    file: 'src/modules/bills/shared/locked-bill.ts',
    find: "if (bill.status === 'draft') return bill;",
    replace: 'if (bill.status) return bill;',
    tests: [{ file: 'test/modules/bills/publish-bill.test.ts', titles: ['numbers bills consecutively'] }],
  },
  {
    name: 'bills: the lines of a published draft add up to its total',
    file: 'src/modules/bills/publication/publish-queries.ts',
    find: 'and s.subtotal = b.subtotal and s.packages = b.total_packages\n',
    replace: '\n',
    tests: [
      {
        file: 'test/modules/bills/publish-bill.test.ts',
        titles: ['fails for a draft that does not match its lines'],
      },
    ],
  },
  {
    name: 'bills: one of many callers changes the payment terms from a value',
    file: 'src/modules/bills/payment-terms/terms.ts',
    find: 'await tx.count(lockPaymentTerms(ctx.tenantId));',
    replace: '',
    tests: [
      {
        file: 'test/modules/bills/due-dates/payment-terms.test.ts',
        titles: ['simultaneous changes to the same terms are stored and audited once'],
      },
    ],
  },
  {
    name: 'bills: the payment terms of a courier come before those of the tenant',
    file: 'src/modules/bills/payment-terms/queries.ts',
    find: '${daysOf(ctx, sql`t.courier_id = ${courierId}`)}, ${daysOf',
    replace: 'null, ${daysOf',
    tests: [
      {
        file: 'test/modules/bills/due-dates/due-dates.test.ts',
        titles: ['a publication fixes the due date'],
      },
    ],
  },
  {
    name: "filters alone: the changes of a package are the tenant's",
    file: 'src/platform/audit/entries.ts',
    find: "tenantRows(ctx, 'e'),",
    replace: 'undefined,',
    tests: [
      {
        file: 'test/modules/packages/list-package-changes.test.ts',
        titles: ['filters alone > returns to a tenant nothing'],
      },
    ],
  },
  {
    name: "filters alone: the changes of a manifest are the tenant's",
    file: 'src/platform/audit/entries.ts',
    find: "tenantRows(ctx, 'e'),",
    replace: 'undefined,',
    tests: [
      {
        file: 'test/modules/manifests/manifest-changes.test.ts',
        titles: ['filters alone > returns to a tenant nothing'],
      },
    ],
  },
  {
    name: 'sandboxes: the number of a life is not misspelled',
    file: 'src/modules/sandboxes/lives/queries.ts',
    find: 'l.tracking_number = p.tracking_number)',
    replace: 'false)',
    tests: [
      {
        file: 'test/modules/sandboxes/lives/state-from-outside.test.ts',
        titles: ['are those that begin like a magic one'],
      },
    ],
  },
  {
    name: 'filters alone: a tenant reads only its own payment terms',
    file: 'src/modules/bills/payment-terms/queries.ts',
    find: "where ${ownRows(ctx, 't')} and ${condition})`",
    replace: 'where ${condition} limit 1)`',
    tests: [
      {
        file: 'test/modules/bills/due-dates/payment-terms.test.ts',
        titles: ['filters alone > a tenant reads and changes neither'],
      },
    ],
  },
  {
    name: 'filters alone: a tenant removes only its own payment terms',
    file: 'src/modules/bills/payment-terms/queries.ts',
    find: "delete from payment_terms t where ${ownRows(ctx, 't')} and",
    replace: 'delete from payment_terms t where',
    tests: [
      {
        file: 'test/modules/bills/due-dates/payment-terms.test.ts',
        titles: ['filters alone > a tenant reads and changes neither'],
      },
    ],
  },
  {
    name: 'bills: a bill is not overdue on its due date',
    file: 'src/modules/bills/shared/bill-row.ts',
    find: "${dueDateOfPublished} < (now() at time zone 'UTC')::date",
    replace: "${dueDateOfPublished} <= (now() at time zone 'UTC')::date",
    tests: [
      {
        file: 'test/modules/bills/due-dates/due-dates.test.ts',
        titles: ['a bill is overdue from the day after its due date'],
      },
    ],
  },
  {
    name: 'bills: an earlier bill gets no due date on its PDF',
    file: 'src/modules/bills/documents/pdf/head.ts',
    find: ': bill.storedDueDate],',
    replace: ': bill.dueDate],',
    tests: [
      {
        file: 'test/modules/bills/documents/download-bill-pdf.test.ts',
        titles: ['is printed as stored'],
      },
    ],
  },
  {
    name: 'bills: a run locks the couriers that it drafts',
    file: 'src/modules/bills/run/run-queries.ts',
    find: 'sql`${couriersById(ctx, ids)} for no key update`;',
    replace: 'couriersById(ctx, ids);',
    tests: [
      {
        file: 'test/modules/bills/run/billing-run-races.test.ts',
        titles: ['each courier gets one draft with each of its packages'],
      },
    ],
  },
  {
    name: 'bills: a run drafts no second bill beside a draft',
    file: 'src/modules/bills/run/draft-run.ts',
    find: 'if (own.length > 0)',
    replace: 'if (own.length > 1000)',
    tests: [
      {
        file: 'test/modules/bills/run/draft-billing-run.test.ts',
        titles: ['changes nothing a second time'],
      },
    ],
  },
  {
    name: 'bills: a run locks the drafts that it publishes',
    file: 'src/modules/bills/run/run-queries.ts',
    find: 'limit ${limit}::int for update`;',
    replace: 'limit ${limit}::int`;',
    tests: [
      {
        file: 'test/modules/bills/run/billing-run-races.test.ts',
        titles: ['each draft is published once, with consecutive numbers'],
      },
    ],
  },
  {
    name: 'bills: a bill that was sent is sent again only if asked',
    file: 'src/modules/bills/mails/send.ts',
    find: 'if (last && !again)',
    replace: 'if (last && !again && last.billId !== id)',
    tests: [
      {
        file: 'test/modules/bills/mails/send-bill.test.ts',
        titles: ['refuses a bill that was sent or waits', 'sends a bill once in 40 simultaneous requests'],
      },
    ],
  },
  {
    name: 'bills: a run sends a bill that was sent again only if asked',
    file: 'src/modules/bills/run/send-run.ts',
    find: 'const due = again ? bills :',
    replace: 'const due = again || sentIds.size > 0 ? bills :',
    tests: [
      {
        file: 'test/modules/bills/run/send-billing-run.test.ts',
        titles: ['sends nothing a second time, and everything once more with again'],
      },
    ],
  },
  {
    name: 'bills: a run locks the bills that it sends',
    file: 'src/modules/bills/run/run-queries.ts',
    find: 'order by b.courier_id, b.id for update`;',
    replace: 'order by b.courier_id, b.id`;',
    tests: [
      {
        file: 'test/modules/bills/run/sending-run-races.test.ts',
        titles: ['each bill is sent once'],
      },
    ],
  },
  {
    name: 'filters alone: a courier does not see whether its bill was sent',
    file: 'src/modules/bills/shared/mailed.ts',
    find: 'ctx.caller.courierId !== null && ctx.applicationFilters',
    replace: 'ctx.caller.courierId === null && !ctx.applicationFilters',
    tests: [
      {
        file: 'test/modules/bills/mails/mail-status.test.ts',
        titles: ['filters alone > a courier does not see whether its bill was sent'],
      },
    ],
  },
  {
    name: 'filters alone: a run shows and publishes only bills of the tenant',
    file: 'src/modules/bills/run/list-queries.ts',
    find: "sql`${ownRows(ctx, 'b')} and b.end_date between",
    replace: 'sql`b.end_date between',
    tests: [
      {
        file: 'test/modules/bills/run/list-billing-run.test.ts',
        titles: ["filters alone > shows, drafts, publishes and sends nothing of another tenant's couriers"],
      },
    ],
  },
  {
    name: 'filters alone: the accounts of a tenant sum only its bills',
    file: 'src/modules/bills/accounts/queries.ts',
    find: "from bills b where ${ownRows(ctx, 'b')} and b.status",
    replace: 'from bills b where b.status',
    tests: [
      {
        file: 'test/modules/bills/list-courier-statements.test.ts',
        titles: ["filters alone > contain no courier and no amount of another tenant's"],
      },
    ],
  },
  {
    name: 'bills: a payment cannot exceed the balance',
    file: 'src/modules/bills/payments/payment-queries.ts',
    find: 'and b.paid_amount + ${amountUsd}::numeric <= b.total_amount\n',
    replace: '\n',
    tests: [
      {
        file: 'test/modules/bills/bill-amounts.test.ts',
        titles: ['are rejected for a future date'],
      },
    ],
  },
  {
    name: 'bills: a payment is voided at most once',
    file: 'src/modules/bills/payments/payment-queries.ts',
    find: ' and p.voided_at is null\n',
    replace: '\n',
    tests: [{ file: 'test/modules/bills/courier-bills-races.test.ts', titles: ['voids a payment once'] }],
  },
  {
    name: 'bills: only published bills accept payments',
    file: 'src/modules/bills/payments/payment.ts',
    find: "if (bill.status === 'draft') throw new ApiError('bill_not_published');",
    replace: '',
    tests: [{ file: 'test/modules/bills/bill-amounts.test.ts', titles: ['payments'] }],
  },
  {
    name: 'logos: styles with external references are removed',
    file: 'src/modules/couriers/logo/svg-worker.ts',
    find: 'if (isHostileCss(element.textContent)) element.remove();\n    else',
    replace: '',
    tests: [
      {
        file: 'test/modules/couriers/logos/drawn-logos.test.ts',
        titles: ['disallowed SVG content'],
      },
    ],
  },
  {
    name: 'logos: external links are removed',
    file: 'src/modules/couriers/logo/svg-worker.ts',
    find: 'else element.removeAttributeNode(attribute);\n}',
    replace: '}',
    tests: [
      {
        file: 'test/modules/couriers/logos/drawn-logos.test.ts',
        titles: ['disallowed SVG content'],
      },
    ],
  },
  // Decision 0120: claims of parcels without an owner.
  {
    name: 'claims: a courier has five claims per hour',
    file: 'src/modules/claims/submit-claim.ts',
    find: 'await takeQuota(tx, stored.isNew ? ATTEMPTS : CHANGES, courierId, 1);',
    replace: 'await takeQuota(tx, CHANGES, courierId, stored.isNew ? 0 : 1); void ATTEMPTS;',
    tests: [{ file: CLAIM, titles: ['end after five in an hour'] }],
  },
  {
    name: 'claims: a courier has twenty further claims per day',
    file: 'src/modules/claims/submit-claim.ts',
    find: 'await takeQuota(tx, stored.isNew ? ATTEMPTS : CHANGES, courierId, 1);',
    replace: 'await takeQuota(tx, ATTEMPTS, courierId, stored.isNew ? 1 : 0); void CHANGES;',
    tests: [{ file: LIMITS, titles: ['twenty a day'] }],
  },
  {
    name: 'claims: a user has a limit of claims',
    file: 'src/modules/claims/claim-limit.ts',
    find: "await consume(ofUsers, CLAIMS_PER_USER, `${tenantId} ${userId}`, 'too_many_attempts');",
    replace: 'void [ofUsers, userId, consume];',
    tests: [{ file: LIMITS, titles: ['of one user'] }],
  },
  {
    name: 'claims: repeated claims of a user do not count for its address',
    file: 'src/modules/claims/submit-claim.ts',
    find: 'if (isNew) await from.limits.countNewNumber(claimant);',
    replace: 'void isNew;\n    await from.limits.countNewNumber(claimant);',
    tests: [{ file: LIMITS, titles: ['Repeated claims do not count'] }],
  },
  {
    name: 'claims: an address has a limit of claims',
    file: 'src/modules/claims/claim-limit.ts',
    find: 'await ofNetworks.assertLeft({ tenantId, address });',
    replace: 'void address;',
    tests: [{ file: LIMITS, titles: ['claims of new numbers'] }],
  },
  {
    name: 'claims: a claim does not wait for the lock of a parcel',
    file: 'src/modules/claims/submit-claim.ts',
    find: 'const { id, isNew } = await ctx.write(async (tx) => {',
    replace:
      "const { id, isNew } = await ctx.write(async (tx) => {\n    await tx.query((await import('../../platform/db/locks.js')).lockParcel(tx.tenantId, trackingKey));",
    tests: [{ file: BLIND, titles: ['waits for no lock of a parcel'] }],
  },
  {
    name: 'claims: a courier lists only its own claims',
    file: 'src/modules/claims/queries.ts',
    find: "ownRows(ctx, 'c'),\n    status",
    replace: 'sql`true`,\n    status',
    tests: [{ file: UNKNOWN, titles: ['show a courier only its own'] }],
  },
  {
    name: 'claims: staff see no claimants and parcels of another tenant',
    file: 'src/modules/claims/unknown-queries.ts',
    find: "const conditions = allOf(ownRows(ctx, 'p'),",
    replace: 'const conditions = allOf(sql`true`,',
    tests: [{ file: UNKNOWN, titles: ['show a courier only its own'] }],
  },
  {
    name: 'claims: the arrivals of a courier are its own',
    file: 'src/modules/prealerts/status/arrivals.ts',
    find: 'and a.courier_id = announcing.id`',
    replace: 'and announcing.id is not null`',
    tests: [{ file: ANNOUNCED, titles: ['without the numbers of other couriers'] }],
  },
  {
    name: 'claims: the arrivals of a courier are those of 30 days',
    file: 'src/modules/prealerts/status/arrivals.ts',
    find: "union all select now() - interval '30 days',",
    replace: "union all select '-infinity'::timestamptz,",
    tests: [{ file: ANNOUNCED, titles: ['are those of the last 30 days'] }],
  },
  {
    name: 'claims: staff decide only about claims of their tenant',
    file: 'src/modules/claims/review-queries.ts',
    find: "where ${ownRows(ctx, 'c')} and c.id = ${id}::uuid`;\n\nexport const findPrealert",
    replace: 'where c.id = ${id}::uuid`;\n\nexport const findPrealert',
    tests: [{ file: UNKNOWN, titles: ['show a courier only its own'] }],
  },
  {
    name: 'claims: a decided claim is not decided again',
    file: 'src/modules/claims/review.ts',
    find: "if (status === 'open' || status === 'pending' || status === 'flagged') return;",
    replace: 'if (status) return;',
    tests: [{ file: REVIEW, titles: ['tells the courier the reason once'] }],
  },
  {
    name: 'claims: decisions about one parcel wait for each other',
    file: 'src/modules/claims/review.ts',
    find: '  const locked = await lockLooked(tx, {',
    replace:
      '  void lockLooked;\n  const locked = await (async (_tx: UserTx, each: { identify(): ReturnType<typeof withPackages>; look: unknown }) => each.identify())(tx, {',
    tests: [{ file: RACES, titles: ['exactly one gets it'] }],
  },
  {
    name: 'claims: a courier does not win a dispute by setting the customer',
    file: 'src/modules/packages/update/update.ts',
    find: "if (found?.isDisputed) throw new ApiError('parcel_disputed');",
    replace: 'void found;',
    tests: [{ file: REVIEW, titles: ['cannot be given a customer by the courier'] }],
  },
  {
    name: 'claims: a closed pre-alert is not flagged again',
    file: 'src/modules/packages/intake/prealert-queries.ts',
    find: 'a.closed_at is null and (',
    replace: '(',
    tests: [{ file: REVIEW, titles: ['a later scan does not flag its pre-alert again'] }],
  },
  {
    name: 'rates: default tiers are not previewed with the packages of couriers that have their own',
    file: 'src/modules/invoices/preview-rates-queries.ts',
    find: "own where ${tenantRows(ctx, 'own')} and own.courier_id is not null",
    replace: "own where ${tenantRows(ctx, 'own')} and own.courier_id is not null and own.id < 0",
    tests: [
      {
        file: 'test/modules/rates/preview-rates.test.ts',
        titles: ['default tiers are priced for the couriers without tiers of their own'],
      },
    ],
  },
  {
    name: 'rates: the preview of an unknown courier is refused',
    file: 'src/modules/invoices/preview-rates.ts',
    find: 'if (courierId !== null && !courier)',
    replace: 'if (courierId !== null && row && !row)',
    tests: [
      {
        file: 'test/modules/rates/preview-rates.test.ts',
        titles: ['refuses what save_rates refuses, an invalid month, an unknown courier'],
      },
    ],
  },
  {
    name: 'work: only the shipment of a manifest counts',
    file: 'src/modules/packages/statistics/work-queries.ts',
    find: " and g.after ->> 'status' = 'shipped'",
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/statistics/work-statistics.test.ts',
        titles: ['sums what was shipped, announced and received without a customer'],
      },
    ],
  },
  {
    name: 'void: a package on a manifest stays',
    file: 'src/modules/packages/void/void-receipt.ts',
    find: 'if (manifestNumber !== null)',
    replace: 'if (manifestNumber === undefined)',
    tests: [
      {
        file: 'test/modules/packages/void/used-packages.test.ts',
        titles: ['if the package is on a manifest, and after it has left'],
      },
    ],
  },
  {
    name: 'void: a loaded parcel stays',
    file: 'src/modules/packages/void/void-receipt.ts',
    find: 'if (loadedNumber !== null)',
    replace: 'if (loadedNumber === undefined)',
    tests: [
      {
        file: 'test/modules/packages/void/used-packages.test.ts',
        titles: ['if it is loaded, until it is taken off'],
      },
    ],
  },
  {
    name: 'void: a worker voids new receipts only',
    file: 'src/modules/packages/void/void-receipt.ts',
    find: "if (role === 'warehouse' && !use.isNew)",
    replace: "if (role === 'courier' && !use.isNew)",
    tests: [
      {
        file: 'test/modules/packages/void/used-packages.test.ts',
        titles: ['by a worker a day later, but by a manager'],
      },
    ],
  },
  {
    name: 'void: what has left and come back stays',
    file: 'src/modules/packages/void/void-receipt.ts',
    find: 'if (use.hasLeft || (',
    replace: 'if ((',
    tests: [
      {
        file: 'test/modules/packages/void/used-packages.test.ts',
        titles: ['if it has come back from a flight'],
      },
    ],
  },
  {
    name: 'void: a scan that is sent again receives nothing',
    file: 'src/modules/scans/batch/admission/admit-scans.ts',
    find: 'if (known?.voidedAt) return',
    replace: 'if (known?.voidedAt === undefined && known) return',
    tests: [
      {
        file: 'test/modules/packages/void/void-receipt.test.ts',
        titles: ['receives nothing, and learns why; a new scan receives the parcel with its own weight'],
      },
    ],
  },
  {
    name: 'void: voided scans are not folded',
    file: 'src/modules/scans/batch/stored/queries.ts',
    find: 'and s.parcel_key = k.key and s.voided_at is null\n      order by',
    replace: 'and s.parcel_key = k.key\n      order by',
    tests: [
      {
        file: 'test/modules/packages/void/void-receipt.test.ts',
        titles: ['receives nothing, and learns why; a new scan receives the parcel with its own weight'],
      },
    ],
  },
  {
    name: 'void: a pre-alert of another package stays flagged',
    file: 'src/modules/packages/update/queries.ts',
    find: 'and (a.tracking_key = ${keys[0]} or not exists (',
    replace: 'and (true or a.tracking_key = ${keys[0]} or not exists (',
    tests: [
      {
        file: 'test/modules/packages/void/void-receipt.test.ts',
        titles: ['takes nothing from another package whose number ends in the same digits'],
      },
    ],
  },
  {
    name: 'void: a writer that meets a void runs again',
    file: 'src/platform/db/violations.ts',
    find: "  'bill_lines_tenant_id_package_id_fkey',\n",
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/void/void-races.test.ts',
        titles: ['callers void receipts while others use the packages'],
      },
    ],
  },
  {
    name: 'settings: the currency does not change after a publication',
    file: 'src/modules/tenant-settings/settings.ts',
    find: 'if (!counter || counter.lastNumber > 0)',
    replace: 'if (!counter)',
    tests: [
      {
        file: CURRENCY,
        titles: ['cannot change after the first publication', 'while a publication is on its way'],
      },
    ],
  },
  {
    name: 'places: parcels that have left count at no place',
    file: 'src/modules/packages/locations/queries.ts',
    find: '        isInWarehouse(ctx),\n',
    replace: '',
    tests: [{ file: PLACES, titles: ['one that has left is at none'] }],
  },
  {
    name: 'filters alone: the place of another tenant with the same number',
    file: 'src/modules/packages/locations/queries.ts',
    find: "on ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.parcel_key",
    replace: 'on o.parcel_key',
    tests: [{ file: PLACES, titles: ['filters alone > lists and counts nothing of another tenant'] }],
  },
  {
    name: 'preferences: changes of several devices wait for each other',
    file: 'src/modules/preferences/queries.ts',
    find: 'where ${ownPreferences(ctx)} for update`;',
    replace: 'where ${ownPreferences(ctx)}`;',
    tests: [{ file: PREFERENCES, titles: ['simultaneous changes of many devices lose nothing'] }],
  },
  {
    name: 'preferences: a user has its own only',
    file: 'src/modules/preferences/queries.ts',
    find: "sql`${tenantRows(ctx, 'p')} and p.user_id = ${ctx.caller.userId}::uuid`;",
    replace: "sql`${tenantRows(ctx, 'p')}`;",
    tests: [{ file: PREFERENCES, titles: ['belong to one user'] }],
  },
  {
    name: "filters alone: preferences of another tenant's user with the same id",
    file: 'src/modules/preferences/queries.ts',
    find: "sql`${tenantRows(ctx, 'p')} and p.user_id = ${ctx.caller.userId}::uuid`;",
    replace: 'sql`p.user_id = ${ctx.caller.userId}::uuid`;',
    tests: [{ file: PREFERENCES, titles: ['filters alone > a user with the same id in another tenant'] }],
  },
  {
    name: 'preferences: the limits of views and bytes',
    file: 'src/modules/preferences/preferences.ts',
    find: 'assertRoom(before, after);',
    replace: '',
    tests: [{ file: PREFERENCES, titles: ['have at most 60 views', 'have at most 32 KiB'] }],
  },
  {
    name: 'settings: a change loses no other field',
    file: 'src/modules/tenant-settings/settings.ts',
    find: 'await tx.count(lockTenantSettings(ctx.tenantId));',
    replace: '',
    tests: [{ file: SETTINGS, titles: ['simultaneous changes lose no field'] }],
  },
  {
    name: 'filters alone: a tenant reads only its own settings',
    file: 'src/modules/tenant-settings/queries.ts',
    find: "select ${SETTINGS} from tenant_settings s where ${tenantRows(ctx, 's')}`;",
    replace: 'select ${SETTINGS} from tenant_settings s order by s.time_zone desc limit 1`;',
    tests: [{ file: SETTINGS, titles: ['filters alone > a tenant reads and changes only its own settings'] }],
  },
  {
    name: 'days: a day begins at the first of two midnights',
    file: 'src/platform/db/filters.ts',
    find: 'sql`least(${midnight}',
    replace: 'sql`greatest(${midnight}',
    tests: [{ file: DAYS, titles: ['at the first moment with their date'] }],
  },
  {
    name: 'days: the filters of packages follow the time zone of the tenant',
    file: 'src/modules/packages/list/filters.ts',
    find: 'startOfDay(filters.entryDateFloor, zone)',
    replace: 'startOfDay(filters.entryDateFloor, UTC)',
    tests: [{ file: DAYS, titles: ['filter packages in lists and exports'] }],
  },
];

const TOLD = 'test/modules/notices/tell-customers.test.ts';
const CHOSEN = 'test/modules/notices/notice-choice.test.ts';
const CHOICES_LIMITED = 'test/modules/notices/notice-limits.test.ts';

/** Guards of the mails to customers, and of the page of their link. */
export const NOTICES: readonly SourceMutant[] = [
  {
    name: 'notices: one run at a time tells the customers of a courier',
    file: 'src/modules/notices/telling/plan-queries.ts',
    find: 's.courier_id = ${courierId}::uuid for no key update skip locked`;',
    replace: 's.courier_id = ${courierId}::uuid`;',
    tests: [{ file: TOLD, titles: ['is told once, although the event is repeated'] }],
  },
  {
    name: 'notices: a choice holds for mails that wait',
    file: 'src/modules/notices/mails/send-notice-mail.ts',
    find: 'if (row.isOptedOut) return { skipped: OPTED_OUT };',
    replace: '',
    tests: [{ file: CHOSEN, titles: ['ends the mails at once', 'ends mails that wait after a failure'] }],
  },
  {
    name: 'notices: a mail that waits leaves out parcels of another customer',
    file: 'src/modules/notices/mails/queries.ts',
    find: '\n    and p.user_code = cu.user_code\n',
    replace: '\n',
    tests: [{ file: TOLD, titles: ['gets no mail that is queued when the parcel gets another customer'] }],
  },
  {
    name: 'notices: what is held for another customer is cancelled',
    file: 'src/modules/notices/telling/due-queries.ts',
    find: ' and p.user_code = a.user_code',
    replace: '',
    tests: [{ file: TOLD, titles: ['who gets the parcel of another one is told'] }],
  },
  {
    name: 'notices: what was before they were switched on is not told',
    file: 'src/modules/notices/telling/plan-queries.ts',
    find: '>= s.told_since)',
    replace: "> '-infinity')",
    tests: [
      {
        file: 'test/modules/notices/notice-settings.test.ts',
        titles: ['before notices are switched on is not told'],
      },
    ],
  },
  {
    name: 'notices: a mail that waits is held by quiet hours',
    file: 'src/modules/notices/mails/queries.ts',
    find: 'ceil(extract(epoch from ${quietUntilOf(ctx)} - now()))::int as',
    replace: 'nullif(ceil(extract(epoch from coalesce(${quietUntilOf(ctx)}, now()) - now())) * 0, 0)::int as',
    tests: [
      {
        file: 'test/modules/notices/quiet-hours.test.ts',
        titles: ['that is queued when they begin is sent when they end'],
      },
    ],
  },
  {
    name: 'notices: an address has a limit of mails',
    file: 'src/modules/notices/telling/due-queries.ts',
    find: 'recent.total >= ${MAILS_OF_ADDRESS}::int',
    replace: 'recent.total >= 1000 * ${MAILS_OF_ADDRESS}::int',
    tests: [
      { file: 'test/modules/notices/notice-digests.test.ts', titles: ['of an address hold what is above'] },
    ],
  },
  {
    name: 'notices: a link begins mails again five times a day',
    file: 'src/modules/notices/choice/choice.ts',
    find: 'if (!isOptedOut && row.isOptedOut) await limits.countResumed(keyHash, who);',
    replace: '',
    tests: [{ file: CHOICES_LIMITED, titles: ['mails begin again five times a day'] }],
  },
  {
    name: 'notices: an address has a limit of pages',
    file: 'src/modules/notices/choice/limits.ts',
    find: 'await pages.consume(who);',
    replace: '',
    tests: [{ file: CHOICES_LIMITED, titles: ['an address opens 240 pages'] }],
  },
  {
    name: 'notices: the link of an inactive courier shows nothing',
    file: 'src/modules/notices/choice/queries.ts',
    find: ' and c.id = m.courier_id and c.is_active',
    replace: ' and c.id = m.courier_id',
    tests: [{ file: CHOSEN, titles: ['that is wrong, of another instance'] }],
  },
  {
    name: 'notices: warehouse staff see a part of the address only',
    file: 'src/modules/notices/handlers.ts',
    find: "hasPermission(role, 'customer:edit')",
    replace: "hasPermission(role, 'customer:view')",
    tests: [{ file: 'test/modules/notices/notice-log.test.ts', titles: ['shows warehouse staff a part'] }],
  },
];
