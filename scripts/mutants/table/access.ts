import type { SourceMutant } from '../mutant.js';

/** Guards of permissions, of rows that belong to others, of secrets at rest, and of the audit log. */
export const ACCESS: readonly SourceMutant[] = [
  {
    name: 'permissions: the role must hold the operation’s',
    file: 'src/platform/access/authenticate.ts',
    find: "if (!hasPermission(caller.role, operation.permission))\n        throw new ApiError('permission_denied', { args: { permission: operation.permission } });",
    replace: '',
    tests: [
      { file: 'test/modules/users.test.ts', titles: ['nobody but administrators lists or manages users'] },
    ],
  },
  {
    name: 'permissions: the audit log is for administrators',
    file: 'src/platform/access/permissions.ts',
    find: "'audit:view': ADMINS",
    replace: "'audit:view': MANAGERS",
    tests: [{ file: 'test/modules/audit-log.test.ts', titles: ['administrators alone read it'] }],
  },
  {
    name: 'filters alone: a courier sees its own rows',
    file: 'src/platform/db/filters.ts',
    find: ' and ${table}.courier_id = ${caller.courierId}::uuid`;',
    replace: '`;',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ["the application's filters alone > iex > sees exactly its packages"],
      },
    ],
  },
  {
    name: 'filters alone: a caller sees its tenant’s rows',
    file: 'src/platform/db/filters.ts',
    find: '? sql`${table}.tenant_id = ${caller.tenantId}::uuid`\n',
    replace: '? sql`true`\n',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: [
          "filters alone > another tenant's packages are found by no filter",
          'filters alone > admin > sees exactly its packages',
        ],
      },
    ],
  },
  {
    name: 'filters alone: shared registers are the tenant’s',
    file: 'src/platform/db/filters.ts',
    find: 'return applicationFilters ? sql`${raw(alias)}.tenant_id',
    replace: 'return !caller ? sql`${raw(alias)}.tenant_id',
    tests: [
      {
        file: 'test/security/isolation.test.ts',
        titles: ['filters alone > listCarriers:', 'filters alone > listUsers of a courier'],
      },
    ],
  },
  {
    name: 'filters alone: a courier sees no draft of a bill in its list',
    file: 'src/modules/bills/list/queries.ts',
    find: "if (!isStaff && db.applicationFilters) conditions.push(sql`b.status <> 'draft'`);",
    replace: '',
    tests: [
      {
        file: 'test/modules/bills/bills.test.ts',
        titles: ['filters alone > a courier sees its own without drafts'],
      },
    ],
  },
  {
    name: 'couriers: staff alone choose the courier of a pre-alert list',
    file: 'src/modules/prealerts/queries.ts',
    find: 'if (courierId && caller.courierId === null)',
    replace: 'if (courierId)',
    tests: [
      {
        file: 'test/modules/prealerts/prealerts.test.ts',
        titles: ['a courier sees its own whatever courier_id says'],
      },
    ],
  },
  {
    name: 'keys: a key announces for customers of its own courier',
    file: 'src/modules/prealerts/queries.ts',
    find: 'from couriers c join customers cu on cu.tenant_id = c.tenant_id and cu.courier_id = c.id',
    replace: 'from couriers c join customers cu on cu.tenant_id = c.tenant_id',
    tests: [
      { file: 'test/security/isolation.test.ts', titles: ['submitPrealert'] },
      {
        file: 'test/modules/prealerts/prealerts.test.ts',
        titles: ['a sibling’s customer, an inactive one and an unknown one'],
      },
    ],
  },
  {
    name: 'keys: a key is looked up as the hash of its own purpose',
    file: 'src/platform/access/secrets.ts',
    find: '.update(`${purpose}\\0${secret}`)',
    replace: '.update(secret)',
    tests: [{ file: 'test/security/secrets.test.ts' }],
  },
  {
    name: 'keys: many wrong keys from one address are told 429',
    file: 'src/platform/access/rate-limit.ts',
    find: "await consume(limiter, `${tenantId} ${networkOf(clientAddress)}`, 'too_many_attempts');",
    replace: '',
    tests: [
      {
        file: 'test/modules/prealerts/prealerts.test.ts',
        titles: ['an address that keeps sending wrong keys'],
      },
    ],
  },
  {
    name: 'secrets: a ciphertext opens in its own place',
    file: 'src/platform/access/secrets.ts',
    find: 'return Buffer.from(`${tenantId}/${rowId}/${field}`);',
    replace: "return Buffer.from([tenantId, rowId, field].fill('').join());",
    tests: [
      {
        file: 'test/security/secrets.test.ts',
        titles: ['a ciphertext opens in its own tenant, row and field, and nowhere else'],
      },
      {
        file: 'test/modules/couriers/courier-settings.test.ts',
        titles: ['tokens rest encrypted, under the newest key, and bound to their row'],
      },
    ],
  },
  {
    name: 'secrets: an altered ciphertext does not open',
    file: 'src/platform/access/secrets.ts',
    find: " + decipher.final('utf8')",
    replace: '',
    tests: [{ file: 'test/security/secrets.test.ts' }],
  },
  {
    name: 'masking: the number of an unknown customer is hidden from couriers',
    file: 'src/modules/tracking-numbers/masking.ts',
    find: 'courierId !== null && user_code === null ? maskTrackingNumber(tracking_number) : tracking_number',
    replace: 'tracking_number',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ['is shown four characters of the number of an unknown customer'],
      },
    ],
  },
  {
    name: 'masking: a number of four characters is hidden whole',
    file: 'src/modules/tracking-numbers/masking.ts',
    find: 'characters.length > SHOWN_CHARACTERS ? characters.length - SHOWN_CHARACTERS : characters.length;',
    replace: 'Math.max(0, characters.length - SHOWN_CHARACTERS);',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ['sees and finds nothing of a number that has no more than four'],
      },
    ],
  },
  {
    name: 'masking: an update does not confirm a guess of a hidden number',
    file: 'src/modules/packages/update/fields.ts',
    find: 'const shown = { ...before, tracking_number: shownTrackingNumber(caller, before) };',
    replace: 'const shown = before;',
    tests: [
      {
        file: 'test/modules/packages/update-package.test.ts',
        titles: ['sent back masked as it was shown'],
      },
    ],
  },
  {
    name: 'exports: a formula is neutralised',
    file: 'src/platform/files/csv.ts',
    find: "&& FORMULA.test(text) ? `'${text}` : text",
    replace: '? text : text',
    tests: [
      {
        file: 'test/modules/packages/package-export.test.ts',
        titles: ['formulas > begin no cell of any column'],
      },
    ],
  },
  {
    name: 'exports: a formula behind invisible characters is neutralised',
    file: 'src/platform/files/csv.ts',
    find: '[${SKIPPED}]*[${SIGNS}]',
    replace: '[${SIGNS}]',
    tests: [{ file: 'test/modules/packages/package-export.test.ts', titles: ['formulas'] }],
  },
  {
    name: 'audit: a link’s hash is compared with its entry',
    file: 'src/modules/audit-log/verify-links.ts',
    find: 'if (secrets.chainHash(previous, digest) === link.hash) return undefined;',
    replace: 'if (secrets.chainHash(previous, digest) !== undefined) return undefined;',
    tests: [{ file: 'test/modules/audit-log.test.ts', titles: ['verifying'] }],
  },
  {
    name: 'audit: a gap in the sequence is told',
    file: 'src/modules/audit-log/verify-links.ts',
    find: "if (Number(link.sequence) !== sequence) return { sequence, entryId: null, problem: 'missing' };",
    replace: '',
    tests: [{ file: 'test/modules/audit-log.test.ts', titles: ['verifying'] }],
  },
  {
    name: 'audit: a head that the caller kept shows a chain that was cut',
    file: 'src/modules/audit-log/verify-chain.ts',
    find: 'if (link.hash === known.hash) return undefined;',
    replace: 'if (link.hash) return undefined;',
    tests: [{ file: 'test/modules/audit-log.test.ts', titles: ['a clean cut of the end is seen'] }],
  },
  {
    name: 'users: the last administrator stays',
    file: 'src/modules/users/change.ts',
    find: "if (!(await hasOtherAdmin(ctx, user.id))) throw new ApiError('last_admin');",
    replace: '',
    tests: [{ file: 'test/modules/users.test.ts', titles: ['cannot be disabled, nor lose its role'] }],
  },
  {
    name: 'users: administrators who remove each other take turns',
    file: 'src/modules/users/change.ts',
    find: 'await tx.execute(lockAdministrators(change.caller.tenantId));',
    replace: '',
    tests: [{ file: 'test/modules/users.test.ts', titles: ['of two that remove each other'] }],
  },
  {
    name: 'users: an administrator does not reset its own password',
    file: 'src/modules/users/reset.ts',
    find: "if (caller.userId === userId) throw new ApiError('own_account');",
    replace: '',
    tests: [
      { file: 'test/modules/users.test.ts', titles: ['an administrator resets neither its own password'] },
    ],
  },
  {
    name: 'users: a reset ends the user’s tokens',
    file: 'src/modules/users/queries.ts',
    find: 'const endTokens = sql`token_version = u.token_version + 1`;',
    replace: 'const endTokens = sql`token_version = u.token_version`;',
    tests: [{ file: 'test/modules/users.test.ts', titles: ['what ends tokens'] }],
  },
];
