import { describe, expect, test } from '@jest/globals';
import { isLoopbackAddress, isPublicAddress } from '../../../src/platform/outbound/addresses.js';
import { validateUrl } from '../../../src/platform/outbound/urls.js';
import { HOSTILE, LOOPBACK_AND_HTTP, NOT_PUBLIC } from '../../support/attacks/hostile-urls.js';

const STRICT = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

test('the list contains more than 250 hostile URLs', () => {
  expect(new Set(Object.values(HOSTILE).flat()).size).toBeGreaterThan(250);
});

describe('hostile URLs', () => {
  test.each(Object.entries(HOSTILE))('%s are rejected, in development too', (_why, urls) => {
    const accepted = urls.filter((url) => !validateUrl(url, STRICT) || !validateUrl(url, DEVELOPMENT));
    // loopback URLs, which development allows
    expect(accepted.filter((url) => validateUrl(url, STRICT) === undefined)).toEqual([]);
    expect(accepted).toEqual([]);
  });

  test('names the problem of errors.yaml that a URL has', () => {
    expect(validateUrl('ftp://example.com/', STRICT)).toEqual(['url_scheme']);
    expect(validateUrl('hooks.example.com/crossdock', STRICT)).toEqual(['url_scheme']);
    expect(validateUrl('www.example.com', STRICT)).toEqual(['url_scheme']);
    expect(validateUrl('https://exämple.com/', STRICT)).toEqual(['url_ascii']);
    expect(validateUrl('https://10.0.0.1/', STRICT)).toEqual(['url_private']);
    expect(validateUrl('https://2130706433/', STRICT)).toEqual(['url_host']);
    expect(validateUrl('https://u@example.com/', STRICT)).toEqual(['url_credentials']);
  });
});

test.each(LOOPBACK_AND_HTTP)('%s is accepted only if loopback is allowed', (url) => {
  expect(validateUrl(url, STRICT)).toEqual([expect.stringMatching(/^url_/)]);
  expect(validateUrl(url, DEVELOPMENT)).toBeUndefined();
});

test.each([
  'https://example.com',
  'https://example.com/',
  'https://EXAMPLE.com/Hook',
  'HTTPS://api.island-express.example/crossdock/packages',
  'https://api.example.com:8443/hooks/a%20b?token=x&y=%23',
  'https://api.example.com:/hook',
  'https://example.com./hook',
  'https://xn--mller-kva.example.com/',
  'https://a.b.c.d.e.example.co.jm/',
  'https://123.example.com/',
  'https://8.8.8.8/hook',
  'https://[2606:4700:4700::1111]/hook',
  'https://example.com/it%27s?x=(1)',
  "https://example.com/~a/$b;c,d:e!f'g*",
])('%s is accepted', (url) => {
  expect(validateUrl(url, STRICT)).toBeUndefined();
});

describe('resolved addresses', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '172.15.255.255',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    ...NOT_PUBLIC,
    ...['::8.8.8.8', '::808:808', '64:ff9b::8.8.8.8', '::ffff:0:8.8.8.8', '2002:808:808::'],
    ...['fe80::1%eth0', '', 'x', '1', '0x7f.1'],
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('loopback addresses are distinguished from private ones', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(isLoopbackAddress)).toEqual(
      Array(4).fill(true),
    );
    const others = ['10.0.0.1', '0.0.0.0', '::', '::127.0.0.1', '::7f00:1', '8.8.8.8', ''];
    expect(others.filter(isLoopbackAddress)).toEqual([]);
  });
});
