import type { SourceMutant } from '../mutant.js';

const TOKEN_URLS = 'test/modules/service-tokens/token-urls.test.ts';

const REDIRECTION = 'test/modules/couriers/settings/redirection.test.ts';

const TEAM_RECENT = 'test/modules/users/team/recent-login.test.ts';

/** Guards of permissions, tenant and courier isolation, stored secrets, and the audit log. */
export const ACCESS: readonly SourceMutant[] = [
  {
    name: 'couriers: an old login of the staff sends nothing to a new URL',
    file: 'src/modules/couriers/settings/redirection.ts',
    find: 'if (hasNewAddress || namesNewUrl(change)) await',
    replace: 'if (hasNewAddress) await',
    tests: [{ file: REDIRECTION, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'couriers: an old login of the staff sends no mail to a new address',
    file: 'src/modules/couriers/settings/redirection.ts',
    find: 'if (hasNewAddress || namesNewUrl(change)) await',
    replace: 'if (namesNewUrl(change)) await',
    tests: [{ file: REDIRECTION, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'couriers: an old login activates no courier',
    file: 'src/modules/couriers/administration/handlers.ts',
    find: 'await confirmed(sent, (settle) => setActivity(ctx, id, true, settle))',
    replace: 'await setActivity(ctx, id, true)',
    tests: [{ file: REDIRECTION, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'couriers: owners are told where the data go',
    file: 'src/modules/couriers/settings/update-settings.ts',
    find: 'if (isRedirected(change))',
    replace: 'if (false)',
    tests: [
      { file: REDIRECTION, titles: ['its owners and its old address are told', 'the old address is told'] },
    ],
  },
  {
    name: 'security: an old login loosens nothing',
    file: 'src/modules/security/settings.ts',
    find: 'if (!settle && loosens(stored, merged)) await assertRecentLogin(tx, ctx.caller);',
    replace: '',
    tests: [{ file: REDIRECTION, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'writes: a shipment counts for the packages of its manifest',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: 'moved.packages * MOVED_BYTES',
    replace: '0',
    tests: [
      {
        file: 'test/security/bounds/written-allowance.test.ts',
        titles: ['a shipment is charged for the packages of its manifest'],
      },
    ],
  },
  {
    name: 'writes: a shipment counts for the events of its couriers',
    file: 'src/modules/manifests/lifecycle/manifest.ts',
    find: 'moved.events * OPTIONAL_EVENT_BYTES',
    replace: '0 * OPTIONAL_EVENT_BYTES',
    tests: [
      {
        file: 'test/security/bounds/allowance/charges.test.ts',
        titles: ['a flight is charged for the event of each courier aboard'],
      },
    ],
  },
  {
    name: 'writes: a run of bills counts for their events',
    file: 'src/modules/bills/run/publish-run.ts',
    find: 'ctx.noteWrites({ furtherBytes: events * OPTIONAL_EVENT_BYTES });',
    replace: 'void OPTIONAL_EVENT_BYTES;',
    tests: [
      {
        file: 'test/security/bounds/allowance/charges.test.ts',
        titles: ['a run of bills is charged for the event of each bill'],
      },
    ],
  },
  {
    name: 'writes: a void counts for the scans and the history of its parcel',
    file: 'src/modules/packages/void/void-receipt.ts',
    find: 'ctx.noteWrites({ furtherBytes: history * BOUND_KINDS.receipt.item_bytes });',
    replace: 'void history;',
    tests: [
      {
        file: 'test/security/bounds/written-allowance.test.ts',
        titles: ['a void is charged for the scans and the history of its parcel'],
      },
    ],
  },
  {
    name: 'writes: what a caller may write has a limit',
    file: 'src/platform/limits/written/write-allowance.ts',
    find: 'if (excess > 0) return refuse(account, excess);',
    replace: '',
    tests: [
      {
        file: 'test/security/bounds/written-allowance.test.ts',
        titles: [
          'an API key in a loop is stopped',
          'a session of the staff in a loop of audited changes is stopped',
        ],
      },
    ],
  },
  {
    name: 'writes: a process grants a slice at most before the database knows it',
    file: 'src/platform/limits/written/write-allowance.ts',
    find: 'while (account.sent + account.pending >= sliceOf(account)) await settleOnce(account);',
    replace: '',
    tests: [
      {
        file: 'test/resilience/processes/write-allowance.test.ts',
        titles: ['requests that wait for a settlement that fails fail together'],
      },
    ],
  },
  {
    name: 'writes: what is not written is given back',
    file: 'src/platform/http/within-allowance.ts',
    find: 'context.hasWritten ? (size',
    replace: 'true ? (size',
    tests: [
      {
        file: 'test/security/bounds/written-allowance.test.ts',
        titles: ['a request that writes nothing is free'],
      },
    ],
  },
  {
    name: 'users: the mails that changes of users cause have a limit',
    file: 'src/modules/users/notify.ts',
    find: 'await takeQuota(tx, MAILS_PER_DAY, caller, queued);',
    replace: 'void [takeQuota, MAILS_PER_DAY, caller, queued];',
    tests: [
      {
        file: 'test/modules/users/team/team-mails.test.ts',
        titles: [
          'an owner in a loop of new addresses writes 60 mails',
          'a user of the staff has the same limit',
          'simultaneous changes by one owner do not exceed the limit',
        ],
      },
    ],
  },
  {
    name: 'bill mails: a bill is mailed a few times per day',
    file: 'src/modules/bills/mails/send.ts',
    find: 'total >= MAX_OF_A_BILL',
    replace: 'total > 1_000 * MAX_OF_A_BILL',
    tests: [
      {
        file: 'test/modules/bills/mails/send-bill.test.ts',
        titles: ['sends a bill at most five times within 24 hours'],
      },
      {
        file: 'test/modules/bills/run/send-billing-run.test.ts',
        titles: ['mails a bill as often as a single sending may, and no more'],
      },
    ],
  },
  {
    name: 'bill mails: a user of the staff has a limit',
    file: 'src/modules/bills/mails/send.ts',
    find: 'await takeQuota(tx, MAILS_PER_DAY, tx.caller, mails.length);',
    replace: 'void [takeQuota, MAILS_PER_DAY];',
    tests: [
      {
        file: 'test/modules/bills/mails/send-bill.test.ts',
        titles: ['a user of the staff sends at most 1,000 bills per day'],
      },
    ],
  },
  {
    name: 'mails: they leave slots of the worker to other jobs',
    file: 'src/jobs/job-share.ts',
    find: 'if (!hasRoom(tenantId)) {',
    replace: 'if (!hasRoom(tenantId) && total === 0) {',
    tests: [
      {
        file: 'test/modules/mail/mail-share.test.ts',
        titles: ['mails to a server that does not respond leave the slots to other jobs'],
      },
    ],
  },
  {
    name: 'manifest mails: a courier gets a number of them per day',
    file: 'src/modules/mail/manifest-mails/queries.ts',
    find: 'where q.used < ${MAILS_OF_COURIER}::int',
    replace: 'where ${MAILS_OF_COURIER}::int > 0',
    tests: [
      {
        file: 'test/modules/mail/manifest-mails/mail-limit.test.ts',
        titles: [
          'a user of the warehouse in a loop of manifests',
          'a courier above its limit is skipped with the reason',
          'of 20 manifests that become ready at the same time',
        ],
      },
    ],
  },
  {
    name: 'account mails: one address gets a number of them per day',
    file: 'src/modules/mail/account-mails/queries.ts',
    find: 'and recent.recipient_count < ${limits.recipient}::int',
    replace: 'and ${limits.recipient}::int > 0',
    tests: [
      {
        file: 'test/modules/auth/reset/mail-limits.test.ts',
        titles: ['an owner that gives six users the address', 'logins from new networks mail an address'],
      },
    ],
  },
  {
    name: 'account mails: the users of a courier, and the staff, get a number of them per day',
    file: 'src/modules/mail/account-mails/queries.ts',
    find: 'and recent.group_count < case',
    replace: 'and 0 < case',
    tests: [
      {
        file: 'test/modules/auth/reset/mail-limits.test.ts',
        titles: [
          'above the limit of a courier its users get none',
          'above the limit of the staff no user of the staff gets one',
          'have a limit, and a change above it succeeds without a mail',
        ],
      },
    ],
  },
  {
    name: 'account mails: notices of a courier hide none of the staff',
    file: 'src/modules/mail/account-mails/queries.ts',
    find: '(${isReset} or of_group)',
    replace: '(${isReset} or true)',
    tests: [
      {
        file: 'test/modules/auth/reset/mail-limits.test.ts',
        titles: ['logins from new networks mail an address'],
      },
    ],
  },
  {
    name: 'reset mails: simultaneous requests count each other',
    file: 'src/modules/password-reset/prepare.ts',
    find: 'await tx.query(lockResetMails(tenantId));',
    replace: 'void lockResetMails;',
    tests: [
      {
        file: 'test/modules/auth/reset/mail-limits.test.ts',
        titles: ['of 24 simultaneous requests for users with one address'],
      },
    ],
  },
  {
    name: 'mails: a name that could be a message is cut',
    file: 'src/platform/mail/plain-text.ts',
    find: 'shorten(line, MAX_NAME) === line && !number.test(line)',
    replace: 'number !== undefined',
    tests: [
      {
        file: 'test/modules/users/team/team-mails.test.ts',
        titles: ['a user name and a client name of which an owner makes a message are cut'],
      },
      {
        file: 'test/modules/mail/texts-of-couriers.test.ts',
        titles: ['a courier that names a stranger'],
      },
    ],
  },
  {
    name: 'mails: a name with a telephone number is cut',
    file: 'src/platform/mail/plain-text.ts',
    find: ' && !number.test(line)',
    replace: ' && number !== undefined',
    tests: [
      {
        file: 'test/modules/users/team/team-mails.test.ts',
        titles: ['a user name and a client name of which an owner makes a message are cut'],
      },
    ],
  },
  {
    name: 'manifest mails: numbers and codes of couriers contain no links',
    file: 'src/platform/mail/plain-text.ts',
    find: 'return withoutLinks(isShown',
    replace: 'return String(isShown',
    tests: [
      {
        file: 'test/modules/mail/texts-of-couriers.test.ts',
        titles: ['a courier that names a stranger'],
      },
    ],
  },
  {
    name: 'users: mails about accounts contain no links of an owner',
    file: 'src/platform/mail/plain-text.ts',
    find: "giu, '$& ')",
    replace: "giu, '$&')",
    tests: [
      {
        file: 'test/modules/users/team/team-mails.test.ts',
        titles: ['a mail carries no text that an owner writes, and no link'],
      },
    ],
  },
  {
    name: 'writes: reads go on with a used-up allowance',
    file: 'src/platform/http/within-allowance.ts',
    find: "return isAmong('reads', operation, body) || isAmong('endings', operation, body) ? undefined : 'bytes';",
    replace: "return isAmong('endings', operation, body) ? undefined : 'bytes';",
    tests: [
      {
        file: 'test/security/bounds/allowance/unmetered.test.ts',
        titles: ['every GET and every POST that only reads answers as before'],
      },
    ],
  },
  {
    name: 'writes: only the values of the table make a request one that reads',
    file: 'src/platform/http/within-allowance.ts',
    find: '(sent.get(name) ?? null) === value),',
    replace: '(sent.get(name) ?? null) === value || sent.size > 0),',
    tests: [
      {
        file: 'test/security/bounds/allowance/unmetered.test.ts',
        titles: ['no field turns a request that writes into one that only reads'],
      },
    ],
  },
  {
    name: 'writes: access can be taken away with a used-up allowance',
    file: 'src/platform/http/within-allowance.ts',
    find: "|| isAmong('endings', operation, body) ?",
    replace: '?',
    tests: [
      {
        file: 'test/security/bounds/allowance/unmetered.test.ts',
        titles: ['works with a used-up allowance, and writes nothing if it is repeated'],
      },
    ],
  },
  {
    name: 'writes: replaced secrets have a limit of their own',
    file: 'src/platform/http/within-allowance.ts',
    find: "if (isAmong('replacements', operation, body)) return 'secrets';",
    replace: "if (isAmong('replacements', operation, body)) return undefined;",
    tests: [
      {
        file: 'test/security/bounds/allowance/unmetered.test.ts',
        titles: ['up to a limit of its own for each user'],
      },
    ],
  },
  {
    name: 'writes: the staff of a tenant has an allowance together',
    file: 'src/platform/http/within-allowance.ts',
    find: "    { tenantId, kind: 'staff', id: tenantId },\n",
    replace: '',
    tests: [
      {
        file: 'test/security/bounds/allowance/charges.test.ts',
        titles: ['all users and service tokens of the staff have an allowance together'],
      },
    ],
  },
  {
    name: 'writes: the lines of a draft are counted',
    file: 'src/modules/bills/drafts/draft.ts',
    find: 'noteBillLines(ctx, created.row.totalPackages);',
    replace: '',
    tests: [
      {
        file: 'test/security/bounds/allowance/charges.test.ts',
        titles: ['the lines of a draft are counted when they are written'],
      },
    ],
  },
  {
    name: 'sessions: nothing is audited when nothing ended',
    file: 'src/modules/sessions/manage.ts',
    find: 'if (ended.length + logins.count > 0) auditLater(',
    replace: 'auditLater(',
    tests: [
      {
        file: 'test/security/bounds/allowance/unmetered.test.ts',
        titles: ['ending the sessions of another user who has none writes no audit entry'],
      },
    ],
  },
  {
    name: 'users: administrators do not exceed the users of a courier',
    file: 'src/modules/users/change.ts',
    find: 'if (courierId !== stored.courierId) await assertRoom(tx, courierId);',
    replace: '',
    tests: [
      {
        file: 'test/modules/users/team/manage-team.test.ts',
        titles: ['a courier has at most 200 users'],
      },
    ],
  },
  {
    name: 'manifests: couriers do not see which packages others claim',
    file: 'src/modules/manifests/detail/detail.ts',
    find: 'disputed && !isForCourier',
    replace: 'disputed',
    tests: [
      {
        file: 'test/modules/manifests/manifest-visibility.test.ts',
        titles: ['are not named for a courier'],
      },
    ],
  },
  {
    name: 'permissions: the role must have the permission of the operation',
    file: 'src/platform/access/authenticate.ts',
    find: "throw new ApiError('permission_denied', { args: { permission } });",
    replace: '',
    tests: [
      { file: 'test/modules/users/users.test.ts', titles: ['only administrators may list and manage users'] },
    ],
  },
  {
    name: 'permissions: a refusal by permission checks the account first',
    file: 'src/platform/http/request-hooks.ts',
    find: 'assertPermitted(request.caller, operation);',
    replace:
      'try { assertPermitted(request.caller, operation); } catch (error) { request.caller = undefined; throw error; }',
    tests: [
      {
        file: 'test/security/token-rights.test.ts',
        titles: ['a token with another role, courier or tenant than the user is refused by'],
      },
    ],
  },
  {
    name: 'permissions: only administrators read the audit log',
    file: 'src/platform/access/permissions.ts',
    find: "'audit:view': ADMINS",
    replace: "'audit:view': MANAGERS",
    tests: [
      { file: 'test/modules/audit/audit-log.test.ts', titles: ['is readable for administrators only'] },
    ],
  },
  {
    name: 'filters alone: a courier sees only its own rows',
    file: 'src/platform/db/filters.ts',
    find: ' and ${table}.courier_id = ${caller.courierId}::uuid`;',
    replace: '`;',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ["the application's filters alone > iex > sees exactly its packages"],
      },
    ],
  },
  {
    name: 'filters alone: a caller sees only rows of its tenant',
    file: 'src/platform/db/filters.ts',
    find: '? sql`${table}.tenant_id = ${caller.tenantId}::uuid`\n',
    replace: '? sql`true`\n',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: [
          "filters alone > no filter finds another tenant's packages",
          'filters alone > admin > sees exactly its packages',
        ],
      },
    ],
  },
  {
    name: 'filters alone: shared records belong to the tenant',
    file: 'src/platform/db/filters.ts',
    find: 'return applicationFilters ? sql`${raw(alias)}.tenant_id',
    replace: 'return !caller ? sql`${raw(alias)}.tenant_id',
    tests: [
      {
        file: 'test/security/isolation.test.ts',
        titles: ['filters alone > listCarriers', 'filters alone > listUsers of a courier'],
      },
    ],
  },
  {
    name: 'filters alone: a courier sees no draft bills in its list',
    file: 'src/modules/bills/shared/bill-row.ts',
    find: "return ctx.caller.courierId !== null && ctx.applicationFilters ? sql`${own} and b.status <> 'draft'` : own;",
    replace: 'return own;',
    tests: [
      {
        file: 'test/modules/bills/list-bills.test.ts',
        titles: ['filters alone > couriers see their own bills without drafts'],
      },
    ],
  },
  {
    name: 'couriers: only staff select the courier of a pre-alert list',
    file: 'src/modules/prealerts/list-queries.ts',
    find: 'ctx.caller.courierId === null && courierId &&',
    replace: 'courierId &&',
    tests: [
      {
        file: 'test/modules/prealerts/records/list-prealerts.test.ts',
        titles: ['couriers see only their own pre-alerts'],
      },
    ],
  },
  {
    name: 'keys: a key submits pre-alerts only for customers of its own courier',
    file: 'src/modules/prealerts/queries.ts',
    find: ' and cu.courier_id = app_courier()',
    replace: '',
    tests: [
      { file: 'test/security/isolation.test.ts', titles: ['submitPrealert'] },
      {
        file: 'test/modules/prealerts/records/submit-prealert.test.ts',
        titles: ['responds identically to customers'],
      },
    ],
  },
  {
    name: 'keys: requests with different keys never share a transaction',
    file: 'src/platform/context/shared-write.ts',
    find: '${caller.tenantId} ${caller.keyHash}',
    replace: 'any',
    tests: [
      {
        file: 'test/modules/prealerts/combined-submissions.test.ts',
        titles: ['callers of two keys at once'],
      },
    ],
  },
  {
    name: 'keys: lines are accepted only for customers of the own courier',
    file: 'src/modules/prealerts/batches/batch-queries.ts',
    find: 'cu.tenant_id = owner.tenant_id and cu.courier_id = owner.courier_id',
    replace: 'cu.tenant_id = owner.tenant_id',
    tests: [
      {
        file: 'test/modules/prealerts/upload-prealerts.test.ts',
        titles: ["sibling couriers' customers are named alike"],
      },
    ],
  },
  {
    name: 'keys: the lookup hash of a key depends on its purpose',
    file: 'src/platform/access/secrets.ts',
    find: '.update(`${purpose}\\0${secret}`)',
    replace: '.update(secret)',
    tests: [{ file: 'test/security/secrets.test.ts' }],
  },
  {
    name: 'keys: many wrong keys from one address get 429',
    file: 'src/platform/limits/request-rate.ts',
    find: 'await failures.consume({ tenantId, address: clientAddress });',
    replace: '{ remaining: 1, resetSeconds: 1 };',
    tests: [
      {
        file: 'test/modules/prealerts/records/submit-prealert.test.ts',
        titles: ['an address that keeps sending wrong keys'],
      },
    ],
  },
  {
    name: 'secrets: a ciphertext is bound to its encryption context',
    file: 'src/platform/access/secrets.ts',
    find: '`${tenantId}/${rowId}/${field}`;',
    replace: "[tenantId, rowId, field].fill('').join();",
    tests: [
      {
        file: 'test/security/secrets.test.ts',
        titles: ['a ciphertext can be decrypted only for its own tenant, row and field'],
      },
      {
        file: 'test/modules/couriers/settings/courier-settings.test.ts',
        titles: ['stores tokens encrypted with the newest key'],
      },
    ],
  },
  {
    name: 'secrets: an altered ciphertext cannot be decrypted',
    file: 'src/platform/access/seal.ts',
    find: " + decipher.final('utf8')",
    replace: '',
    tests: [{ file: 'test/security/secrets.test.ts' }],
  },
  {
    name: 'masking: the tracking number of an unknown customer is masked for couriers',
    file: 'src/modules/tracking-numbers/masking.ts',
    find: 'courierId !== null && userCode === null ? maskTrackingNumber(trackingNumber) : trackingNumber',
    replace: 'trackingNumber',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['masks numbers of unknown customers'],
      },
    ],
  },
  {
    name: 'masking: a number of at most four characters is masked completely',
    file: 'src/modules/tracking-numbers/masking.ts',
    find: 'characters.length > SHOWN_CHARACTERS ? characters.length - SHOWN_CHARACTERS : characters.length;',
    replace: 'Math.max(0, characters.length - SHOWN_CHARACTERS);',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['masks numbers of up to four characters'],
      },
    ],
  },
  {
    name: 'masking: the pre-alerts of a masked package are hidden from its courier',
    file: 'src/modules/packages/get-package/get-package.ts',
    find: '  if (isMasked(ctx.caller, row)) return { row, claims: [] };\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/get-package.test.ts',
        titles: ['masks the number of an unknown customer'],
      },
    ],
  },
  {
    name: 'billing: a package on a draft is not billed for its courier',
    file: 'src/modules/packages/list/filters.ts',
    find: "(not ${isForCourier}::boolean or b.status <> 'draft')",
    replace: 'true',
    tests: [
      {
        file: 'test/modules/packages/list/office-layers.test.ts',
        titles: ['shows a courier nothing by place, by draft and by text'],
      },
    ],
  },
  {
    name: 'places: the filter by place matches nothing for couriers',
    file: 'src/modules/packages/list/filters.ts',
    find: '  if (ctx.caller.courierId !== null) return sql`false`;\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/list/office-layers.test.ts',
        titles: ['shows a courier nothing by place, by draft and by text'],
      },
    ],
  },
  {
    name: 'masking: an update does not confirm a guessed masked number',
    file: 'src/modules/packages/update/fields.ts',
    find: 'const shown = { ...before, tracking_number: shownTrackingNumber(caller, { trackingNumber, userCode }) };',
    replace: 'const shown = before;',
    tests: [
      {
        file: 'test/modules/packages/update/updated-owner.test.ts',
        titles: ['accepts the masked number as unchanged'],
      },
    ],
  },
  {
    name: 'exports: formulas are neutralised',
    file: 'src/platform/files/csv-cells.ts',
    find: "&& FORMULA.test(text) ? `'${text}` : text",
    replace: '? text : text',
    tests: [
      {
        file: 'test/modules/packages/export/formula-injection.test.ts',
        titles: ['formula injection > no cell of a'],
      },
    ],
  },
  {
    name: 'exports: formulas after invisible characters are neutralised',
    file: 'src/platform/files/csv-cells.ts',
    find: '[${SKIPPED}]*[${SIGNS}]',
    replace: '[${SIGNS}]',
    tests: [
      { file: 'test/modules/packages/export/formula-injection.test.ts', titles: ['formula injection'] },
    ],
  },
  {
    name: 'audit: the hash of a link is compared with its entry',
    file: 'src/modules/audit-log/verify-links.ts',
    find: 'if (chainHash(previous, digest) === link.hash) return undefined;',
    replace: 'if (chainHash(previous, digest) !== undefined) return undefined;',
    tests: [{ file: 'test/modules/audit/audit-verification.test.ts', titles: ['verification'] }],
  },
  {
    name: 'audit: a chain that was altered is not closed under a new key',
    file: 'src/commands/rehash.ts',
    find: 'if (flaw) faults.push(describeFlaw(tenantId, flaw));',
    replace: 'void flaw;',
    tests: [
      {
        file: 'test/long/secrets/replaced-lookup-key.test.ts',
        titles: [
          'a chain that was altered is not closed unless the operator accepts it, and the log says so',
        ],
      },
    ],
  },
  {
    name: 'audit: a gap in the sequence is reported',
    file: 'src/modules/audit-log/verify-links.ts',
    find: "if (Number(link.sequence) !== sequence) return { sequence, entryId: null, problem: 'missing' };",
    replace: '',
    tests: [{ file: 'test/modules/audit/audit-verification.test.ts', titles: ['verification'] }],
  },
  {
    name: 'audit: a chain head kept by the caller reveals a truncated chain',
    file: 'src/modules/audit-log/verify-chain.ts',
    find: 'if (link.hash === known.hash) return undefined;',
    replace: 'if (link.hash) return undefined;',
    tests: [
      {
        file: 'test/modules/audit/audit-verification.test.ts',
        titles: ['detects a truncated chain by a known head'],
      },
    ],
  },
  {
    name: 'team: managers change no managers or administrators',
    file: 'src/modules/users/team/queries.ts',
    find: "const TEAM_ROLES = sql`u.role in ('warehouse', 'courier')`;",
    replace: 'const TEAM_ROLES = sql`u.role is not null`;',
    tests: [
      { file: 'test/modules/users/team/manage-team.test.ts', titles: ['is not in the team of a manager'] },
    ],
  },
  {
    name: 'team: members of a courier manage nobody',
    file: 'src/modules/users/team/team.ts',
    find: 'if (!manages(own)) throw',
    replace: 'if (own === null) throw',
    tests: [
      {
        file: 'test/modules/users/team/owners.test.ts',
        titles: ['a member of a courier sees the team and changes nothing'],
      },
    ],
  },
  {
    name: 'team: changes of users are serialized by a lock',
    file: 'src/modules/users/team/team.ts',
    find: '    await tx.count(lockAdministrators(ctx.tenantId));\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/users/team/team-races.test.ts',
        titles: ['changes nobody', 'moved to another courier meanwhile'],
      },
    ],
  },
  {
    name: 'team: a caller who was changed meanwhile is refused',
    file: 'src/modules/users/team/queries.ts',
    find: 'and u.token_version = ${ctx.caller.tokenVersion}::int',
    replace: 'and u.token_version >= ${ctx.caller.tokenVersion}::int',
    tests: [
      { file: 'test/modules/users/team/team-races.test.ts', titles: ['whose password is reset meanwhile'] },
    ],
  },
  {
    name: 'team: an owner who is disabled meanwhile is refused',
    file: 'src/modules/users/team/queries.ts',
    find: 'u.id = ${ctx.caller.userId}::uuid and u.is_active',
    replace: 'u.id = ${ctx.caller.userId}::uuid',
    tests: [{ file: 'test/modules/users/team/team-races.test.ts', titles: ['who is disabled meanwhile'] }],
  },
  {
    name: 'team: a user who moved to another courier meanwhile is not found',
    file: 'src/modules/users/team/queries.ts',
    find: 'and (${courierId}::uuid is null or u.courier_id = ${courierId}::uuid)',
    replace: 'and (${courierId}::uuid is null or true)',
    tests: [
      { file: 'test/modules/users/team/team-races.test.ts', titles: ['moved to another courier meanwhile'] },
    ],
  },
  {
    name: 'team: nobody changes its own account',
    file: 'src/modules/users/team/team.ts',
    find: '  assertAnother(ctx, userId);\n',
    replace: '',
    tests: [
      { file: 'test/modules/users/team/manage-team.test.ts', titles: ['nobody changes its own account'] },
    ],
  },
  {
    name: 'team: an owner creates users of its own courier only',
    file: 'src/modules/users/team/manage.ts',
    find: 'own.courierId ?? courierId;',
    replace: 'courierId ?? own.courierId ?? undefined;',
    tests: [
      { file: 'test/modules/users/team/owners.test.ts', titles: ['creates a user of its own courier'] },
    ],
  },
  {
    name: 'team: an owner gives no role of the warehouse',
    file: 'src/modules/users/team/manage.ts',
    find: 'if (own.courierId !== null)\n',
    replace: "if (own.courierId === '')\n",
    tests: [{ file: 'test/modules/users/team/owners.test.ts', titles: ['gives no role of the warehouse'] }],
  },
  {
    name: 'team: the user names of an owner begin with the code of its courier',
    file: 'src/modules/users/team/manage.ts',
    find: 'if (!username.startsWith(prefix))',
    replace: "if (username === '')",
    tests: [{ file: 'test/modules/users/team/owners.test.ts', titles: ['gives user names that begin'] }],
  },
  {
    name: 'team: a change of the role ends the tokens',
    file: 'src/modules/users/team/manage.ts',
    find: '{ ...wanted, ...REVOKE_TOKENS, updatedAt',
    replace: '{ ...wanted, updatedAt',
    tests: [{ file: 'test/modules/users/team/owners.test.ts', titles: ['of a colleague is audited'] }],
  },
  {
    name: 'team: a change of the role ends begun logins',
    file: 'src/modules/users/team/manage.ts',
    find: '    await deletePreauthTokens(tx, userId);\n',
    replace: '',
    tests: [{ file: 'test/modules/users/team/owners.test.ts', titles: ['of a colleague is audited'] }],
  },
  {
    name: 'team: changes by owners reach sessions and begun logins',
    file: 'src/modules/users/team/team.ts',
    find: 'ctx.asTenant().write(',
    replace: 'ctx.write(',
    tests: [{ file: 'test/modules/users/team/owners.test.ts', titles: ['of a colleague is audited'] }],
  },
  {
    name: 'team: a courier has at most 200 users',
    file: 'src/modules/users/user.ts',
    find: 'if (users >= MAX_USERS_OF_A_COURIER)',
    replace: 'if (users < 0)',
    tests: [
      { file: 'test/modules/users/team/manage-team.test.ts', titles: ['a courier has at most 200 users'] },
    ],
  },
  {
    name: 'team: create is confirmed',
    file: 'src/modules/users/team/handlers.ts',
    find: 'await confirmed(sent, (settle) => createMember(ctx, deps, input, settle))',
    replace: 'await createMember(ctx, deps, input)',
    tests: [{ file: TEAM_RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'team: change_role is confirmed',
    file: 'src/modules/users/team/handlers.ts',
    find: 'await confirmed(sent, (settle) => changeTeamRole(ctx, id, requestedRole(sent), settle))',
    replace: 'await changeTeamRole(ctx, id, requestedRole(place))',
    tests: [{ file: TEAM_RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'team: enable is confirmed',
    file: 'src/modules/users/team/handlers.ts',
    find: 'await confirmed(sent, (settle) => setMemberActive(ctx, id, true, settle))',
    replace: 'await setMemberActive(ctx, id, true)',
    tests: [{ file: TEAM_RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'team: reset_password is confirmed',
    file: 'src/modules/users/team/handlers.ts',
    find: 'await confirmed(sent, (settle) => resetMemberPassword(ctx, deps, id, settle))',
    replace: 'await resetMemberPassword(ctx, deps, id)',
    tests: [{ file: TEAM_RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'team: a change of an address is confirmed',
    file: 'src/modules/users/team/manage.ts',
    find: 'return confirmAccess(ctx, confirmation, (settle) => store(sent, settle));',
    replace: 'return void confirmation, void confirmAccess, store(sent);',
    tests: [{ file: TEAM_RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'team: the question for the password tells nothing about the users of others',
    file: 'src/modules/users/team/manage.ts',
    find: 'const { email } = await assertManages(ctx, userId);',
    replace: "const { email } = { email: '' };",
    tests: [{ file: TEAM_RECENT, titles: ['who is not in the team is not found'] }],
  },
  {
    name: 'users: the last administrator cannot be removed',
    file: 'src/modules/users/change.ts',
    find: "if (others === 0) throw new ApiError('last_admin');",
    replace: '',
    tests: [{ file: 'test/modules/users/users.test.ts', titles: ['cannot be disabled or lose the role'] }],
  },
  {
    name: 'users: an unchanged address that waits does not undo a change of the address',
    file: 'src/modules/users/change.ts',
    find: 'return storeContact(ctx, userId, keepingAddress(sent));',
    replace: 'return storeContact(ctx, userId, sent);',
    tests: [
      {
        file: 'test/modules/users/recent-login.test.ts',
        titles: ['that waits does not undo a change of the address'],
      },
    ],
  },
  {
    name: 'team: an unchanged address that waits does not undo a change of the address',
    file: 'src/modules/users/team/manage.ts',
    find: 'return store(keepingAddress(sent));',
    replace: 'return store(sent);',
    tests: [
      {
        file: 'test/modules/users/team/recent-login.test.ts',
        titles: ['an unchanged address that waits does not undo a change of the address'],
      },
    ],
  },
  {
    name: 'users: whom another administrator has changed meanwhile changes nobody',
    file: 'src/modules/users/user.ts',
    find: 'where: { id, isActive: true, tokenVersion } })) === 0)',
    replace: 'where: { id } })) === 0)',
    tests: [
      {
        file: 'test/modules/users/changed-meanwhile.test.ts',
        titles: ['changes nothing', 'creates no user'],
      },
    ],
  },
  {
    name: 'users: administrators who remove each other are serialized by a lock',
    file: 'src/modules/users/user.ts',
    find: 'await tx.count(lockAdministrators(tenantId));',
    replace: '',
    tests: [
      {
        file: 'test/modules/users/changed-meanwhile.test.ts',
        titles: ['changes nothing', 'creates no user'],
      },
    ],
  },
  {
    name: 'users: an administrator cannot reset its own password',
    file: 'src/modules/users/reset.ts',
    find: "if (caller.userId === userId) throw new ApiError('own_account');",
    replace: '',
    tests: [
      {
        file: 'test/modules/users/users.test.ts',
        titles: ['administrators cannot reset their own password'],
      },
    ],
  },
  {
    name: 'users: a reset revokes the tokens of the user',
    file: 'src/modules/users/change.ts',
    find: 'tokenVersion: { increment: 1 }',
    replace: 'tokenVersion: { increment: 0 }',
    tests: [{ file: 'test/modules/users/change-users.test.ts', titles: ['revocation of tokens'] }],
  },
  {
    name: 'courier set-up: records of other couriers do not count',
    file: 'src/modules/couriers/set-up/queries.ts',
    find: 'and ${raw(alias)}.tenant_id = c.tenant_id and ${raw(alias)}.courier_id = c.id',
    replace: 'and ${raw(alias)}.tenant_id = c.tenant_id',
    tests: [{ file: 'test/modules/couriers/set-up.test.ts', titles: ['nothing of another courier'] }],
  },
  {
    name: 'courier set-up: a webhook is done only with every URL',
    file: 'src/modules/couriers/set-up/queries.ts',
    find: 'and e.endpoint = x.endpoint and e.last_success_at is not null',
    replace: 'and e.last_success_at is not null',
    tests: [{ file: 'test/modules/couriers/set-up.test.ts', titles: ['a webhook is done'] }],
  },
  {
    name: 'attention: a role learns no count of records that it may not read',
    file: 'src/modules/attention/queries.ts',
    find: '.filter(([, { permission }]) => hasPermission(ctx.caller.role, permission))',
    replace: '',
    tests: [{ file: 'test/modules/attention/attention.test.ts', titles: ['names the kinds whose records'] }],
  },
  {
    name: 'service tokens: only a token of a courier submits pre-alerts like an API key',
    file: 'src/platform/access/authenticate.ts',
    find: "if (credential === 'key' && courierId === null)",
    replace: 'if (Math.random() > 2)',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['Prealert.php accepts'],
      },
    ],
  },
  {
    name: 'service tokens: a token of a courier has the rights of its users at most',
    file: 'src/platform/access/authenticate.ts',
    find: "(caller.kind === 'token' && caller.courierId === null)",
    replace: "caller.kind === 'token'",
    tests: [{ file: 'test/security/token-scopes.test.ts', titles: ['has no right that a user'] }],
  },
  {
    name: 'service tokens: only some settings may be changed',
    file: 'src/modules/couriers/settings/handlers.ts',
    find: 'assertTokenMaySend(ctx.caller, request.body);',
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a token reads no API key, and changes webhook URLs'],
      },
    ],
  },
  {
    name: 'service tokens: the api_token goes to no origin that a token names',
    file: 'src/modules/couriers/settings/update-settings.ts',
    find: 'if (isToken) assertKnownTargets(change);',
    replace: 'void assertKnownTargets;',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a token sends the api_token of the courier to no URL'],
      },
    ],
  },
  {
    name: 'service tokens: a user states the URLs of tokens before api_token is sent to them',
    file: 'src/modules/couriers/settings/update-settings.ts',
    find: 'assertConfirmed(change, ofTokens);',
    replace: 'void assertConfirmed;',
    tests: [{ file: TOKEN_URLS, titles: ['only together with the URLs'] }],
  },
  {
    name: 'service tokens: a token confirms no URL of a token',
    file: 'src/modules/couriers/settings/url-origins.ts',
    find: 'return isToken && !chosen.has(after[name]);',
    replace: 'return isToken && !chosen.has(after[name]) && !isOfToken(name);',
    tests: [{ file: TOKEN_URLS, titles: ['a service token confirms none'] }],
  },
  {
    name: 'service tokens: a URL that only a token has named is not chosen',
    file: 'src/modules/couriers/settings/url-origins.ts',
    find: 'URLS.filter((name) => !isOfToken(name)).map(',
    replace: 'URLS.map(',
    tests: [{ file: TOKEN_URLS, titles: ['a service token confirms none'] }],
  },
  {
    name: 'service tokens: another path of a known host is a new URL',
    file: 'src/modules/couriers/settings/url-origins.ts',
    find: 'row.apiTokenCipher !== null && namesNewUrl(change)',
    replace: 'row.apiTokenCipher !== null && countNewTargets(change) > 0',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['to no URL that a user has not set'],
      },
    ],
  },
  {
    name: 'service tokens: another path of a chosen host is not chosen',
    file: 'src/modules/couriers/settings/url-origins.ts',
    find: 'return isToken && !chosen.has(after[name]);',
    replace: 'return isToken && ![...chosen].map(originOf).includes(originOf(after[name]));',
    tests: [{ file: TOKEN_URLS, titles: ['each URL is one that a user has chosen'] }],
  },
  {
    name: 'service tokens: an api_token that cannot be decrypted counts as set',
    file: 'src/modules/couriers/settings/url-origins.ts',
    find: 'row.apiTokenCipher !== null && namesNewUrl(change)',
    replace: 'row && change.before.api_token !== null && namesNewUrl(change)',
    tests: [{ file: TOKEN_URLS, titles: ['cannot be decrypted'] }],
  },
  {
    name: 'service tokens: no token reads the API key',
    file: 'src/modules/couriers/settings/handlers.ts',
    find: "caller.kind === 'token' ? { ...stored, apiKey: null, api_token: null } : stored",
    replace: 'stored',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a token reads no API key, and changes webhook URLs'],
      },
    ],
  },
  {
    name: 'service tokens: only administrators manage those of the staff',
    file: 'src/modules/service-tokens/manage.ts',
    find: 'if (owner === null && !hasPermission(role, permission))',
    replace: 'if (Math.random() > 2)',
    tests: [
      {
        file: 'test/modules/service-tokens/manage-service-tokens.test.ts',
        titles: ['managers create tokens of couriers'],
      },
    ],
  },
  {
    name: 'service tokens: creations are counted under a lock',
    file: 'src/modules/service-tokens/manage.ts',
    find: 'await tx.query(lockServiceTokens(ctx.tenantId, owner));',
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/token-limits.test.ts',
        titles: ['a creation counts the tokens', 'a creation and a change see the name'],
      },
    ],
  },
  {
    name: 'service tokens: names are changed under a lock',
    file: 'src/modules/service-tokens/manage.ts',
    find: 'await tx.query(lockServiceTokens(ctx.tenantId, courierId));',
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/token-limits.test.ts',
        titles: ['a creation and a change see the name'],
      },
    ],
  },
  {
    name: 'service tokens: the lock is of one owner',
    file: 'src/platform/db/locks.ts',
    find: "`service tokens ${tenantId} ${courierId ?? 'staff'}`",
    replace: "`service tokens ${tenantId} ${courierId === '' ? '' : 'all'}`",
    tests: [
      {
        file: 'test/modules/service-tokens/token-limits.test.ts',
        titles: ['the tokens of an owner wait for no change'],
      },
    ],
  },
  {
    name: 'service tokens: a wider one needs the password',
    file: 'src/modules/service-tokens/manage.ts',
    find: 'if (!settle && widens(stored, row))',
    replace: 'if (Math.random() > 2)',
    tests: [
      {
        file: 'test/modules/service-tokens/token-confirmation.test.ts',
        titles: ['needs the password', 'an expired token is not extended'],
      },
    ],
  },
  {
    name: 'service tokens: more addresses are wider',
    file: 'src/platform/values/network-address.ts',
    find: 'innerBits >= bits && address.match(net, bits)',
    replace: 'address.match(net, bits)',
    tests: [
      {
        file: 'test/modules/service-tokens/token-confirmation.test.ts',
        titles: ['needs the password'],
      },
    ],
  },
  {
    name: 'service tokens: the password is still the one that was confirmed',
    file: 'src/modules/auth/credentials/own-password.ts',
    find: 'assertUpdated((await tx.query(lockOwnUser(ctx, account))).length)',
    replace: 'void (await tx.query(lockOwnUser(ctx, account)))',
    tests: [
      {
        file: 'test/modules/service-tokens/token-confirmation.test.ts',
        titles: ['a password that was changed while'],
      },
    ],
  },
  {
    name: 'service tokens: changes have a quota',
    file: 'src/modules/service-tokens/manage.ts',
    find: "auditLater(tx, 'service_token.updated', id, { before: describe(stored), after: describe(row) });\n      await takeQuota(tx, CHANGES_PER_DAY, ctx.caller, 1);",
    replace:
      "auditLater(tx, 'service_token.updated', id, { before: describe(stored), after: describe(row) });",
    tests: [
      {
        file: 'test/modules/service-tokens/token-limits.test.ts',
        titles: ['a courier changes and rotates tokens'],
      },
    ],
  },
  {
    name: 'service tokens: a shared transaction has one address',
    file: 'src/platform/context/shared-write.ts',
    find: "caller.kind === 'token' ? ` ${caller.address}` : ''",
    replace: "''",
    tests: [
      {
        file: 'test/modules/service-tokens/token-guards.test.ts',
        titles: ['pre-alerts of one token share no transaction'],
      },
    ],
  },
  {
    name: 'service tokens: an invented one takes no turn of the courier that it claims',
    file: 'src/platform/http/request-hooks.ts',
    find: 'if (isUncheckedToken(request.context.caller, db)) await request.context.assertAdmitted();',
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/token-guards.test.ts',
        titles: ['invented tokens take no turn of the reports'],
      },
    ],
  },
  {
    name: 'service tokens: a scope that reads queues nothing',
    file: 'src/modules/packages/handlers.ts',
    find: "if (ctx.caller.kind === 'token') throw",
    replace: 'if (Math.random() > 2) throw',
    tests: [
      {
        file: 'test/modules/service-tokens/token-guards.test.ts',
        titles: ['packages:read does not queue packages'],
      },
    ],
  },
  {
    name: 'service tokens: rehash covers the previous secret',
    file: 'src/modules/tenants/secret-columns.ts',
    find: "hash: 'previous_hash',",
    replace: "hash: 'token_hash',",
    tests: [
      { file: 'test/modules/service-tokens/stored-tokens.test.ts', titles: ['both secrets of a token'] },
    ],
  },
];

const TRACKED = 'test/modules/tracking/tracking-access.test.ts';
const SEARCHED = 'test/modules/tracking/tracking-search.test.ts';
const PAGES_SHOWN = 'test/modules/tracking/tracking-page.test.ts';
const PAGES_LIMITED = 'test/modules/tracking/tracking-limits.test.ts';
const PAGES_SECRET = 'test/modules/tracking/tracking-secrecy.test.ts';

/** Guards of the pages that strangers open. */
export const TRACKING: readonly SourceMutant[] = [
  {
    name: 'tracking: a link is bound to the customer of its package',
    file: 'src/modules/tracking/link-rule.ts',
    find: 'and ${packages}.user_code = ${links}.user_code and not exists',
    replace: 'and not exists',
    tests: [{ file: TRACKED, titles: ['when the package gets another customer'] }],
  },
  {
    name: 'tracking: a link ends when somebody else has the code of its customer',
    file: 'src/modules/tracking/link-rule.ts',
    find: 'and other.id <> ${links}.customer_id)',
    replace: 'and other.id <> ${links}.customer_id and false)',
    tests: [{ file: TRACKED, titles: ['when the code of its customer is that of somebody else'] }],
  },
  {
    name: 'tracking: a link is bound to the courier of its package',
    file: 'src/modules/tracking/link-rule.ts',
    find: ' and ${packages}.courier_id = ${links}.courier_id\n',
    replace: '\n',
    tests: [{ file: TRACKED, titles: ['when the package moves to another courier'] }],
  },
  {
    name: 'tracking: an inactive courier has no pages',
    file: 'src/modules/tracking/pages/queries.ts',
    find: 'c.id = l.courier_id and c.is_active',
    replace: 'c.id = l.courier_id',
    tests: [{ file: TRACKED, titles: ['or it is inactive'] }],
  },
  {
    name: 'tracking: pages that are switched off are not shown',
    file: 'src/modules/tracking/pages/queries.ts',
    find: 's.courier_id = c.id and s.is_enabled\n',
    replace: 's.courier_id = c.id\n',
    tests: [{ file: TRACKED, titles: ['while its pages are off'] }],
  },
  {
    name: 'tracking: the search is switched on by itself',
    file: 'src/modules/tracking/pages/queries.ts',
    find: 'c.is_active and s.is_search_enabled order by',
    replace: 'c.is_active order by',
    tests: [{ file: SEARCHED, titles: ['unless the courier has switched on both'] }],
  },
  {
    name: 'tracking: what is owed is shown only if the courier allows it',
    file: 'src/modules/tracking/pages/queries.ts',
    find: 'case when s.shows_amount_due then l.amount_due end',
    replace: 'l.amount_due',
    tests: [{ file: PAGES_SHOWN, titles: ['only if its settings allow it'] }],
  },
  {
    name: 'tracking: a page ends after the parcel has arrived',
    file: 'src/modules/tracking/pages/queries.ts',
    find: "${isOfLink('p', 'l')} and ${isShown('p')}\n    join customers",
    replace: "${isOfLink('p', 'l')}\n    join customers",
    tests: [{ file: PAGES_SHOWN, titles: ['a page ends 90 days after'] }],
  },
  {
    name: 'tracking: an address has a limit of pages',
    file: 'src/modules/tracking/pages/limits.ts',
    find: 'await pages.consume(who);',
    replace: '',
    tests: [{ file: PAGES_LIMITED, titles: ['an address is refused after 240 pages'] }],
  },
  {
    name: 'tracking: an address has a limit of searches',
    file: 'src/modules/tracking/pages/show.ts',
    find: 'await limits.countSearch(who);',
    replace: '',
    tests: [{ file: SEARCHED, titles: ['an address has 30 searches per hour'] }],
  },
  {
    name: 'tracking: a right name after five wrong ones is answered as a wrong one',
    file: 'src/modules/tracking/pages/show.ts',
    find: 'if (!parcel || !isRight || !isAllowed)',
    replace: 'if (!parcel || !isRight)',
    tests: [{ file: SEARCHED, titles: ['after five wrong names in an hour'] }],
  },
  {
    name: 'tracking: a right name gives its attempt back',
    file: 'src/modules/tracking/pages/show.ts',
    find: 'await giveBack();',
    replace: '',
    tests: [{ file: SEARCHED, titles: ['a right name may be repeated'] }],
  },
  {
    name: 'tracking: a search finds parcels of its courier only',
    file: 'src/modules/tracking/pages/queries.ts',
    find: 'c.id = p.courier_id and upper(c.code) = upper(${code})',
    replace: 'c.id = p.courier_id and ${code}::text is not null',
    tests: [{ file: SEARCHED, titles: ['answers the same to a wrong name'] }],
  },
  {
    name: 'tracking: no key is in the log',
    file: 'src/platform/logging/request-log.ts',
    find: "const path = withoutKey(url.split(/\\?|%3f/i)[0] ?? '');",
    replace: "const path = url.split(/\\?|%3f/i)[0] ?? '';",
    tests: [{ file: PAGES_SECRET, titles: ['a key is in no log'] }],
  },
  {
    name: 'tracking: requests for one package wait for each other',
    file: 'src/modules/tracking/queries.ts',
    find: ' for no key update of p`',
    replace: '`',
    tests: [{ file: TRACKED, titles: ['of 100 requests at once'] }],
  },
];
