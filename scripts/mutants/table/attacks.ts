import type { Mutant } from '../mutant.js';

/** Guards against attacks that were found by reviewing the running service. */
export const ATTACKS: readonly Mutant[] = [
  {
    name: 'packages: a courier does not change what the warehouse measures',
    file: 'src/modules/packages/update/update.ts',
    find: '      assertPermitted(caller, before, changes);\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/package-measures.test.ts',
        titles: ['a request that changes what is permitted too'],
      },
    ],
  },
  {
    name: 'packages: a courier does not take back a customer that it has named',
    file: 'src/modules/packages/update/fields.ts',
    find: "if (changes.user_code === null && before.claimed_by !== null)\n    errors.push(fieldError('user_code', 'own_claim'));",
    replace: '',
    tests: [
      { file: 'test/modules/tracking-numbers/masked-numbers.test.ts', titles: ['cannot take that back'] },
    ],
  },
  {
    name: 'bodies: the number of values is bounded before they are parsed',
    file: 'src/platform/http/bodies/json-shape.ts',
    find: 'if (values > MAX_VALUES)',
    replace: 'if (values > 1e9)',
    tests: [
      {
        file: 'test/security/transport/refused-bodies.test.ts',
        titles: ['20,000 values are read, one more is refused'],
      },
    ],
  },
  {
    name: 'bodies: the account is checked before a large body is read',
    file: 'src/platform/http/guard.ts',
    find: '    await admitBeforeLargeBody(request, parts.db);\n',
    replace: '',
    tests: [
      {
        file: 'test/security/transport/refused-bodies.test.ts',
        titles: ['is refused before a large body is read'],
      },
    ],
  },
  {
    name: 'transport: requests that wait on a connection are bounded',
    file: 'src/platform/http/connections/pipelining.ts',
    find: 'line.waiting.length >= limits.perConnection || together >= limits.together',
    replace: 'line.waiting.length > 1e9',
    tests: [{ file: 'test/security/transport/slow-readers.test.ts' }],
  },
  {
    name: 'transport: replies may not be kept',
    file: 'src/platform/http/server.ts',
    find: "    void reply.header('cache-control', 'no-store');\n",
    replace: '',
    tests: [{ file: 'test/security/transport/cache-control.test.ts', titles: ['no reply may be kept'] }],
  },
  {
    name: 'ids: a UUID is rewritten in lower case',
    file: 'src/platform/contract/validator.ts',
    find: 'parent[at.parentDataProperty] = text.toLowerCase();',
    replace: 'void parent;',
    tests: [{ file: 'test/security/uuid-case.test.ts', titles: ['the original attacks'] }],
  },
  {
    name: 'actions: one that is not declared is refused',
    file: 'src/platform/http/guard.ts',
    find: '    assertActionDeclared(request, sentMediaType(request), operation);\n',
    replace: '',
    tests: [{ file: 'test/security/transport/undeclared-actions.test.ts', titles: ['in the body'] }],
  },
  {
    name: 'outbound: ports that browsers refuse are refused',
    file: 'src/config/blocked-ports.ts',
    find: 'BAD_PORTS.has(port);',
    replace: 'port < 0;',
    tests: [
      {
        file: 'test/security/outbound/outbound-limits.test.ts',
        titles: ['that browsers refuse are refused when a URL is saved'],
      },
    ],
  },
  {
    name: 'outbound: the rate to one address is bounded',
    file: 'src/platform/outbound/address-rate-limit.ts',
    find: 'if (window.count >= requestsPerSecond)',
    replace: 'if (window.count < 0)',
    tests: [
      {
        file: 'test/security/outbound/outbound-limits.test.ts',
        titles: ['is bounded across couriers and tenants'],
      },
    ],
  },
  {
    name: 'webhooks: a lane with nothing due is not woken again',
    file: 'src/modules/webhooks/delivery/delivery-queue-queries.ts',
    find: '\n      where next.due is not null`',
    replace: '`',
    tests: [{ file: 'test/resilience/background.test.ts', titles: ['has its work taken over'] }],
  },
  {
    name: 'database: a courier has its share of the connections',
    file: 'src/platform/db/connections/connection-shares.ts',
    find: 'const COURIER_SHARE = 0.4;',
    replace: 'const COURIER_SHARE = 1;',
    tests: [
      {
        file: 'test/resilience/connection-shares.test.ts',
        titles: ['of one courier, by its users and its key'],
      },
    ],
  },
  {
    name: 'login: a second factor does not outlive the tokens of its user',
    file: 'src/modules/auth/login/second-step.ts',
    find: "  if (account.tokenVersion !== outcome.account.tokenVersion) return new ApiError('code_invalid');\n",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['verified while the user’s tokens are ended'],
      },
    ],
  },
  {
    name: 'sessions: one that has ended opens nothing',
    function: 'enter_as_user',
    find: "when not session_is_open then 'session_ended'",
    replace: '',
    tests: [
      {
        file: 'test/modules/sessions.test.ts',
        titles: ['after logout every operation with a token is refused'],
      },
    ],
  },
  {
    name: 'sign-in: a role that requires a second factor is asked for it',
    function: 'enter_as_user',
    find: "when must_enrol and not p_enrols then 'two_factor_required'",
    replace: '',
    tests: [
      { file: 'test/modules/security-settings.test.ts', titles: ['a role that requires a second factor'] },
    ],
  },
  {
    name: 'sessions: they end with the tokens of their user',
    statement: 'drop trigger end_sessions on users',
    tests: [{ file: 'test/modules/sessions.test.ts', titles: ['whatever else ends the tokens of a user'] }],
  },
];
