import type { Mutant } from '../mutant.js';

const RECEIVED = 'test/modules/feeds/receive-events.test.ts';
const MANAGED = 'test/modules/feeds/manage-feeds.test.ts';
const SHOWN = 'test/modules/feeds/carrier-of-prealert.test.ts';
const ORDERS = 'test/modules/feeds/receive-orders.test.ts';
const REFUSED = 'test/modules/feeds/refused-orders.test.ts';
const MISSING = 'test/modules/feeds/missing-prealerts.test.ts';
const MISSING_COST = 'test/modules/feeds/missing-cost.test.ts';
const LIVES_COST = 'test/modules/sandboxes/lives/cost.test.ts';
const SHOP_ORDERS = 'test/modules/feeds/receive-orders.test.ts';
const PROVOKED = 'test/modules/sandboxes/provoked-failures.test.ts';
const ENDED = 'test/modules/sandboxes/ended-sandbox.test.ts';
const CHARGES = 'test/security/bounds/allowance/charges.test.ts';

const LARGE_REPLIES = 'test/security/bounds/replies/large-replies.test.ts';
const NEW_COURIERS = 'test/modules/couriers/administration/new-courier-limits.test.ts';

/** Guards against attacks that were found in reviews of the running service. */
export const ATTACKS: readonly Mutant[] = [
  {
    name: 'logins: a network that calls at many tenants has one turn of a block',
    file: 'src/platform/limits/queues/block-turns.ts',
    find: 'if (turns % 2 === 0) return undefined;',
    replace: 'if (turns % 2 < 2) return undefined;',
    tests: [
      {
        file: 'test/resilience/bulk/turns-of-callers.test.ts',
        titles: ['because another network logs in at many tenants'],
      },
    ],
  },
  {
    name: 'bodies: a network has the space of strangers once',
    file: 'src/platform/http/bodies/body-holder.ts',
    find: 'name: networksOf(clientAddress).block,',
    replace: 'name: `${tenantId} ${networksOf(clientAddress).block}`,',
    tests: [
      {
        file: 'test/security/bounds/stranger-bodies.test.ts',
        titles: ['that space once, however many tenants it names'],
      },
    ],
  },
  {
    name: 'bodies: a chunked body that cannot be large takes no space of strangers',
    file: 'src/platform/http/bodies/body-limits.ts',
    find: ': !operation || bodyBytesOf(operation) > LARGE_BODY_BYTES;',
    replace: ': true;',
    tests: [{ file: 'test/security/bounds/stranger-bodies.test.ts', titles: ['a login of unknown length'] }],
  },
  {
    name: 'logins: attempts on a locked name around a known network leave it what it has',
    file: 'src/platform/limits/login-limiter.ts',
    find: '        { tenantId, address, name: username.toLowerCase() },\n        await isKnown(tenantId, address),',
    replace: '        { tenantId, address, name: username.toLowerCase() },',
    tests: [
      {
        file: 'test/modules/auth/login-budgets.test.ts',
        titles: ['from around a known network do not use up what it has'],
      },
    ],
  },
  {
    name: 'packages: a courier cannot change the measurements of the warehouse',
    file: 'src/modules/packages/update/update.ts',
    find: '      assertPermitted(caller, before, requested);\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/packages/package-measures.test.ts',
        titles: ['rejects a request that mixes permitted and staff-only fields'],
      },
    ],
  },
  {
    name: 'packages: a courier cannot withdraw a customer that it named',
    file: 'src/modules/packages/update/fields.ts',
    find: "  if (changes.user_code === null && before.claimed_by !== null)\n    errors.push(fieldError('user_code', 'own_claim'));\n",
    replace: '',
    tests: [{ file: 'test/modules/tracking-numbers/masked-numbers.test.ts', titles: ['cannot remove'] }],
  },
  {
    name: 'overload: a standing queue refuses what waits',
    file: 'src/platform/limits/overload/controlled-delay.ts',
    find: 'hasRefused(key) || performance.now() - (late.get(key)?.sinceMs ?? Infinity) >= INTERVAL_MS',
    replace: 'hasRefused(key)',
    tests: [
      { file: 'test/resilience/overload/standing-queues.test.ts', titles: ['refuses new requests soon'] },
    ],
  },
  {
    name: 'overload: a request that has had a transaction is not refused',
    file: 'src/platform/limits/overload/waiting-line.ts',
    find: "if (isContinued) return 'continued';",
    replace: "if (isContinued && key === '') return 'continued';",
    tests: [
      {
        file: 'test/resilience/overload/standing-queues.test.ts',
        titles: ['never refuses the next transaction'],
      },
    ],
  },
  {
    name: 'overload: a caller with its share of the requests in progress is refused',
    file: 'src/platform/limits/overload/loop-guard.ts',
    find: 'own >= limit / inProgress.size',
    replace: 'own > 1e9',
    tests: [{ file: 'test/resilience/overload/loop-guard.test.ts' }],
  },
  {
    name: 'overload: a burst that arrives slowly is no overload',
    file: 'src/platform/limits/overload/controlled-delay.ts',
    find: '(late.get(key)?.arrived ?? 0) > BURST',
    replace: '(late.get(key)?.arrived ?? 0) > 10',
    tests: [{ file: 'test/resilience/overload/standing-queues.test.ts', titles: ['that arrives slowly'] }],
  },
  {
    name: 'processes: work gives way to that of other processes',
    file: 'src/platform/limits/shared/limits-of-primary.ts',
    find: 'ask(() => primary.giveWay(permit)),',
    replace: 'Promise.resolve(),',
    tests: [
      { file: 'test/resilience/processes/shared-limits.test.ts', titles: ['take turns between the pieces'] },
    ],
  },
  {
    name: 'bodies: those without a credential have a space of their own',
    file: 'src/platform/http/bodies/limit-held-bodies.ts',
    find: 'request.caller ? openBodySpace : openStrangersBodySpace',
    replace: 'openBodySpace',
    tests: [
      {
        file: 'test/security/bounds/stranger-bodies.test.ts',
        titles: ['an IPv4 /24 may have 256 KiB of bodies'],
      },
    ],
  },
  {
    name: 'shares: a request in the scope of the tenant uses the share of its courier',
    file: 'src/platform/context/request-context.ts',
    find: "{ kind: 'system', tenantId: caller.tenantId, onBehalfOf: caller }",
    replace: "{ kind: 'system', tenantId: caller.tenantId }",
    tests: [
      { file: 'test/modules/users/team/team-flood.test.ts', titles: ['uses the share of its courier'] },
    ],
  },
  {
    name: 'team: the owners of a courier change their team one at a time',
    file: 'src/modules/users/team/handlers.ts',
    find: 'return deps.bulk.limitTeam(ctx.caller, manage);',
    replace: 'return manage();',
    tests: [{ file: 'test/modules/users/team/team-flood.test.ts', titles: ['use one connection'] }],
  },
  {
    name: 'webhooks: exchanges beyond the budget of a URL are not kept',
    file: 'src/modules/webhooks/exchanges/exchange-budget.ts',
    find: 'if (!isFirst && budget.usedBytes + chosen.bytes >= BYTES_PER_DAY * SHARES[kind]) continue;',
    replace: 'void isFirst;',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/exchange-budget.test.ts',
        titles: ['has a budget of 4 MiB per day'],
      },
    ],
  },
  {
    name: 'webhooks: the exchanges of many attempts are masked in turns',
    file: 'src/modules/webhooks/exchanges/exchange-budget.ts',
    find: 'await pauseWhenDue();',
    replace: 'void pauseWhenDue;',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/masked-secrets.test.ts',
        titles: ['other work goes on while many exchanges are masked'],
      },
    ],
  },
  {
    name: 'webhooks: the end of a cut text, which may be the start of a secret, is not kept',
    file: 'src/modules/webhooks/exchanges/mask-secrets.ts',
    find: 'text: masked.slice(0, Math.max(0, masked.length - margin)), isCut: true',
    replace: 'text: masked, isCut: true',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/masked-secrets.test.ts',
        titles: ['no part of a secret is kept where the text is cut'],
      },
    ],
  },
  {
    name: 'webhooks: the search for secrets has a limit',
    file: 'src/modules/webhooks/exchanges/mask-secrets.ts',
    find: 'if (search.stepsLeft < 0) return { text: MASK, isCut: true };',
    replace: '',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/hostile-answers.test.ts',
        titles: ['nothing is kept of an answer whose secrets take too long to find'],
      },
    ],
  },
  {
    name: 'outbound: interim responses without end close the connection',
    file: 'src/platform/outbound/interim-responses.ts',
    find: 'return bytes <= MAX_BYTES;',
    replace: 'return bytes <= Infinity * MAX_BYTES;',
    tests: [
      {
        file: 'test/security/outbound/outbound-client.test.ts',
        titles: ['without end is closed at once'],
      },
    ],
  },
  {
    name: 'customers: slow systems of one tenant leave a place to others',
    file: 'src/modules/customers/sync/sync.ts',
    find: 'perTenant: 3, maxWaiting: 4',
    replace: 'maxWaiting: 4',
    tests: [
      {
        file: 'test/modules/customers/sync/sync-turns.test.ts',
        titles: ['slow systems of the couriers of one tenant leave a place to other tenants'],
      },
    ],
  },
  {
    name: 'webhooks: receivers of one tenant that hang leave slots to others',
    file: 'src/jobs/tasks.ts',
    find: 'perTenant: Math.ceil(slots / 2) }),',
    replace: 'perTenant: slots }),',
    tests: [
      {
        file: 'test/modules/webhooks/hanging-receivers.test.ts',
        titles: ['leave slots to the webhooks of other tenants'],
      },
    ],
  },
  {
    name: 'webhooks: what is kept of an answer has no half of a character',
    file: 'src/modules/webhooks/delivery/outcome.ts',
    find: ".join('').toWellFormed();",
    replace: ".join('');",
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/hostile-answers.test.ts',
        titles: ['is recorded once, and so are those of the same time', 'has no half of a character'],
      },
    ],
  },
  {
    name: 'webhooks: a secret is masked in base64 too',
    file: 'src/modules/webhooks/exchanges/mask-secrets.ts',
    find: 'needles.push({ text, before, after });',
    replace: 'void [text, before, after];',
    tests: [
      {
        file: 'test/modules/webhooks/deliveries/masked-secrets.test.ts',
        titles: ['in a header of basic authentication'],
      },
    ],
  },
  {
    name: 'customers: unchanged rows of an upload do not count against the allowance',
    file: 'src/modules/customers/upload/upload.ts',
    find: 'share: (created + updated) / Math.max(1, processed)',
    replace: 'share: 1',
    tests: [
      {
        file: 'test/security/bounds/allowance/charges.test.ts',
        titles: ['an upload of customers is given back the rows'],
      },
    ],
  },
  {
    name: 'files: an upload of empty rows is refused soon',
    file: 'src/platform/files/read-csv.ts',
    find: 'if (progress.empty > maxEmptyRows)',
    replace: 'if (progress.empty > 100 * maxEmptyRows)',
    tests: [
      {
        file: 'test/modules/customers/uploads/uploaded-files.test.ts',
        titles: ['rejects a file of empty rows soon'],
      },
    ],
  },
  {
    name: 'shares: keys that nobody has checked have one share',
    file: 'src/platform/limits/connection-shares.ts',
    find: "return caller.kind === 'user' || keyOwners.has(keyOf(caller));",
    replace: "return caller.kind !== 'token' || keyOwners.has(keyOf(caller));",
    tests: [
      {
        file: 'test/resilience/connection-shares.test.ts',
        titles: ['which nobody has checked, have one share'],
      },
    ],
  },
  {
    name: 'shares: what a service token claims counts only once it has been checked',
    file: 'src/platform/limits/connection-shares.ts',
    find: "return caller.kind === 'user' || keyOwners.has(keyOf(caller));",
    replace: "return caller.kind !== 'key' || keyOwners.has(keyOf(caller));",
    tests: [
      {
        file: 'test/resilience/connection-shares.test.ts',
        titles: ['which nobody has checked, have one share'],
      },
    ],
  },
  {
    name: 'shares: a checked service token shares what its courier may have',
    file: 'src/platform/db/transactions/admission.ts',
    find: "if (caller.kind === 'token') db.connectionShares.recordKeyOwner(caller, caller.courierId);",
    replace: '',
    tests: [
      { file: 'test/modules/service-tokens/token-guards.test.ts', titles: ['a token is known, and shares'] },
    ],
  },
  {
    name: 'overload: service tokens that nobody has checked share what a network may have',
    file: 'src/platform/limits/overload/loop-guard.ts',
    find: "return caller.kind !== 'system' && isKnown ?",
    replace: "return caller.kind === 'token' || (caller.kind !== 'system' && isKnown) ?",
    tests: [
      {
        file: 'test/resilience/overload/loop-guard.test.ts',
        titles: ['share what a network may have, however many'],
      },
    ],
  },
  {
    name: 'limits: wrong service tokens count like wrong keys',
    file: 'src/platform/errors/refused-keys.ts',
    find: "  'service_token_invalid',",
    replace: '',
    tests: [
      { file: 'test/security/statuses.test.ts', titles: ['the next wrong service token of an address'] },
    ],
  },
  {
    name: 'limits: ended service tokens count like wrong keys',
    file: 'src/platform/errors/refused-keys.ts',
    find: "  'service_token_revoked',",
    replace: '',
    tests: [
      {
        file: 'test/security/statuses.test.ts',
        titles: ['counts like a wrong one of its address'],
      },
    ],
  },
  {
    name: 'shares: an ended service token no longer counts as its courier',
    file: 'src/platform/db/transactions/admission.ts',
    find: 'db.connectionShares.forgetKey(caller);',
    replace: 'void 0;',
    tests: [
      {
        file: 'test/security/statuses.test.ts',
        titles: ['counts like a wrong one of its address'],
      },
    ],
  },
  {
    name: 'limits: the id of a service token does not use up its rate',
    file: 'src/platform/limits/request-rate.ts',
    find: "case 'token':\n    case 'key':",
    replace: "case 'token':\n      return caller.tokenId;\n    case 'key':",
    tests: [
      {
        file: 'test/security/rate-limit-headers.test.ts',
        titles: ['each service token has the limit of its own'],
      },
    ],
  },
  {
    name: 'hosts: few requests wait for the lookup of an unknown host',
    file: 'src/platform/http/tenant-by-host.ts',
    find: 'if (waiting >= MAX_WAITING && !wasKnown) throw overloaded();',
    replace: '',
    tests: [
      {
        file: 'test/resilience/overload/unknown-hosts.test.ts',
        titles: ['no more requests wait for lookups'],
      },
    ],
  },
  {
    name: 'shutdown: what is cut at the end is logged',
    file: 'src/serve.ts',
    find: 'setTimeout(() => cutConnections(server), DRAIN_MS)',
    replace: 'setTimeout(() => server.server.closeAllConnections(), DRAIN_MS)',
    tests: [
      { file: 'test/resilience/shutdown.test.ts', titles: ['hanging requests are aborted, the log says'] },
    ],
  },
  {
    name: 'shutdown: a busy process stops accepting in time',
    file: 'src/platform/http/connections/graceful-shutdown.ts',
    find: ' && performance.now() < untilMs; turn',
    replace: '; turn',
    tests: [
      { file: 'test/resilience/shutdown.test.ts', titles: ['a process whose event loop is busy stops'] },
    ],
  },
  {
    name: 'bodies: the number of values is limited before parsing',
    file: 'src/platform/http/bodies/json-shape.ts',
    find: 'if (values > MAX_VALUES)',
    replace: 'if (values > 1e9)',
    tests: [
      {
        file: 'test/security/transport/refused-bodies.test.ts',
        titles: ['20,000 values are accepted, one more is rejected'],
      },
    ],
  },
  {
    name: 'bodies: the account is checked before a large body is read',
    file: 'src/platform/http/request-hooks.ts',
    find: '    await admitBeforeLargeBody(request);\n',
    replace: '',
    tests: [
      {
        file: 'test/security/transport/refused-bodies.test.ts',
        titles: ['is rejected before a large body is read'],
      },
    ],
  },
  {
    name: 'transport: the number of pipelined requests per connection is limited',
    file: 'src/platform/http/connections/pipelining.ts',
    find: 'queue.waiting.length >= limits.perConnection || totalWaiting >= limits.total',
    replace: 'queue.waiting.length > 1e9',
    tests: [{ file: 'test/security/transport/slow-readers.test.ts' }],
  },
  {
    name: 'transport: responses are not cacheable',
    file: 'src/platform/http/server.ts',
    find: "  'cache-control': 'no-store',\n",
    replace: '',
    tests: [
      { file: 'test/security/transport/cache-control.test.ts', titles: ['responses are not cacheable'] },
    ],
  },
  {
    name: 'ids: UUIDs are converted to lower case',
    file: 'src/platform/contract/keywords.ts',
    find: 'replace(at, text.toLowerCase());',
    replace: 'replace(at, text);',
    tests: [{ file: 'test/security/uuid-case.test.ts', titles: ['known attacks with upper-case ids'] }],
  },
  {
    name: 'actions: undeclared actions are rejected',
    file: 'src/platform/http/request-hooks.ts',
    find: '    assertActionDeclared(request, sentMediaType(request), operation);\n',
    replace: '',
    tests: [
      { file: 'test/security/transport/undeclared-actions.test.ts', titles: ['rejects it in the body'] },
    ],
  },
  {
    name: 'outbound: ports that browsers block are rejected',
    file: 'src/config/blocked-ports.ts',
    find: 'BAD_PORTS.has(port);',
    replace: 'port < 0;',
    tests: [
      {
        file: 'test/security/outbound/outbound-limits.test.ts',
        titles: ['that browsers block are rejected by name when a URL is saved'],
      },
    ],
  },
  {
    name: 'outbound: the request rate per address is limited',
    file: 'src/platform/limits/address-rate-limit.ts',
    find: 'if (window.count >= requestsPerSecond)',
    replace: 'if (window.count < 0)',
    tests: [
      {
        file: 'test/security/outbound/outbound-limits.test.ts',
        titles: ['applies across couriers and tenants'],
      },
    ],
  },
  {
    name: 'webhooks: a delivery queue without due deliveries is not woken again',
    file: 'src/modules/webhooks/delivery/claim-queries.ts',
    find: '\n      where next.due is not null`',
    replace: '`',
    tests: [
      { file: 'test/resilience/background.test.ts', titles: ['loses its delivery queues to other workers'] },
    ],
  },
  {
    name: 'overload: large pages of packages wait like reports',
    file: 'src/modules/packages/handlers.ts',
    find: 'return body.limit > LARGE_PAGE ?',
    replace: 'return body.limit > LARGE_PAGE * 1_000 ?',
    tests: [{ file: LARGE_REPLIES, titles: ['simultaneous pages of 60 MB of a courier'] }],
  },
  {
    name: 'replies: long lists are serialised in batches',
    file: 'src/platform/contract/json-text.ts',
    find: 'const ROWS_PER_TICK = 250;',
    replace: 'const ROWS_PER_TICK = 250_000;',
    tests: [{ file: LARGE_REPLIES, titles: ['2,000 characters of three bytes'] }],
  },
  {
    name: 'overload: a member of the staff has one search at a time',
    file: 'src/platform/limits/bulk-limits.ts',
    find: 'if (!isSearch) return work();',
    replace: 'return work();',
    tests: [
      {
        file: 'test/resilience/bulk/searches.test.ts',
        titles: [': 40 searches of a user leave connections to the stations of its tenant'],
      },
    ],
  },
  {
    name: 'database: the connections of a courier are limited to its share',
    file: 'src/platform/limits/connection-shares.ts',
    find: 'const COURIER_SHARE = 0.4;',
    replace: 'const COURIER_SHARE = 1;',
    tests: [
      {
        file: 'test/resilience/connection-shares.test.ts',
        titles: ['of one courier, by users and API key'],
      },
    ],
  },
  {
    name: 'limits: a tenant that fills a queue with many users is refused before others',
    file: 'src/platform/limits/queues/replaced-call.ts',
    find: "['tenant', 'block', 'line', 'network', 'key', 'caller'] as const",
    replace: "['block', 'line', 'network', 'key', 'caller'] as const",
    tests: [
      {
        file: 'test/resilience/bulk/turns-of-callers.test.ts',
        titles: ['the staff of a tenant take turns with another tenant, and make room for it'],
      },
    ],
  },
  {
    name: 'limits: a user that fills a queue is refused before others',
    file: 'src/platform/limits/queues/replaced-call.ts',
    find: "['tenant', 'block', 'line', 'network', 'key', 'caller'] as const",
    replace: "['tenant', 'block', 'line', 'network', 'key'] as const",
    tests: [
      {
        file: 'test/resilience/bulk/turns-of-callers.test.ts',
        titles: ['a caller that fills the queue under many keys is refused before a caller of another key'],
      },
    ],
  },
  {
    name: 'bodies: large bodies that end together are parsed in turns',
    file: 'src/platform/http/bodies/read-bytes.ts',
    find: '    await pause();\n',
    replace: '',
    tests: [
      {
        file: 'test/security/bounds/bodies-that-end-together.test.ts',
        titles: ['of 1 MiB that end together hold the event loop for less than'],
      },
    ],
  },
  {
    name: 'bodies: a body counts after its client has left',
    file: 'src/platform/http/bodies/limit-held-bodies.ts',
    find: 'if (pending === 0) space.free();',
    replace: 'if (pending === 1) space.free();',
    tests: [
      {
        file: 'test/security/bounds/body-memory.test.ts',
        titles: ['a body counts while its request waits for its turn, also after its client has left'],
      },
    ],
  },
  {
    name: 'login: a second factor is rejected after the user’s tokens were revoked',
    file: 'src/modules/auth/login/second-step.ts',
    find: "  if (account.tokenVersion !== verified.account.tokenVersion) return new ApiError('code_invalid');\n",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ["issues no token if the user's tokens were revoked"],
      },
    ],
  },
  {
    name: 'sessions: an ended session is rejected',
    function: 'enter_with_token',
    find: "when not session_is_open then 'session_ended'",
    replace: '',
    tests: [
      {
        file: 'test/modules/sessions/end-sessions.test.ts',
        titles: ['after logout every operation is rejected'],
      },
    ],
  },
  {
    name: 'login: a role that requires a second factor cannot do without it',
    function: 'enter_with_token',
    find: "when must_enrol and not p_enrols then 'two_factor_required'",
    replace: '',
    tests: [
      {
        file: 'test/modules/security-settings.test.ts',
        titles: ['role that requires two-factor authentication'],
      },
    ],
  },
  {
    name: 'sessions: they end when the tokens of their user are revoked',
    statement: 'drop trigger end_sessions on users',
    tests: [
      { file: 'test/modules/sessions/sessions.test.ts', titles: ["every action that ends a user's tokens"] },
    ],
  },
  {
    name: 'keys: what is known of a key is known at its own tenant only',
    file: 'src/platform/limits/connection-shares.ts',
    find: '=> `${tenantId} ${keyHash}`;',
    replace: '=> (tenantId ? keyHash : tenantId);',
    tests: [
      {
        file: 'test/security/bounds/allowance/other-tenant.test.ts',
        titles: ['what is known of a key at one tenant is unknown at another'],
      },
    ],
  },
  {
    name: 'couriers: a user creates a limited number per day',
    file: 'src/modules/couriers/administration/new-courier.ts',
    find: '    await takeQuota(tx, OF_USER, ctx.caller, 1);\n',
    replace: '',
    tests: [{ file: NEW_COURIERS, titles: ['a user creates the couriers of a busy day of 40'] }],
  },
  {
    name: 'couriers: the staff create a limited number per day',
    file: 'src/modules/couriers/administration/new-courier.ts',
    find: '    await takeQuota(tx, OF_STAFF, STAFF, 1);\n',
    replace: '',
    tests: [{ file: NEW_COURIERS, titles: ['new users do not multiply it'] }],
  },
  {
    name: 'start: published credentials are read in the scope of each tenant',
    file: 'src/startup/published-credentials.ts',
    find: 'select outcome from enter_as_system(${id});',
    replace: 'select ${id} as outcome;',
    tests: [
      {
        file: 'test/operations/start-up/published.test.ts',
        titles: ['does not start, names the credentials'],
      },
    ],
  },
  {
    name: 'outbound: a name without an address is not this machine',
    file: 'src/platform/outbound/connect.ts',
    find: '    if (addresses.length === 0)',
    replace: '    if (addresses.length < 0)',
    tests: [
      {
        file: 'test/security/outbound/outbound-connect.test.ts',
        titles: ['a name without an address is not reached on this machine'],
      },
    ],
  },
];

/** Guards of sandboxes, and of what counts against an allowance. */
export const SANDBOXES: readonly Mutant[] = [
  {
    name: 'sandboxes: a provoked failure needs a credential that works',
    file: 'src/platform/http/provoked-failures.ts',
    find: '  await context.assertAdmitted();\n',
    replace: '',
    tests: [{ file: PROVOKED, titles: ['needs a credential that works'] }],
  },
  {
    name: 'sandboxes: a provoked failure is none in the metrics',
    file: 'src/platform/http/request-metrics.ts',
    find: "isProvoked ? 'provoked' : (own.socketStatus ?? status)",
    replace: 'own.socketStatus ?? status',
    tests: [{ file: PROVOKED, titles: ['is no failure of the service in its metrics'] }],
  },
  {
    name: 'sandboxes: a failure is not cut',
    file: 'src/platform/http/provoked-failures.ts',
    find: "=== 'cut_body' && reply.statusCode < 400;",
    replace: "=== 'cut_body';",
    tests: [{ file: PROVOKED, titles: ['cuts no failure'] }],
  },
  {
    name: 'sandboxes: that of a deactivated courier ends',
    file: 'src/modules/couriers/administration/change-courier.ts',
    find: 'if (!isActive) await endSandbox(tx, courierId);',
    replace: '',
    tests: [{ file: ENDED, titles: ['a courier that is deactivated has no sandbox any more'] }],
  },
  {
    name: 'sandboxes: the next one begins with what was used up',
    function: 'fill_sandbox',
    find: 'if found then',
    replace: 'if false then',
    tests: [{ file: ENDED, titles: ['leaves what it has used up of its quotas to the next one'] }],
  },
  {
    name: 'sandboxes: retention reaches those that have ended',
    file: 'src/jobs/retention.ts',
    find: 'deleteIn, systemCallers);',
    replace: 'deleteIn);',
    tests: [{ file: ENDED, titles: ['what is past its retention is deleted for ever after'] }],
  },
  {
    name: 'allowance: the bytes of a document are no rows',
    file: 'src/platform/http/within-allowance.ts',
    find: "return kind !== undefined && 'items' in BOUND_KINDS[kind];",
    replace: 'return kind !== undefined || BOUND_KINDS !== undefined;',
    tests: [{ file: CHARGES, titles: ['a document of a claim is charged for its bytes once'] }],
  },
  {
    name: 'allowance: an event that arrives again is charged for nothing',
    file: 'src/modules/feeds/receive.ts',
    find: '{ carried: { bytes: 0, items: 1 } } : { share: 0 }',
    replace: '{ carried: { bytes: 0, items: 1 } } : { carried: { bytes: 0, items: 1 } }',
    tests: [{ file: CHARGES, titles: ['an event of a feed that arrives again is charged for nothing'] }],
  },
  {
    name: 'missing: the list begins with deliveries that are not settled',
    file: 'src/modules/carrier-tracking/queries.ts',
    find: '    offset 0\n',
    replace: '',
    tests: [{ file: MISSING_COST, titles: ['the list reads few blocks'] }],
  },
  {
    name: 'missing: a pre-alert that is pending again counts again',
    file: 'src/modules/packages/update/queries.ts',
    find: '${unsettle(',
    replace: '${((_: UserScope, keys: Sql) => sql`select 1 where false and exists (${keys})`)(',
    tests: [{ file: MISSING, titles: ['until a receipt is void'] }],
  },
  {
    name: 'feeds: an event counts before it is stored',
    file: 'src/modules/feeds/receive.ts',
    find: 'await ctx.writeFor(feed.courierId);',
    replace: '',
    tests: [{ file: CHARGES, titles: ['refused when their courier has used up'] }],
  },
  {
    name: 'orders: a parcel in two spellings is one',
    file: 'src/modules/feeds/receive-order.ts',
    find: 'if (!parcels.has(key)) parcels.set(key,',
    replace: 'parcels.set(`${parcels.size} ${key}`,',
    tests: [{ file: SHOP_ORDERS, titles: ['in two spellings is one parcel'] }],
  },
  {
    name: 'lives: only magic numbers are read',
    file: 'src/modules/sandboxes/lives/queries.ts',
    find: "p.tracking_key >= 'LIFE' and p.tracking_key < 'LIFF' and ",
    replace: '',
    tests: [{ file: LIVES_COST, titles: ['is known without reading'] }],
  },
  {
    name: 'lives: one job of a sandbox waits',
    file: 'src/modules/sandboxes/lives/start.ts',
    find: ', { key: `playSandbox:${scope.tenantId}` }',
    replace: '',
    tests: [{ file: LIVES_COST, titles: ['one waits'] }],
  },
  {
    name: 'connections: nothing follows the last request',
    file: 'src/platform/http/connections/pipelining.ts',
    find: 'if (isLast(exchange)) totalWaiting',
    replace: 'if (false && isLast(exchange)) totalWaiting',
    tests: [{ file: PROVOKED, titles: ['a request that is pipelined behind it is not executed'] }],
  },
];

/** Guards of what carriers say. */
export const FEEDS: readonly Mutant[] = [
  {
    name: 'feeds: a number of an order is announced once',
    file: 'src/modules/feeds/receive-order.ts',
    find: 'parcels.filter(({ key }) => !known.has(key))',
    replace: 'parcels.filter(({ key }) => known.has(key) || key)',
    tests: [{ file: ORDERS, titles: ['does not announce again what was deleted'] }],
  },
  {
    name: 'feeds: an order names customers of its courier only',
    file: 'src/modules/feeds/order-queries.ts',
    find: "where ${tenantRows(ctx, 'cu')} and cu.courier_id = ${courierId}::uuid",
    replace: "where ${tenantRows(ctx, 'cu')} and ${courierId}::uuid is not null",
    tests: [{ file: REFUSED, titles: ['the customer of another courier is nobody'] }],
  },
  {
    name: 'feeds: a call without a signature is answered for WooCommerce only',
    file: 'src/modules/feeds/receive.ts',
    find: "if (feed?.kind !== 'woocommerce')",
    replace: 'if (!feed)',
    tests: [{ file: ORDERS, titles: ['is refused by other feeds'] }],
  },
  {
    name: 'feeds: an event with a refused parcel is tried again',
    file: 'src/modules/feeds/receive-order.ts',
    find: '      tx.later(queries.deleteEvent(tx, feed, eventKey));\n',
    replace: '',
    tests: [{ file: REFUSED, titles: ['when the same event arrives after the cause is corrected'] }],
  },
  {
    name: 'feeds: an event without a right signature is refused',
    file: 'src/modules/feeds/receive.ts',
    find: 'if (!feed || !isSigned(',
    replace: 'if (!feed || void isSigned(',
    tests: [{ file: RECEIVED, titles: ['of another body, another secret or none is refused'] }],
  },
  {
    name: 'feeds: the signature is of the bytes, not of what was parsed',
    file: 'src/modules/feeds/receive.ts',
    find: 'isSigned(feed.kind, arrival,',
    replace: 'isSigned(feed.kind, { ...arrival, bytes: Buffer.from(JSON.stringify(arrival.body)) },',
    tests: [{ file: RECEIVED, titles: ['is accepted over the bytes as they were sent'] }],
  },
  {
    name: "feeds: a token does not replace a wrong signature of Shippo's",
    file: 'src/modules/feeds/senders/signatures.ts',
    find: 'if (sent === undefined) return delivery.token',
    replace: 'if (delivery.token !== undefined) return delivery.token',
    tests: [{ file: RECEIVED, titles: ['the token of Shippo counts only without a signature'] }],
  },
  {
    name: 'feeds: an event that arrives again changes nothing',
    file: 'src/modules/feeds/receive.ts',
    find: "if (!isNew) return 'repeated';",
    replace: 'void isNew;',
    tests: [{ file: RECEIVED, titles: ['changes nothing, also at the same time as the first'] }],
  },
  {
    name: 'feeds: the latest by the time of the carrier is kept',
    file: 'src/modules/carrier-tracking/queries.ts',
    find: 'where ${isLater}',
    replace: 'where true',
    tests: [{ file: RECEIVED, titles: ['in whatever order it arrives'] }],
  },
  {
    name: 'feeds: a feed that is switched off accepts nothing',
    file: 'src/modules/feeds/queries.ts',
    find: '::uuid and f.is_active`',
    replace: '::uuid`',
    tests: [{ file: MANAGED, titles: ['is renamed, switched off and on'] }],
  },
  {
    name: 'feeds: a previous secret ends',
    file: 'src/modules/feeds/queries.ts',
    find: 'const HAS_PREVIOUS = sql`(f.previous_ends_at > now())`;',
    replace: 'const HAS_PREVIOUS = sql`(f.previous_ends_at is not null)`;',
    tests: [{ file: MANAGED, titles: ['accepts the old secret for one hour'] }],
  },
  {
    name: 'feeds: creating feeds of a courier takes turns',
    file: 'src/modules/feeds/manage.ts',
    find: "await lock(tx, 'Courier', courierId, ['id'], 'no key update');",
    replace: '',
    tests: [{ file: MANAGED, titles: ['has at most 20, also if it sends all at once'] }],
  },
  {
    name: 'feeds: a correction of the carrier stays after further events',
    file: 'src/modules/carrier-tracking/queries.ts',
    find: "'carrier', coalesce(heard.corrected_carrier, heard.carrier)",
    replace: "'carrier', heard.carrier",
    tests: [{ file: SHOWN, titles: ['is corrected, stays so after further events'] }],
  },
  {
    name: 'feeds: a missing parcel is told once',
    file: 'src/modules/prealerts/missing-queries.ts',
    find: 'p.missing_at is null and ',
    replace: '',
    tests: [{ file: MISSING, titles: ['is emitted once per pre-alert'] }],
  },
];
