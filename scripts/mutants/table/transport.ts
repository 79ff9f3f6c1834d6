import type { SourceMutant } from '../mutant.js';

/** Guards of requests as they come in, and of requests that go out. */
export const TRANSPORT: readonly SourceMutant[] = [
  {
    name: 'http: a plain request is refused where HTTPS is required',
    file: 'src/platform/http/https-only.ts',
    find: "throw new ApiError('https_required');",
    replace: 'return;',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['a plain request is refused before its credential'],
      },
    ],
  },
  {
    name: 'http: a request names one host',
    file: 'src/platform/http/server.ts',
    find: 'assertOneHost(request.raw);',
    replace: '',
    tests: [{ file: 'test/security/transport/raw-sockets.test.ts', titles: ['what is HTTP, but unusual'] }],
  },
  {
    name: 'http: a host of nobody’s is refused',
    file: 'src/platform/http/tenant-by-host.ts',
    find: "if (!tenantId) throw new ApiError('unknown_host');\n      return tenantId;",
    replace: "return tenantId ?? '';",
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['an installation with one tenant answers on any host'],
      },
    ],
  },
  {
    name: 'http: a declared body beyond the limit is refused unread',
    file: 'src/platform/http/guard.ts',
    find: 'if (mediaType !== MULTIPART && length > bodyBytesOf(operation)) throw bodyTooLarge(operation);',
    replace: '',
    tests: [{ file: 'test/security/transport/body-kinds.test.ts', titles: ['that declares 100 MiB is 413'] }],
  },
  {
    name: 'http: a content type is put in the spelling that picks the schema',
    file: 'src/platform/http/guard.ts',
    find: "if (mediaType !== MULTIPART) headers['content-type'] = mediaType;",
    replace: '',
    tests: [
      { file: 'test/security/transport/body-kinds.test.ts', titles: ['is handled as JSON, where a form'] },
    ],
  },
  {
    name: 'http: a compressed body is refused',
    file: 'src/platform/http/guard.ts',
    find: ' || !isPlain) {',
    replace: ') {',
    tests: [{ file: 'test/security/transport/transport.test.ts', titles: ['Content-Encoding'] }],
  },
  {
    name: 'text: NUL and lone surrogates are refused',
    file: 'src/platform/http/bodies/text.ts',
    find: "!text.includes('\\0') && text.isWellFormed()",
    replace: 'text !== undefined',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['text that PostgreSQL could not store as sent'],
      },
    ],
  },
  {
    name: 'text: bytes that are not UTF-8 are refused',
    file: 'src/platform/http/bodies/text.ts',
    find: "new TextDecoder('utf-8', { fatal: true })",
    replace: "new TextDecoder('utf-8')",
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['text that PostgreSQL could not store as sent'],
      },
    ],
  },
  {
    name: 'text: __proto__ in a body is refused',
    file: 'src/platform/http/bodies/text.ts',
    find: "{ protoAction: 'error', constructorAction: 'error' }",
    replace: "{ protoAction: 'ignore', constructorAction: 'ignore' }",
    tests: [
      { file: 'test/security/transport/transport.test.ts', titles: ['is refused, and no prototype changes'] },
    ],
  },
  {
    name: 'text: a body nested deeper than any of the contract is refused',
    file: 'src/platform/http/bodies/json-shape.ts',
    find: 'if (depth > MAX_DEPTH)',
    replace: 'if (depth > 1e9)',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['bodies that no reader survives by luck'],
      },
    ],
  },
  {
    name: 'validation: a JSON body is not coerced',
    file: 'src/platform/contract/validator.ts',
    find: '    useDefaults: true,',
    replace: '    useDefaults: true,\n    coerceTypes: true,',
    tests: [
      { file: 'test/security/bad-input.test.ts', titles: ['createManifest > each field with each value'] },
    ],
  },
  {
    name: 'idempotency: a key of another request is refused',
    file: 'src/platform/idempotency/idempotent-request.ts',
    find: "if (kept.request_hash !== key.requestHash) throw new ApiError('idempotency_key_reused');",
    replace: '',
    tests: [{ file: 'test/resilience/idempotency.test.ts', titles: ['not one to another operation'] }],
  },
  {
    name: 'idempotency: the second of two requests at once does not work',
    file: 'src/platform/idempotency/idempotent-request.ts',
    find: "if (locked?.[0]?.['is_held'] !== true)",
    replace: 'if (!locked)',
    tests: [
      { file: 'test/resilience/idempotency.test.ts', titles: ['a request that waits for nothing else'] },
    ],
  },
  {
    name: 'idempotency: a key is its own caller’s',
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
        titles: ['whatever the name resolves to', 'even if the URL had passed'],
      },
    ],
  },
  {
    name: 'outbound: every address of a name must be public',
    file: 'src/platform/outbound/connect.ts',
    find: 'if (!addresses.every(isAllowed))',
    replace: 'if (!addresses.some(isAllowed))',
    tests: [
      { file: 'test/security/outbound/outbound-targets.test.ts', titles: ['whatever the name resolves to'] },
    ],
  },
  {
    name: 'outbound: the connection goes to the address that was checked',
    file: 'src/platform/outbound/connect.ts',
    find: 'const socket = await reachOne(addresses, target.port, signal, gate);',
    replace: 'const socket = await reachOne(await addressesOf(target.hostname), target.port, signal, gate);',
    tests: [
      {
        file: 'test/security/outbound/outbound-targets.test.ts',
        titles: ['between the check and the connection'],
      },
    ],
  },
  {
    name: 'outbound: platform addresses that look public are refused',
    file: 'src/platform/outbound/addresses.ts',
    find: 'if (PLATFORM_ADDRESSES.has(parsed.toString())) return false;',
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-urls.test.ts' }],
  },
  {
    name: 'outbound: an IPv6 address is of the range that is given out',
    file: 'src/platform/outbound/addresses.ts',
    find: "return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1;",
    replace: 'return true;',
    tests: [{ file: 'test/security/outbound/outbound-urls.test.ts' }],
  },
  {
    name: 'outbound: a certificate must be that of the name',
    file: 'src/platform/outbound/connect.ts',
    find: 'rejectUnauthorized: true,',
    replace: 'rejectUnauthorized: false,',
    tests: [{ file: 'test/security/outbound/outbound-connect.test.ts', titles: ['TLS'] }],
  },
  {
    name: 'outbound: a header cannot begin another',
    file: 'src/platform/outbound/client.ts',
    find: "if (headerFault) return { outcome: 'unreachable', error: headerFault };",
    replace: '',
    tests: [{ file: 'test/security/outbound/outbound-client.test.ts', titles: ['what is sent'] }],
  },
  {
    name: 'outbound: an answer is read up to its limit',
    file: 'src/platform/outbound/exchange.ts',
    find: 'const kept = Math.min(chunk.length, maxBytes - size);',
    replace: 'const kept = chunk.length;',
    tests: [{ file: 'test/security/outbound/outbound-client.test.ts', titles: ['what comes back'] }],
  },
  {
    name: 'webhooks: the signature covers the body',
    file: 'src/modules/webhooks/delivery/sign.ts',
    find: 'new Webhook(secret).sign(id, sentAt, body)',
    replace: "new Webhook(secret).sign(id, sentAt, '')",
    tests: [
      {
        file: 'test/modules/webhooks/webhooks.test.ts',
        titles: ['a received package: signed as the public library verifies'],
      },
    ],
  },
  {
    name: 'webhooks: an old secret signs for a day and no longer',
    file: 'src/modules/couriers/settings/webhook-secret.ts',
    find: '...(previous !== null && isOverlapping ?',
    replace: '...(previous !== null ?',
    tests: [
      { file: 'test/modules/webhooks/webhooks.test.ts', titles: ['for a day after its secret was rotated'] },
    ],
  },
];
