import type { DatabaseMutant } from '../mutant.js';

const OWN = `tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier()))`;

const DEFINERS = 'test/database/schema/definer-functions.test.ts';

/** Guards in PostgreSQL: access of callers, row-level security, and constraints on stored data. */
export const DATABASE: readonly DatabaseMutant[] = [
  {
    name: 'access: a revoked token is rejected',
    function: 'enter_with_token',
    find: 'version <> p_token_version',
    replace: 'false',
    // The test uses a caller without a session, which would otherwise end with the token and be rejected too.
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['a rejected caller reads and writes nothing'],
      },
    ],
  },
  {
    name: 'access: the role and the courier of a token are those of the user',
    function: 'enter_with_token',
    find: "when not coalesce(has_same_rights, false) then 'token_invalid'",
    replace: '',
    tests: [
      {
        file: 'test/security/token-rights.test.ts',
        titles: ['a token with another role, courier or tenant than the user is refused by'],
      },
    ],
  },
  {
    name: 'access: a disabled account is rejected',
    function: 'enter_with_token',
    find: 'when not enabled then',
    replace: 'when false then',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['denies anonymous callers and disabled accounts'],
      },
    ],
  },
  {
    name: 'access: an expired token is rejected',
    function: 'enter_with_token',
    find: 'to_timestamp(p_expires_at) <= now()',
    replace: 'false',
    tests: [
      { file: 'test/modules/auth/login.test.ts', titles: ['issues tokens that expire after 8 hours'] },
      { file: 'test/security/isolation.test.ts', titles: ['both layers > listCarriers'] },
    ],
  },
  {
    name: 'access: a user with a one-time password can only change it',
    function: 'enter_with_token',
    find: 'must_change and not p_changes_password',
    replace: 'false',
    tests: [
      {
        file: 'test/modules/users/users.test.ts',
        titles: [
          'rejects every other operation before it validates the request until the password is changed',
        ],
      },
    ],
  },
  {
    name: 'access: the scope of a courier is its own account',
    function: 'enter_with_token',
    find: "perform set_config('app.courier_id', enter_with_token.courier_id::text, true);",
    replace: 'null;',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['row-level security alone > iex > sees exactly its packages'],
      },
    ],
  },
  {
    name: 'access: a rejected caller has an empty scope',
    function: 'enter_with_token',
    find: "perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);",
    replace: 'null;',
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['a rejected caller reads and writes nothing'],
      },
    ],
  },
  {
    name: 'access: the scope ends with the transaction',
    function: 'enter_with_token',
    find: "set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true)",
    replace: "set_config('app.tenant_id', p_tenant::text, false), set_config('app.courier_id', 'all', false)",
    tests: [
      { file: 'test/database/catalogue.test.ts', titles: ['tenant scopes on a shared connection pool'] },
    ],
  },
  {
    name: 'access: the API key of a disabled courier is rejected',
    function: 'enter_with_key',
    find: ' and c.is_active',
    replace: '',
    tests: [
      {
        file: 'test/modules/prealerts/records/submit-prealert.test.ts',
        titles: ['rejects unknown keys, foreign keys and keys of deactivated couriers'],
      },
    ],
  },
  {
    name: 'access: an unknown host has no tenant',
    function: 'tenant_of_host',
    find: '(select id from tenants where sandbox_of_tenant_id is null\n       and (select count(*) from tenants where sandbox_of_tenant_id is null) = 1)',
    replace: '(select id from tenants order by id limit 1)',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['one tenant is served on any host'],
      },
    ],
  },
  {
    name: 'masking: the masked part of a number is not searchable',
    function: 'packages_containing',
    find: 'sees_all or p.user_code is not null',
    replace: 'true or p.user_code is not null',
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['finds masked numbers by their visible part only'],
      },
    ],
  },
  {
    name: 'masking: the masked part of a number is not found by a text',
    function: 'packages_of_text',
    find: 'ilike p_number and (sees_all or',
    replace: 'ilike p_number and (true or',
    tests: [
      {
        file: 'test/modules/packages/list/office-filters.test.ts',
        titles: ['finds a masked number for its courier by the visible end only'],
      },
    ],
  },
  {
    name: 'counters: transactions of a tenant count in different slots',
    function: 'tally_slot',
    find: 'not pg_try_advisory_xact_lock(tallies, slot)',
    replace: 'false',
    tests: [{ file: 'test/database/tallies.test.ts' }],
  },
  {
    name: 'search: a text without a trigram reads the rows of one courier',
    function: 'customers_containing',
    find: 'c.tenant_id = tenant and c.courier_id = courier',
    replace: "c.tenant_id = tenant and c.courier_id || '' = courier || ''",
    tests: [
      {
        file: 'test/security/bounds/search-cost.test.ts',
        titles: ['reads about as many blocks as the courier has'],
      },
    ],
  },
  {
    name: 'row-level security alone: packages belong to the tenant',
    statement: `alter policy courier_scope on packages using ((select app_sees_all_couriers()) or courier_id = (select app_courier()))`,
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ["row-level security alone > another tenant's packages"],
      },
    ],
  },
  {
    name: 'row-level security alone: packages belong to the courier',
    statement: `alter policy courier_scope on packages using (tenant_id = app_tenant())`,
    tests: [
      {
        file: 'test/modules/packages/list/visible-packages.test.ts',
        titles: ['row-level security alone > iex > sees exactly its packages'],
      },
    ],
  },
  {
    name: 'row-level security alone: it is enabled on customers',
    statement: 'alter table customers disable row level security',
    tests: [
      {
        file: 'test/security/row-security.test.ts',
        titles: ["in a tenant's scope every table shows only rows of that tenant"],
      },
    ],
  },
  {
    name: 'row-level security alone: it applies to the owner of a table',
    statement: 'alter table users no force row level security',
    tests: [
      {
        file: 'test/database/catalogue.test.ts',
        titles: ['each table has a policy and row-level security'],
      },
    ],
  },
  {
    name: 'row-level security alone: writes to another tenant are rejected',
    statement: 'alter policy courier_scope on prealerts with check (true)',
    tests: [
      { file: 'test/database/catalogue.test.ts', titles: ['the policies reject a write to another tenant'] },
    ],
  },
  {
    name: 'row-level security alone: a courier sees no draft bills',
    statement: `alter policy bill_scope on bills using (${OWN})`,
    tests: [
      {
        file: 'test/modules/bills/list-bills.test.ts',
        titles: ['row-level security alone > couriers see their own bills without drafts'],
      },
    ],
  },
  {
    name: 'row-level security alone: a courier sees only manifests with its packages',
    statement: 'alter policy courier_aboard on manifests using (tenant_id = app_tenant())',
    tests: [
      {
        file: 'test/security/row-security.test.ts',
        titles: ["in a courier's scope only manifests with its packages are visible"],
      },
    ],
  },
  {
    name: 'row-level security alone: stored responses belong to the courier',
    statement: 'alter policy courier_scope on idempotency_keys using (tenant_id = app_tenant())',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['row-level security shows a courier only its own stored responses'],
      },
    ],
  },
  {
    name: 'audit: entries are append-only',
    statement: 'drop trigger append_only on audit_entries',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['audit_entries'] }],
  },
  {
    name: 'audit: links of the chain are append-only',
    statement: 'drop trigger append_only on audit_links',
    tests: [
      { file: 'test/modules/audit/audit-chain.test.ts', titles: ['no link can be changed or deleted'] },
    ],
  },
  {
    name: 'audit: the service has no permission to update entries',
    statement: 'grant update on audit_entries to crossdock_app',
    tests: [{ file: 'test/database/catalogue.test.ts', titles: ['the service cannot change the schema'] }],
  },
  {
    name: 'audit: every entry is queued to be appended to the chain',
    statement: 'drop trigger await_seal on audit_entries',
    tests: [
      { file: 'test/modules/audit/audit-log.test.ts', titles: ["contains a user's change"] },
      { file: 'test/modules/audit/audit-chain.test.ts', titles: ['includes an entry that commits late'] },
    ],
  },
  {
    name: 'bills: a published bill is immutable',
    statement: 'drop trigger keep_published on bills',
    tests: [
      {
        file: 'test/modules/bills/publish-bill.test.ts',
        titles: ['published bill > rejects changes of the bill'],
      },
    ],
  },
  {
    name: 'bills: a package is on one bill at most',
    statement: 'drop index bill_lines_tenant_id_package_id_key',
    tests: [
      { file: 'test/database/invariants.test.ts', titles: ['a package that is on one bill is rejected'] },
    ],
  },
  {
    name: 'bills: the database rejects payments above the total',
    statement: 'alter table bills drop constraint never_paid_beyond_the_total',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['never_paid_beyond_the_total'] }],
  },
  {
    name: 'rates: the database rejects overlapping tiers',
    statement: 'alter table rate_tiers drop constraint bands_do_not_overlap',
    tests: [{ file: 'test/database/invariants.test.ts', titles: ['bands_do_not_overlap'] }],
  },
  {
    name: 'pre-alerts: a tracking number is announced once',
    statement: 'drop index prealerts_tenant_id_courier_id_tracking_number_key',
    tests: [
      {
        file: 'test/modules/prealerts/prealerts-races.test.ts',
        titles: ['the database alone refuses a second pre-alert'],
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
  {
    name: 'service tokens: a text with the id of another token is refused',
    function: 'enter_with_service_token',
    find: 'and p_hash in (t.token_hash, t.previous_hash)',
    replace: 'and p_hash is not null',
    tests: [
      {
        file: 'test/modules/service-tokens/token-guards.test.ts',
        titles: ['a token is known, and shares'],
      },
    ],
  },
  {
    name: 'service tokens: a revoked one is refused',
    function: 'enter_with_service_token',
    find: "when token.revoked_at is not null then 'service_token_revoked'",
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a revoked token is refused with all'],
      },
    ],
  },
  {
    name: 'service tokens: an expired one is refused',
    function: 'enter_with_service_token',
    find: "when token.expires_at <= now() then 'service_token_expired'",
    replace: '',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['an expired token is refused until'],
      },
    ],
  },
  {
    name: 'service tokens: an old secret ends with the overlap',
    function: 'enter_with_service_token',
    find: 'token.token_hash <> p_hash and token.previous_ends_at <= now()',
    replace: 'false',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['after a rotation both secrets work until'],
      },
    ],
  },
  {
    name: 'service tokens: one of a disabled courier is refused',
    function: 'enter_with_service_token',
    find: 'when not courier_is_active then',
    replace: 'when false then',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a token of a disabled courier'],
      },
    ],
  },
  {
    name: 'service tokens: one is refused from an address that it does not list',
    function: 'enter_with_service_token',
    find: 'when cardinality(token.addresses) > 0',
    replace: 'when false',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a token with addresses is refused'],
      },
    ],
  },
  {
    name: 'service tokens: one without a scope of the operation is refused',
    function: 'enter_with_service_token',
    find: 'when not token.scopes && p_scopes then',
    replace: 'when false then',
    tests: [
      {
        file: 'test/modules/service-tokens/use-service-tokens.test.ts',
        titles: ['a change of the scopes applies'],
      },
    ],
  },
  {
    name: 'definers: a new function of the lookup role that returns hashes is reviewed',
    statement: `create function hashes() returns setof text language sql security definer as 'select slug from tenants';
      alter function hashes() owner to crossdock_lookup`,
    tests: [{ file: DEFINERS, titles: ['review each new one'] }],
  },
  {
    name: 'definers: the lookup role reads no credentials',
    statement: 'grant select (password_hash) on users to crossdock_lookup',
    tests: [{ file: DEFINERS, titles: ['none of them returns a password hash'] }],
  },
  {
    name: 'definers: whether a package has a courier is told in its tenant only',
    function: 'package_has_courier',
    find: 'p.tenant_id = app_tenant() and',
    replace: '',
    tests: [{ file: DEFINERS, titles: ['whether a package has a courier'] }],
  },
];
