import type { SourceMutant } from '../mutant.js';

const UNTRUSTED = 'test/operations/observability/untrusted-proxy.test.ts';
const PREALERT_EVENTS = 'test/modules/webhooks/chosen/prealert-events.test.ts';
const CHOSEN_TYPES = 'test/modules/webhooks/chosen/chosen-types.test.ts';
const BILL_EVENTS = 'test/modules/webhooks/chosen/bill-events.test.ts';
const CHOSEN_SCOPES = 'test/modules/webhooks/chosen/chosen-scopes.test.ts';
const REDIRECTION = 'test/modules/couriers/settings/redirection.test.ts';
const MANIFEST_EVENTS = 'test/modules/webhooks/chosen/manifest-events.test.ts';

/** Guards of incoming and outgoing requests. */
export const TRANSPORT: readonly SourceMutant[] = [
  {
    name: 'sdk: the report of an attempt has no query',
    file: 'sdk/typescript/src/hook.ts',
    find: 'onAttempt({ operation, attempt,',
    replace: 'onAttempt({ operation: operation + (response as Response | undefined)?.url, attempt,',
    tests: [{ file: 'test/sdk/typescript-hook.test.ts', titles: ['and no secret'] }],
  },
  {
    name: 'sdk: a hook that throws does not fail the call',
    file: 'sdk/typescript/src/hook.ts',
    find: '  } catch {\n    // A log that fails does not fail the call.\n  }',
    replace: '  } catch (failure) {\n    throw failure;\n  }',
    tests: [{ file: 'test/sdk/typescript-hook.test.ts', titles: ['a hook that throws'] }],
  },
  {
    name: 'sdk: a page is not larger than the operation allows',
    file: 'sdk/typescript/src/call.ts',
    find: 'Math.min(largest, settings.pageSize)',
    replace: 'settings.pageSize',
    tests: [{ file: 'test/sdk/typescript-hook.test.ts', titles: ['all pages of a list are large'] }],
  },
  {
    name: 'docs: only a plain host becomes part of a text',
    file: 'src/platform/http/documents/host-texts.ts',
    find: ' || !HOST.test(host)',
    replace: '',
    tests: [
      {
        file: 'test/documentation/reference-pages.test.ts',
        titles: ['does not become part of a text'],
      },
    ],
  },
  {
    name: 'docs: made-up hosts fill no memory',
    file: 'src/platform/http/documents/host-texts.ts',
    find: 'if (known || !hasRoom()) return',
    replace: 'if (known) return',
    tests: [
      {
        file: 'test/security/transport/documents.test.ts',
        titles: ['made-up hosts fill no memory'],
      },
    ],
  },
  {
    name: 'http: a key in the query is announced as deprecated',
    file: 'src/platform/http/replies/deprecations.ts',
    find: 'if (sendsKeyInQuery(request)) void',
    replace: 'if (sendsKeyInQuery(request) && false) void',
    tests: [
      {
        file: 'test/modules/prealerts/key-in-query.test.ts',
        titles: ['a repeated response, a failure and lines announce it too'],
      },
    ],
  },
  {
    name: 'http: plain HTTP is rejected where HTTPS is required',
    file: 'src/platform/http/server.ts',
    find: "if (lacksHttps(request)) throw new ApiError('https_required');",
    replace: '',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['a plain HTTP request is rejected before its credential'],
      },
    ],
  },
  {
    name: 'http: a proxy outside of TRUST_PROXY is logged',
    file: 'src/platform/http/connections/untrusted-proxies.ts',
    find: "record({ reason: 'untrusted', address });",
    replace: '',
    tests: [{ file: UNTRUSTED, titles: ['is named in one line per minute'] }],
  },
  {
    name: 'http: strangers cannot fill the log with headers of a proxy',
    file: 'src/platform/http/connections/untrusted-proxies.ts',
    find: "record({ reason: 'untrusted', address });",
    replace: 'record({ reason: address, address });',
    tests: [{ file: UNTRUSTED, titles: ['is named in one line per minute'] }],
  },
  {
    name: 'http: a server without a proxy ignores headers of a proxy in silence',
    file: 'src/platform/http/connections/untrusted-proxies.ts',
    find: 'if (config.trustProxy.length === 0) return;',
    replace: '',
    tests: [{ file: UNTRUSTED, titles: ['a server that serves TLS itself and has no proxy'] }],
  },
  {
    name: 'http: only refused requests count for the alert of an untrusted proxy',
    file: 'src/platform/http/connections/untrusted-proxies.ts',
    find: 'if (isRefused(request)) onRefused();',
    replace: 'onRefused();',
    tests: [{ file: UNTRUSTED, titles: ['counts no health check'] }],
  },
  {
    name: 'http: a request has one Host header',
    file: 'src/platform/http/server.ts',
    find: 'assertOneHost(request.raw);',
    replace: '',
    tests: [{ file: 'test/security/transport/raw-sockets.test.ts', titles: ['valid but unusual HTTP'] }],
  },
  {
    name: 'http: an unknown host is rejected',
    file: 'src/platform/http/tenant-by-host.ts',
    find: "if (!tenant) throw new ApiError('unknown_host');\n      return tenant;",
    replace: "return tenant ?? { tenantId: '', db: home };",
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['one tenant is served on any host'],
      },
    ],
  },
  {
    name: 'http: a body that declares more than the limit is rejected unread',
    file: 'src/platform/http/request-hooks.ts',
    find: 'if (mediaType !== MULTIPART && length > (maxLinesBytes ?? bodyBytesOf(operation)))\n    throw bodyTooLarge(operation);',
    replace: '',
    tests: [
      {
        file: 'test/security/transport/body-kinds.test.ts',
        titles: ['with a Content-Length of 100 MiB gets 413'],
      },
    ],
  },
  {
    name: 'http: the content type is normalized to select the schema',
    file: 'src/platform/http/request-hooks.ts',
    find: "headers['content-type'] = mediaType === MULTIPART ? sent.header : mediaType;",
    replace: '',
    tests: [
      { file: 'test/security/transport/body-kinds.test.ts', titles: ['is parsed as JSON by an operation'] },
    ],
  },
  {
    name: 'http: compressed bodies are rejected',
    file: 'src/platform/http/request-hooks.ts',
    find: ' || !isPlain) {',
    replace: ') {',
    tests: [{ file: 'test/security/transport/transport.test.ts', titles: ['Content-Encoding'] }],
  },
  {
    name: 'outside: a full disk is 503',
    file: 'src/platform/errors/outside-errors.ts',
    find: "'53100': 'unwritable',",
    replace: "'53100': 'defect',",
    tests: [
      {
        file: 'test/resilience/outside/full-disk.test.ts',
        titles: ['is not ready while it refuses to write'],
      },
    ],
  },
  {
    name: 'outside: a database that stores nothing is not ready',
    file: 'src/platform/http/replies/error-handler.ts',
    find: '(request.db ?? home).health.note(error);',
    replace: '',
    tests: [
      {
        file: 'test/resilience/outside/full-disk.test.ts',
        titles: ['is not ready while it refuses to write'],
      },
    ],
  },
  {
    name: 'outside: it is ready again when a write succeeds',
    file: 'src/platform/db/health.ts',
    find: "change(outcome === 'written' ? undefined : outcome);",
    replace: "change(outcome === 'written' ? failure : outcome);",
    tests: [
      {
        file: 'test/resilience/outside/full-disk.test.ts',
        titles: ['is not ready while it refuses to write'],
      },
    ],
  },
  {
    name: 'text: NUL and lone surrogates are rejected',
    file: 'src/platform/http/bodies/text.ts',
    find: "!text.includes('\\0') && text.isWellFormed()",
    replace: 'text !== undefined',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['text that PostgreSQL cannot store'],
      },
    ],
  },
  {
    name: 'text: bytes that are not UTF-8 are rejected',
    file: 'src/platform/http/bodies/text.ts',
    find: "new TextDecoder('utf-8', { fatal: true })",
    replace: "new TextDecoder('utf-8')",
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['text that PostgreSQL cannot store'],
      },
    ],
  },
  {
    name: 'text: __proto__ in a body is rejected',
    file: 'src/platform/http/bodies/text.ts',
    find: "{ protoAction: 'error', constructorAction: 'error' }",
    replace: "{ protoAction: 'ignore', constructorAction: 'ignore' }",
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['is rejected, and no prototype changes'],
      },
    ],
  },
  {
    name: 'text: excessively nested bodies are rejected',
    file: 'src/platform/http/bodies/json-shape.ts',
    find: 'if (depth > MAX_DEPTH)',
    replace: 'if (depth > 1e9)',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['hostile JSON bodies'],
      },
    ],
  },
  {
    name: 'validation: values of a JSON body are not coerced',
    file: 'src/platform/contract/validator.ts',
    find: '    useDefaults: true,',
    replace: '    useDefaults: true,\n    coerceTypes: true,',
    tests: [
      {
        file: 'test/security/bad-input.test.ts',
        titles: ['createManifest > every forbidden value of every field'],
      },
    ],
  },
  {
    name: 'idempotency: the key of another request is rejected',
    file: 'src/platform/idempotency/stored-response.ts',
    find: "if (stored.request_hash !== key.requestHash) throw new ApiError('idempotency_key_reused');",
    replace: '',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['another operation, or another record in the query'],
      },
    ],
  },
  {
    name: 'idempotency: both paths of an operation share a key',
    file: 'src/platform/idempotency/idempotency-key.ts',
    find: 'operation: operation.sameAs,',
    replace: 'operation: operation.id,',
    tests: [
      {
        file: 'test/modules/prealerts/two-paths.test.ts',
        titles: ['is repeated on'],
      },
    ],
  },
  {
    name: 'idempotency: the second of two concurrent requests is not executed',
    file: 'src/platform/idempotency/idempotent-request.ts',
    find: 'if (!lock?.is_locked)',
    replace: 'if (!lock)',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['a concurrent repeated request gets 409 at once'],
      },
    ],
  },
  {
    name: 'idempotency: a refusal without effect is not stored',
    file: 'src/platform/context/request-context.ts',
    find: 'if (!own?.isCreated) await endHeldWrite(state);',
    replace: '',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['after the cause is corrected, the same request'],
      },
    ],
  },
  {
    name: 'idempotency: a key belongs to its caller',
    file: 'src/platform/idempotency/stored-response-queries.ts',
    find: 'and k.principal_kind = ${kindOf(key)} and k.principal_id = ${idOf(key)}\n',
    replace: '\n',
    tests: [
      {
        file: 'test/resilience/idempotency.test.ts',
        titles: ['the same key of another user, courier or tenant'],
      },
    ],
  },
  {
    name: 'outbound: an address in the URL must be public',
    file: 'src/platform/outbound/urls.ts',
    find: "return ['url_private'];",
    replace: 'return undefined;',
    tests: [{ file: 'test/security/outbound/outbound-urls.test.ts' }],
  },
  {
    name: 'outbound: the addresses of a name must be public',
    file: 'src/platform/outbound/connect.ts',
    find: '    check(addresses);\n',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-targets.test.ts',
        titles: ['behind a host name, alone', 'if the URL check is bypassed'],
      },
    ],
  },
  {
    name: 'outbound: every address of a name must be public',
    file: 'src/platform/outbound/connect.ts',
    find: 'if (!addresses.every(isAllowed))',
    replace: 'if (!addresses.some(isAllowed))',
    tests: [
      { file: 'test/security/outbound/outbound-targets.test.ts', titles: ['behind a host name, alone'] },
    ],
  },
  {
    name: 'outbound: the connection goes to the checked address',
    file: 'src/platform/outbound/connect.ts',
    find: 'const socket = await reachOne(addresses, target.port, signal, rateLimiter);',
    replace:
      'const socket = await reachOne(await addressesOf(target.hostname), target.port, signal, rateLimiter);',
    tests: [
      {
        file: 'test/security/outbound/outbound-targets.test.ts',
        titles: ['between check and connect has no effect'],
      },
    ],
  },
  {
    name: 'outbound: addresses of cloud platforms are rejected',
    file: 'src/platform/outbound/addresses.ts',
    find: 'if (PLATFORM_ADDRESSES.has(parsed.toString())) return false;',
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-urls.test.ts' }],
  },
  {
    name: 'outbound: an IPv6 address must be in the allocated range',
    file: 'src/platform/outbound/addresses.ts',
    find: "return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1;",
    replace: 'return true;',
    tests: [{ file: 'test/security/outbound/outbound-urls.test.ts' }],
  },
  {
    name: 'outbound: the certificate must match the host name',
    file: 'src/platform/outbound/connect.ts',
    find: 'rejectUnauthorized: true,',
    replace: 'rejectUnauthorized: false,',
    tests: [{ file: 'test/security/outbound/outbound-connect.test.ts', titles: ['TLS'] }],
  },
  {
    name: 'outbound: a header value cannot start another header',
    file: 'src/platform/outbound/client.ts',
    find: "if (headerFault) return { outcome: 'unreachable', reason: 'url_refused', error: headerFault };",
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-client.test.ts', titles: ['sent requests'] }],
  },
  {
    name: 'outbound: a response is read up to the size limit',
    file: 'src/platform/outbound/exchange.ts',
    find: 'const taken = Math.min(chunk.length, maxBytes - size);',
    replace: 'const taken = chunk.length;',
    tests: [{ file: 'test/security/outbound/outbound-client.test.ts', titles: ['received responses'] }],
  },
  {
    name: 'webhooks: the signature covers the body',
    file: 'src/modules/webhooks/delivery/sign.ts',
    find: 'sign(secret, `${id}.${timestamp}.${body}`)',
    replace: 'sign(secret, `${id}.${timestamp}.`)',
    tests: [
      {
        file: 'test/modules/webhooks/webhook-content.test.ts',
        titles: ['a received package is signed per Standard Webhooks'],
      },
    ],
  },
  {
    name: 'webhook secret: only the secret that the caller means is ended',
    file: 'src/modules/couriers/settings/webhook-secret.ts',
    find: "if (!isMeant) throw new ApiError('webhook_secret_changed');",
    replace: 'void isMeant;',
    tests: [
      {
        file: 'test/modules/couriers/settings/end-webhook-secret.test.ts',
        titles: ['is refused if somebody has rotated since, or if the named secret is the current one'],
      },
    ],
  },
  {
    name: 'webhooks: the previous secret signs for one day only',
    file: 'src/modules/couriers/settings/webhook-secret.ts',
    find: '...(previous !== null && isOverlapping(row, now) ?',
    replace: '...(previous !== null ?',
    tests: [
      {
        file: 'test/modules/webhooks/webhook-content.test.ts',
        titles: ['signs with the new secret only a day after a rotation'],
      },
    ],
  },
  {
    name: "webhooks: a courier's token is masked in stored responses",
    file: 'src/modules/webhooks/delivery/outcome.ts',
    find: 'const { text } = mask(',
    replace:
      'const { text } = ((whole: string, _length: number, isCut: boolean) => ({ text: whole, isCut, mask }))(',
    tests: [
      {
        file: 'test/modules/webhooks/flat-package-responses.test.ts',
        titles: ['the token is masked in a response that repeats the request'],
      },
    ],
  },
  {
    name: 'webhooks: the number of a flat package without a customer is masked',
    file: 'src/modules/webhooks/delivery/bodies.ts',
    find: 'row.userCode === null ? maskTrackingNumber(row.trackingNumber) : row.trackingNumber',
    replace: 'row.userCode === null ? row.trackingNumber : row.trackingNumber',
    tests: [
      {
        file: 'test/modules/webhooks/flat-packages.test.ts',
        titles: ['a package without a customer is unknown'],
      },
    ],
  },
  {
    name: 'checks: a courier has a limit of checks per hour',
    file: 'src/modules/integration-checks/checks.ts',
    find: '      await takeQuota(tx, CHECKS, courierId, 1);\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/integration-checks/create-integration-check.test.ts',
        titles: ['refuses the seventh check of an hour'],
      },
    ],
  },
  {
    name: 'checks: a check that was started is not executed again',
    file: 'src/modules/integration-checks/queries.ts',
    find: " and k.status = 'queued'\n      and",
    replace: '\n      and',
    tests: [
      {
        file: 'test/modules/integration-checks/create-integration-check.test.ts',
        titles: ['that a restart interrupts has no result'],
      },
    ],
  },
  {
    name: 'checks: the request with a wrong token has wrong keys of the URL',
    file: 'src/modules/webhooks/probes/probe.ts',
    find: 'url: withWrongKeys(url),',
    replace: 'url,',
    tests: [
      {
        file: 'test/modules/integration-checks/create-integration-check.test.ts',
        titles: ['replaces the keys of the URL'],
      },
    ],
  },
  {
    name: 'checks: evidence has no token',
    file: 'src/modules/integration-checks/course.ts',
    find: 'startOf(answer.body, answer.isCut, mask, MAX_EXCERPT)',
    replace: 'answer.body.toString()',
    tests: [
      {
        file: 'test/modules/integration-checks/create-integration-check.test.ts',
        titles: ['shows no token and no secret'],
      },
    ],
  },
  {
    name: 'checks: the request with a wrong token has an id of its own',
    file: 'src/modules/webhooks/probes/probe.ts',
    find: '      const otherId = newId();',
    replace: '      const otherId = id;',
    tests: [
      {
        file: 'test/modules/integration-checks/create-integration-check.test.ts',
        titles: ['sends at most ten requests'],
      },
    ],
  },
  {
    name: 'checks: the evidence of a list has no customers',
    file: 'src/modules/integration-checks/list-check.ts',
    find: '{ detail, isPrivate: true }',
    replace: '{ detail }',
    tests: [
      {
        file: 'test/modules/integration-checks/customer-lists.test.ts',
        titles: ['is stored nowhere'],
      },
    ],
  },
  {
    name: 'api calls: unknown fields of a call do not make rows without end',
    file: 'src/platform/http/calls/named-parcels.ts',
    find: 'Math.min(items, isRefused ? MAX_OF_RECORD : MAX_NAMED)',
    replace: 'items * 100',
    tests: [
      {
        file: 'test/modules/api-calls/recorded-calls.test.ts',
        titles: ['no more parcels than its operation can name'],
      },
    ],
  },
  {
    name: 'api calls: the session of the console is not in the log',
    file: 'src/platform/http/calls/watch-calls.ts',
    find: ' || isOfCookie) return undefined',
    replace: ') return undefined',
    tests: [
      { file: 'test/modules/api-calls/recorded-calls.test.ts', titles: ['but not the session of a browser'] },
    ],
  },
  {
    name: 'api calls: a forged token names no courier',
    file: 'src/modules/api-calls/insert-calls.ts',
    find: ' and s.key_hash in (t.token_hash, t.previous_hash)',
    replace: '',
    tests: [
      {
        file: 'test/modules/api-calls/recorded-calls.test.ts',
        titles: ['is in no log for a key or a token that nobody has'],
      },
    ],
  },
  {
    name: 'api calls: a text that is no number is not kept',
    file: 'src/modules/api-calls/parcel-keys.ts',
    find: 'number.keys.filter((key) => KEY.test(key))',
    replace: 'number.keys',
    tests: [
      {
        file: 'test/modules/api-calls/recorded-calls.test.ts',
        titles: ['never has the text that was sent instead of a number'],
      },
    ],
  },
  {
    name: 'api calls: failures are kept whatever the share of the successes is',
    file: 'src/modules/api-calls/call-log.ts',
    find: '!isFailure(call) && Math',
    replace: 'Math',
    tests: [
      {
        file: 'test/modules/api-calls/call-log.test.ts',
        titles: ['with a share of the successes, failures and cut calls are still kept'],
      },
    ],
  },
  {
    name: 'api calls: the memory is bounded',
    file: 'src/modules/api-calls/call-log.ts',
    find: 'rows + size > MAX_ROWS || ',
    replace: '',
    tests: [{ file: 'test/modules/api-calls/call-log.test.ts', titles: ['the memory is bounded'] }],
  },
  {
    name: 'api calls: a courier that names thousands of parcels displaces no calls',
    file: 'src/modules/api-calls/call-log.ts',
    find: 'rows > FULL_ROWS && own + sizeOf(given.call) > SHARE_ROWS',
    replace: 'false',
    tests: [
      {
        file: 'test/modules/api-calls/call-log.test.ts',
        titles: ['a courier that names thousands of parcels displaces no calls'],
      },
    ],
  },
  {
    name: 'api calls: a courier is told of the calls that the memory had no room for',
    file: 'src/modules/api-calls/call-log.ts',
    find: 'for (const each of calls) lost.add(each);',
    replace: '',
    tests: [
      {
        file: 'test/modules/api-calls/call-log.test.ts',
        titles: ['calls that the memory has no room for are counted for their courier'],
      },
    ],
  },
  {
    name: 'api calls: few texts of a refused request are read',
    file: 'src/platform/http/calls/named-parcels.ts',
    find: 'isRefused ? MAX_OF_RECORD : MAX_NAMED',
    replace: 'MAX_NAMED',
    tests: [
      { file: 'test/modules/api-calls/named-parcels.test.ts', titles: ['ten numbers of a refused request'] },
    ],
  },
  {
    name: 'api calls: few texts that are not ASCII are read',
    file: 'src/platform/http/calls/named-parcels.ts',
    find: 'if (isForeign && named.foreign >= MAX_OF_RECORD) return;',
    replace: '',
    tests: [
      { file: 'test/modules/api-calls/named-parcels.test.ts', titles: ['ten texts that are not ASCII'] },
    ],
  },
  {
    name: 'outbound: no classic Diffie-Hellman exchange',
    file: 'src/platform/outbound/connect.ts',
    find: ":!DHE`, ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1'",
    replace: '`',
    tests: [
      {
        file: 'test/security/outbound/outbound-handshakes.test.ts',
        titles: ['no group is taken that a server has made'],
      },
    ],
  },
  {
    name: 'outbound: a chain of certificates is bounded',
    file: 'src/platform/outbound/handshake.ts',
    find: 'let maxBytes = MAX_HANDSHAKE_BYTES;',
    replace: 'let maxBytes = Infinity;',
    tests: [
      {
        file: 'test/security/outbound/outbound-handshakes.test.ts',
        titles: ['of more than 20 KB is refused before it is verified'],
      },
    ],
  },
  {
    name: 'outbound: the handshakes of many connections leave turns to other work',
    file: 'src/platform/outbound/handshake.ts',
    find: 'await turns.take(host);',
    replace: 'await Promise.resolve();',
    tests: [
      {
        file: 'test/security/outbound/outbound-handshakes.test.ts',
        titles: ['the handshakes of many connections leave turns to other work'],
      },
    ],
  },
  {
    name: 'outbound: a server that sends records without content is left',
    file: 'src/platform/outbound/handshake.ts',
    find: 'maxBytes = bytes + SPARE_BYTES;',
    replace: 'maxBytes = Infinity;',
    tests: [
      {
        file: 'test/security/outbound/outbound-handshakes.test.ts',
        titles: ['a server that sends records without content is left'],
      },
    ],
  },
  {
    name: 'outbound: a thread that hangs is replaced',
    file: 'src/platform/outbound/threaded-client.ts',
    find: 'ended = threads.destroy();',
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-thread.test.ts', titles: ['because it hangs'] }],
  },
  {
    name: 'outbound: nothing is sent after the stop',
    file: 'src/platform/outbound/threaded-client.ts',
    find: "if (isDestroyed) throw new Error('stopped');",
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-thread.test.ts', titles: ['at the stop'] }],
  },
  {
    name: 'outbound: the thread has no secrets',
    file: 'src/platform/outbound/threaded-client.ts',
    find: 'env: {},',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-thread.test.ts',
        titles: ['it gets nothing of the environment'],
      },
    ],
  },
  {
    name: 'outbound: requests do not wait for one another',
    file: 'src/platform/outbound/threaded-client.ts',
    find: 'concurrentTasksPerWorker: MAX_REQUESTS,',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-thread.test.ts',
        titles: ['a request that hangs delays no other'],
      },
    ],
  },
  {
    name: 'outbound: only the first headers of a response are handed over',
    file: 'src/platform/outbound/exchange.ts',
    find: 'if (left < 0) break;',
    replace: 'left = Math.max(left, 1);',
    tests: [
      {
        file: 'test/security/outbound/outbound-lengths.test.ts',
        titles: ['are the first 64, and those that are read'],
      },
    ],
  },
  {
    name: 'outbound: a response is bounded besides its body',
    file: 'src/platform/outbound/interim-responses.ts',
    find: 'if (spare < 0) return end(MUCH_LONGER);',
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-lengths.test.ts', titles: ['extensions of chunks'] }],
  },
  {
    name: 'outbound: hosts share the time of the thread',
    file: 'src/platform/outbound/turns-by-time.ts',
    find: 'host.usedMs += clock() - startedMs;',
    replace: 'host.usedMs += 1;',
    tests: [
      {
        file: 'test/security/outbound/outbound-turns.test.ts',
        titles: ['a host whose turns cost sixty times as much'],
      },
    ],
  },
  {
    name: 'outbound: a host saves no time up',
    file: 'src/platform/outbound/turns-by-time.ts',
    find: 'if (host.waiting.length === 0) host.usedMs = Math.max(host.usedMs, servedMs);',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-turns.test.ts',
        titles: ['a host that waited for nothing has saved nothing up'],
      },
    ],
  },
  {
    name: 'outbound: an error after the close of a socket ends nothing',
    file: 'src/platform/outbound/connections.ts',
    find: "for (const event of ['error', 'end', 'readable']) socket.removeAllListeners(event);",
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-sockets.test.ts',
        titles: ['of a socket after its close ends nothing'],
      },
    ],
  },
  {
    name: 'outbound: a request that is lost with the thread counts for nobody',
    file: 'src/platform/outbound/threaded-client.ts',
    find: 'if (isCause && !isDestroyed)',
    replace: 'if (!isDestroyed)',
    tests: [
      {
        file: 'test/security/outbound/outbound-thread.test.ts',
        titles: ['by an error: its requests are postponed'],
      },
    ],
  },
  {
    name: 'outbound: a request that a living thread cannot do is not repeated for ever',
    file: 'src/platform/outbound/threaded-client.ts',
    find: 'ends === endsBefore ||',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-thread.test.ts',
        titles: ['a request that the thread refuses does not repeat for ever'],
      },
    ],
  },
  {
    name: 'jobs: a runner that could not record ends is left',
    file: 'src/platform/queue/runner.ts',
    find: 'await Promise.race([runner.promise, untilShutDown(runner, ended.signal)]);',
    replace: 'await runner.promise;',
    tests: [
      {
        file: 'test/resilience/outside/unrecorded-ends.test.ts',
        titles: ['four failures'],
      },
    ],
  },
  {
    name: 'jobs: the library sees no code of a refused connection',
    file: 'src/platform/queue/runner.ts',
    find: 'pgPool: failingWithoutCodes(pg),',
    replace: 'pgPool: pg,',
    tests: [
      {
        file: 'test/resilience/outside/refused-connections.test.ts',
        titles: ['the queue tries again each second'],
      },
    ],
  },
  {
    name: 'jobs: no process takes others for dead just after an outage',
    file: 'src/platform/queue/runner.ts',
    find: 'if (steadyBeats >= MISSED_HEARTBEATS) await recover();',
    replace: 'await recover();',
    tests: [
      {
        file: 'test/resilience/outside/late-heartbeats.test.ts',
        titles: ['after an outage the first process'],
      },
    ],
  },
  {
    name: 'jobs: a tenant that fails keeps no other one from its work',
    file: 'src/platform/context/each-tenant.ts',
    find: '.catch((error: unknown) => failures.push(error))',
    replace: '',
    tests: [
      {
        file: 'test/modules/webhooks/failure-mails.test.ts',
        titles: ['a tenant whose statements fail keeps no other tenant from being told'],
      },
    ],
  },
  {
    name: 'outbound: no second handshake in a connection',
    file: 'src/platform/outbound/connect.ts',
    find: 'secureOptions: constants.SSL_OP_NO_RENEGOTIATION,',
    replace: '',
    tests: [
      {
        file: 'test/security/outbound/outbound-handshakes.test.ts',
        titles: ['a server that asks for a second handshake'],
      },
    ],
  },
  {
    name: 'failing URLs: nobody is told twice of a stage',
    file: 'src/modules/webhooks/health/tell-queries.ts',
    find: 'and (e.told_since is distinct from e.failing_since or e.told_stage is distinct from s.stage)',
    replace: '',
    tests: [
      { file: 'test/modules/webhooks/failure-mails.test.ts', titles: ['of real failures: once at first'] },
    ],
  },
  {
    name: 'failing URLs: nobody is told if the cause is here',
    file: 'src/modules/webhooks/health/tell-queries.ts',
    find: "and (s.stage <> 'webhook_failing' or state.failing < ${MANY}::int or state.is_any_accepted)",
    replace: '',
    tests: [
      {
        file: 'test/modules/webhooks/failure-mails.test.ts',
        titles: ['tells nobody at first if five couriers fail'],
      },
    ],
  },
  {
    name: 'failing URLs: a mail about a URL that works again is not sent',
    file: 'src/modules/mail/account-mails/send-account-mail.ts',
    find: 'if (isOver(row)) ',
    replace: 'if (false as boolean) ',
    tests: [
      {
        file: 'test/modules/webhooks/failure-mails.test.ts',
        titles: ['sends no queued mail about a URL that works again'],
      },
    ],
  },
  {
    name: 'api calls: calls of unproven keys displace no others',
    file: 'src/modules/api-calls/call-log.ts',
    find: '(isUnproven && unproven >= MAX_UNPROVEN)',
    replace: 'false',
    tests: [{ file: 'test/modules/api-calls/call-log.test.ts', titles: ['the memory is bounded'] }],
  },
  {
    name: 'api calls: successes leave room for failures',
    file: 'src/modules/api-calls/insert-calls.ts',
    find: 'when not o.is_failure then',
    replace: 'when false then',
    tests: [
      { file: 'test/modules/api-calls/call-log.test.ts', titles: ['above 200,000 rows no success is kept'] },
    ],
  },
  {
    name: 'api calls: a flood of failures is sampled',
    file: 'src/modules/api-calls/insert-calls.ts',
    find: ' and random() < ${raw(String(SAMPLED_SHARE))}',
    replace: '',
    tests: [
      {
        file: 'test/modules/api-calls/call-log.test.ts',
        titles: ['above 250,000 rows a sample of the failures is kept'],
      },
    ],
  },
  {
    name: 'api calls: the end of a process writes what it has in memory',
    file: 'src/modules/api-calls/call-log.ts',
    find: 'await writePending(true);',
    replace: '',
    tests: [
      {
        file: 'test/modules/api-calls/call-log.test.ts',
        titles: ['a log that ends writes what it has in memory'],
      },
    ],
  },
  {
    name: 'webhooks: events of other types than packages are stored only if the courier has chosen them',
    file: 'src/modules/webhooks/events/event-queries.ts',
    find: 'n.type = any(k.add_package_events || k.update_package_events)',
    replace: 'true',
    tests: [{ file: PREALERT_EVENTS, titles: ['stores and sends nothing that the courier has not chosen'] }],
  },
  {
    name: 'webhooks: a URL gets only its types',
    file: 'src/modules/webhooks/events/event-queries.ts',
    find: 'and new_events.type = any(u.events)',
    replace: '',
    tests: [{ file: CHOSEN_TYPES, titles: ['an event goes to each URL with its type'] }],
  },
  {
    name: 'webhooks: the event of a pre-alert names no package without a customer',
    file: 'src/modules/webhooks/events/event-queries.ts',
    find: "and p.user_code is not null and n.type in ('prealert.received', 'prealert.claimed')",
    replace: '',
    tests: [{ file: PREALERT_EVENTS, titles: ['does not name the package of its courier'] }],
  },
  {
    name: 'webhooks: events of packages hide the pre-alert with the number',
    file: 'src/modules/webhooks/events/events.ts',
    find: 'userCode === null ? { prealertId: null, reference: null }',
    replace: 'userCode === null ? { prealertId, reference }',
    tests: [{ file: PREALERT_EVENTS, titles: ['hide the pre-alert from the courier'] }],
  },
  {
    name: 'packages: records hide the pre-alert with the number',
    file: 'src/modules/packages/view.ts',
    find: 'const isHidden = caller.courierId !== null && row.userCode === null;',
    replace: 'const isHidden = caller.courierId === null && row.userCode === null;',
    tests: [{ file: PREALERT_EVENTS, titles: ['hide the pre-alert from the courier'] }],
  },
  {
    name: 'webhooks: an event that is not about a package has no flat form',
    file: 'src/modules/webhooks/delivery/bodies.ts',
    find: "filter(({ type }) => type.startsWith('package.'))",
    replace: "filter(({ type }) => type !== 'webhook.test')",
    tests: [{ file: CHOSEN_TYPES, titles: ['is not sent as a package'] }],
  },
  {
    name: 'couriers: a flat URL has only types of packages',
    file: 'src/modules/couriers/shared/profile.ts',
    find: 'if (!isFlat || !hasOthers) return [];',
    replace: 'if (isFlat || !hasOthers) return [];',
    tests: [{ file: CHOSEN_TYPES, titles: ['a flat URL has only types of packages'] }],
  },
  {
    name: 'webhooks: recovery is by URL, because an event can go to both',
    file: 'src/modules/webhooks/log/resend-queries.ts',
    find: 'select d.event_id, null, d.endpoint,',
    replace: "select d.event_id, null, 'update_package',",
    tests: [{ file: CHOSEN_TYPES, titles: ['recover_since sends what a URL has missed of its types'] }],
  },
  {
    name: 'packages: a dispatch needs a URL with package.updated',
    file: 'src/modules/packages/dispatch/queue-syncs.ts',
    find: "and 'package.updated' = any(u.events)",
    replace: '',
    tests: [{ file: CHOSEN_TYPES, titles: ['is refused without one'] }],
  },
  {
    name: 'bills: an overdue bill is reported once',
    file: 'src/modules/bills/payment-terms/report-overdue.ts',
    find: 'and b.overdue_at is null',
    replace: '',
    tests: [{ file: BILL_EVENTS, titles: ['an overdue bill is reported once'] }],
  },
  {
    name: 'bills: a bill that is paid in part is not reported as paid',
    file: 'src/modules/bills/payments/payment.ts',
    find: "if (row.status === 'paid') await emitBillEvents",
    replace: 'await emitBillEvents',
    tests: [{ file: BILL_EVENTS, titles: ['its publication and its last payment send the bill'] }],
  },
  {
    name: 'bills: a voided payment that had not settled the bill is not reported',
    file: 'src/modules/bills/payments/payment.ts',
    find: "if (bill.status === 'paid' && row.status !== 'paid') await emitBillEvents",
    replace: 'await emitBillEvents',
    tests: [{ file: BILL_EVENTS, titles: ['a voided payment reopens a paid bill once'] }],
  },
  {
    name: 'manifests: the event of a courier has its own packages only',
    file: 'src/modules/manifests/lifecycle/manifest-events.ts',
    find: 'viewManifest({ ...manifest, status }, own)',
    replace: 'viewManifest({ ...manifest, status }, aboard)',
    tests: [{ file: MANIFEST_EVENTS, titles: ['each courier aboard gets its own packages'] }],
  },
  {
    name: 'manifests: an event names a bounded number of packages',
    file: 'src/modules/manifests/lifecycle/manifest-events.ts',
    find: 'own.slice(0, MAX_NAMED)',
    replace: 'own',
    tests: [{ file: MANIFEST_EVENTS, titles: ['names at most 1,000 packages'] }],
  },
  {
    name: 'webhooks: a token reads events only with the scope of their content',
    file: 'src/modules/couriers/shared/event-types.ts',
    find: "if (caller.kind !== 'token') return undefined;",
    replace: "if (caller.tenantId !== '') return undefined;",
    tests: [{ file: CHOSEN_SCOPES, titles: ['reads only events whose content its scopes show'] }],
  },
  {
    name: 'webhooks: the feed of a token has only what its scopes show',
    file: 'src/modules/webhooks/events/feed-queries.ts',
    find: "readableTypes(ctx, 'e'))}",
    replace: 'undefined)}',
    tests: [{ file: CHOSEN_SCOPES, titles: ['reads only events whose content its scopes show'] }],
  },
  {
    name: 'webhooks: the range of the feed of a token ends with its own last event',
    file: 'src/modules/webhooks/events/feed-queries.ts',
    find: "const readable = readableTypes(ctx, 'e');",
    replace: 'const readable: Sql | undefined = (void readableTypes, undefined);',
    tests: [{ file: CHOSEN_SCOPES, titles: ['its range ends with its own last event'] }],
  },
  {
    name: 'webhooks: the range of the feed of a token survives the deletion of its last event',
    file: 'src/modules/webhooks/events/feed-queries.ts',
    find: 'coalesce(newest, oldest - 1, k.last_sequence, 0)',
    replace: 'coalesce(newest, 0)',
    tests: [{ file: CHOSEN_SCOPES, titles: ['goes on behind its last event when that is deleted'] }],
  },
  {
    name: 'webhooks: the log of a token has only what its scopes show',
    file: 'src/modules/webhooks/log/queries.ts',
    find: '    ofReadableEvent(ctx),\n    // A courier',
    replace: '    // A courier',
    tests: [{ file: CHOSEN_SCOPES, titles: ['reads only events whose content its scopes show'] }],
  },
  {
    name: 'webhooks: a token reads no delivery of an event that it may not read',
    file: 'src/modules/webhooks/log/queries.ts',
    find: 'sql`d.id = ${id}::uuid`, ofReadableEvent(ctx)',
    replace: 'sql`d.id = ${id}::uuid`',
    tests: [{ file: CHOSEN_SCOPES, titles: ['reads only events whose content its scopes show'] }],
  },
  {
    name: 'webhooks: a token resends no delivery of an event that it may not read',
    file: 'src/modules/webhooks/log/resend-queries.ts',
    find: 'sql`d.id = ${id}::uuid`, ofReadableEvent(ctx)',
    replace: 'sql`d.id = ${id}::uuid`, (void ofReadableEvent, undefined)',
    tests: [{ file: CHOSEN_SCOPES, titles: ['sends only these again'] }],
  },
  {
    name: 'webhooks: a token counts and resends only what its scopes show',
    file: 'src/modules/webhooks/log/redeliver-queries.ts',
    find: '    ofReadableEvent(ctx),\n',
    replace: '    (void ofReadableEvent, undefined),\n',
    tests: [{ file: CHOSEN_SCOPES, titles: ['sends only these again'] }],
  },
  {
    name: 'webhooks: a token recovers only what its scopes show',
    file: 'src/modules/webhooks/log/resend-queries.ts',
    find: "readableTypes(ctx, 'e'),",
    replace: 'undefined,',
    tests: [{ file: CHOSEN_SCOPES, titles: ['sends only these again'] }],
  },
  {
    name: 'webhooks: a token chooses only types that it may read',
    file: 'src/modules/couriers/settings/update-settings.ts',
    find: 'await assertMaySend(tx, change);',
    replace: 'void assertMaySend;',
    tests: [{ file: CHOSEN_SCOPES, titles: ['a token that changes the lists'] }],
  },
  {
    name: 'webhooks: a token names no other URL for types that it may not read',
    file: 'src/modules/couriers/settings/redirection.ts',
    find: 'if (hasNewUrl) return',
    replace: 'if (hasNewUrl && after === before) return',
    tests: [{ file: CHOSEN_SCOPES, titles: ['moves it to no other URL'] }],
  },
  {
    name: 'webhooks: the owners are told which events are sent',
    file: 'src/modules/couriers/settings/redirection.ts',
    find: "[...URLS, ...LISTS, 'email' as const]",
    replace: "[...URLS, 'email' as const, ...LISTS.slice(2)]",
    tests: [{ file: REDIRECTION, titles: ['its owners and its old address are told'] }],
  },
  {
    name: 'webhooks: the report of overdue bills goes on with the next tenant',
    file: 'src/platform/context/each-tenant.ts',
    find: '.catch((error: unknown) => failures.push(error))',
    replace: '',
    tests: [{ file: BILL_EVENTS, titles: ['does not keep'] }],
  },
];
