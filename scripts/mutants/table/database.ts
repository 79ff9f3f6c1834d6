import type { DatabaseMutant } from '../mutant.js';

const OWN = `tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier()))`;

/** Guards that PostgreSQL holds: who may enter, row-level security, and what is never stored. */
export const DATABASE: readonly DatabaseMutant[] = [
  {
    name: 'enter: a token that was ended is refused',
    function: 'enter_as_user',
    find: 'version <> p_token_version',
    replace: 'false',
    // its caller has no session, which would end with the token and refuse it too
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['a caller who may not enter reads and writes nothing'],
      },
    ],
  },
  {
    name: 'enter: a disabled account is refused',
    function: 'enter_as_user',
    find: 'when not enabled then',
    replace: 'when false then',
    tests: [{ file: 'test/modules/packages/packages.test.ts', titles: ['nobody with a disabled account'] }],
  },
  {
    name: 'enter: a token that has expired is refused',
    function: 'enter_as_user',
    find: 'to_timestamp(p_expires_at) <= now()',
    replace: 'false',
    tests: [
      { file: 'test/modules/auth/login.test.ts', titles: ['a token lives for 8 hours'] },
      { file: 'test/security/isolation.test.ts', titles: ['both layers > listCarriers:'] },
    ],
  },
  {
    name: 'enter: a user with a one-time password may only change it',
    function: 'enter_as_user',
    find: 'must_change and not p_changes_password',
    replace: 'false',
    tests: [
      {
        file: 'test/modules/users.test.ts',
        titles: ['until it is changed, every operation with a token is refused'],
      },
    ],
  },
  {
    name: 'enter: a courier’s scope is its own account',
    function: 'enter_as_user',
    find: "perform set_config('app.courier_id', enter_as_user.courier_id::text, true);",
    replace: 'null;',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ['row-level security alone > iex > sees exactly its packages'],
      },
    ],
  },
  {
    name: 'enter: who is refused has an empty scope',
    function: 'enter_as_user',
    find: "perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);",
    replace: 'null;',
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['a caller who may not enter reads and writes nothing'],
      },
    ],
  },
  {
    name: 'enter: the scope ends with its transaction',
    function: 'enter_as_user',
    find: "set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true)",
    replace: "set_config('app.tenant_id', p_tenant::text, false), set_config('app.courier_id', 'all', false)",
    tests: [{ file: 'test/database/catalogue.test.ts', titles: ['scopes on a shared pool'] }],
  },
  {
    name: 'enter: a key of a disabled courier is refused',
    function: 'enter_with_key',
    find: ' and c.is_active',
    replace: '',
    tests: [
      {
        file: 'test/modules/prealerts/prealerts.test.ts',
        titles: ['an unknown key, another instance’s and a deactivated courier’s'],
      },
    ],
  },
  {
    name: 'enter: a host of nobody’s has no tenant',
    function: 'tenant_of_host',
    find: '(select id from tenants where (select count(*) from tenants) = 1)',
    replace: '(select id from tenants order by id limit 1)',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['an installation with one tenant answers on any host'],
      },
    ],
  },
  {
    name: 'masking: the hidden part of a number is not searched',
    function: 'search_packages',
    find: 'app_sees_all_couriers() or p.user_code is not null',
    replace: 'true or p.user_code is not null',
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ['finds such a number by the shown part alone'],
      },
    ],
  },
  {
    name: 'row security alone: packages are the tenant’s',
    statement: `alter policy courier_scope on packages using ((select app_sees_all_couriers()) or courier_id = (select app_courier()))`,
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ["row-level security alone > another tenant's packages"],
      },
    ],
  },
  {
    name: 'row security alone: packages are the courier’s',
    statement: `alter policy courier_scope on packages using (tenant_id = app_tenant())`,
    tests: [
      {
        file: 'test/modules/packages/packages.test.ts',
        titles: ['row-level security alone > iex > sees exactly its packages'],
      },
    ],
  },
  {
    name: 'row security alone: it is switched on for customers',
    statement: 'alter table customers disable row level security',
    tests: [
      {
        file: 'test/security/row-security.test.ts',
        titles: ['in a tenant’s scope every table shows the rows of that tenant only'],
      },
    ],
  },
  {
    name: 'row security alone: it binds the owner of the table',
    statement: 'alter table users no force row level security',
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['each has row-level security, forced on its owner too'],
      },
    ],
  },
  {
    name: 'row security alone: nobody writes into another tenant',
    statement: 'alter policy courier_scope on prealerts with check (true)',
    tests: [{ file: 'test/database/catalogue.test.ts', titles: ['writing into another tenant is refused'] }],
  },
  {
    name: 'row security alone: a courier sees no draft of a bill',
    statement: `alter policy bill_scope on bills using (${OWN})`,
    tests: [
      {
        file: 'test/modules/bills/bills.test.ts',
        titles: ['row-level security alone > a courier sees its own without drafts'],
      },
    ],
  },
  {
    name: 'row security alone: a courier sees manifests that carry its packages',
    statement: 'alter policy courier_aboard on manifests using (tenant_id = app_tenant())',
    tests: [
      {
        file: 'test/security/row-security.test.ts',
        titles: ['in a courier’s scope the only manifests are those that carry its packages'],
      },
    ],
  },
  {
    name: 'row security alone: kept answers are the courier’s',
    statement: 'alter policy courier_scope on idempotency_keys using (tenant_id = app_tenant())',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['under row-level security a courier sees no answers but its own'],
      },
    ],
  },
  {
    name: 'audit: an entry is never changed',
    statement: 'drop trigger append_only on audit_entries',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['audit_entries'] }],
  },
  {
    name: 'audit: a link of the chain is never changed',
    statement: 'drop trigger append_only on audit_links',
    tests: [{ file: 'test/modules/audit-log.test.ts', titles: ['nobody changes or deletes a link'] }],
  },
  {
    name: 'audit: the service may not write over an entry',
    statement: 'grant update on audit_entries to crossdock_app',
    tests: [{ file: 'test/database/catalogue.test.ts', titles: ['the service may not change the schema'] }],
  },
  {
    name: 'audit: every entry waits for its seal',
    statement: 'drop trigger await_seal on audit_entries',
    tests: [
      {
        file: 'test/modules/audit-log.test.ts',
        titles: ['a change by a user is there', 'what commits late is sealed too'],
      },
    ],
  },
  {
    name: 'bills: a published bill is kept as it is',
    statement: 'drop trigger keep_published on bills',
    tests: [{ file: 'test/modules/bills/courier-bills.test.ts', titles: ['a published bill'] }],
  },
  {
    name: 'bills: a package is on one bill',
    statement: 'drop index bill_lines_tenant_id_package_id_key',
    tests: [
      { file: 'test/database/invariants.test.ts', titles: ['a package that is on one bill is refused'] },
    ],
  },
  {
    name: 'bills: the database refuses a payment beyond the total',
    statement: 'alter table bills drop constraint never_paid_beyond_the_total',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['never_paid_beyond_the_total'] }],
  },
  {
    name: 'rates: the database refuses tiers that overlap',
    statement: 'alter table rate_tiers drop constraint bands_do_not_overlap',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['bands_do_not_overlap'] }],
  },
  {
    name: 'pre-alerts: a number is announced once',
    statement: 'drop index prealerts_tenant_id_courier_id_tracking_number_key',
    tests: [
      {
        file: 'test/modules/prealerts/prealerts-races.test.ts',
        titles: ['200 callers submit one number at once'],
      },
    ],
  },
  {
    name: 'packages: a parcel is received once',
    statement: 'drop index packages_tenant_id_tracking_key_key',
    tests: [
      { file: 'test/database/invariants.test.ts', titles: ['a second package with the tracking number'] },
    ],
  },
];
