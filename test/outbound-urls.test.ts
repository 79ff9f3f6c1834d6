import { describe, expect, test } from '@jest/globals';
import { isLoopbackAddress, isPublicAddress } from '../src/outbound/addresses.js';
import { faultOfUrl } from '../src/outbound/urls.js';

const STRICT = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

const LOOPBACK_AND_HTTP = [
  'http://api.example.com/hook',
  'http://localhost/hook',
  'http://localhost:8080',
  'https://localhost/hook',
  'https://LOCALHOST/hook',
  'http://127.0.0.1:9000/hook',
  'https://127.0.0.1/',
  'https://127.255.255.254/',
  'http://[::1]:9000/',
  'https://[::ffff:7f00:1]/',
];

const HOSTILE: Record<string, string[]> = {
  'not https': [
    'ftp://example.com/',
    'file:///etc/passwd',
    'file://example.com/etc/passwd',
    'javascript:alert(1)',
    'javascript://example.com/%0aalert(1)',
    'data:text/html,x',
    'gopher://example.com:6379/_x',
    'ws://example.com/',
    'wss://example.com/',
    'blob:https://example.com/x',
    'mailto:x@example.com',
    'dict://example.com/',
    'ldap://example.com/',
    'view-source:https://example.com/',
    'HTTPS:example.com',
    'https:example.com/',
    'https:/example.com/',
    'https:///example.com/',
    'https:////example.com/',
    '//example.com/',
    '/hook',
    'example.com/hook',
    'example.com:443/hook',
    'hook',
    '?x',
    '#x',
  ],
  'without a host': [
    'https://',
    'https:///',
    'https://?x',
    'https://#x',
    'https://:443/',
    'https://./',
    'https://../',
    'https://.com/',
  ],
  'characters that readers take apart differently': [
    ' https://example.com/',
    'https://example.com/ ',
    'https://example.com/a b',
    'https://exam ple.com/',
    'https://example.com/\r\nHost: localhost',
    'https://example.com\r\n',
    'https://example.com/\n',
    'https://example.com/\t',
    'https://exa\tmple.com/',
    'https://example.com\\@localhost/',
    'https://localhost\\.example.com/',
    'https:\\\\example.com\\',
    'https://example.com/<script>',
    'https://example.com/"x"',
    'https://example.com/{x}',
    'https://example.com/`x`',
    'https://example.com/|x',
    'https://example.com/^x',
    'https://example.com/\u0000',
    'https://example.com/\u007f',
    'https://ex\u00e4mple.com/',
    'https://example\u3002com/',
    'https://127\u30020\u30020\u30021/',
    'https://\u2460\u2461\u2466.0.0.1/',
    'https://loc\u00adalhost/',
    'https://\u202elocalhost/',
    'https://example.com/\ud83d\ude00',
  ],
  'user names and passwords': [
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://:pass@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com@127.0.0.1/',
    'https://example.com:443@localhost/',
    'https://a@b@example.com/',
    'https://user%40example.com@localhost/',
  ],
  fragments: ['https://example.com/#x', 'https://example.com/#', 'https://example.com/a?b#c'],
  'private IPv4 addresses': [
    'https://10.0.0.1/',
    'https://10.255.255.255/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://169.254.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://169.254.170.2/',
    'https://100.64.0.1/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://0.0.0.0/',
    'https://0.1.2.3/',
    'https://192.0.0.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://239.255.255.250/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://10.0.0.1:8443/x',
  ],
  'numbers written in unusual ways, whatever they mean': [
    'https://2130706433/',
    'https://017700000001/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0177.0.0.01/',
    'https://127.1/',
    'https://127.0.1/',
    'https://127.0.0.1./',
    'https://127.000.000.001/',
    'https://0/',
    'https://0x0/',
    'https://1/',
    'https://134744072/',
    'https://0x08080808/',
    'https://8.8.2056/',
    'https://3232235777/',
    'https://0xA9FEA9FE/',
    'https://0xa9.0xfe.0xa9.0xfe/',
    'https://0251.0376.0251.0376/',
    'https://425.510.425.510/',
    'https://256.256.256.256/',
    'https://99999999999/',
    'https://127.0.0.1.1/',
    'https://%31%32%37.0.0.1/',
    'https://%6cocalhost/',
    'https://127%2e0%2e0%2e1/',
  ],
  'IPv6 addresses that are not public': [
    'https://[::]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::127.0.0.1]/',
    'https://[::7f00:1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[::ffff:0:a00:1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://[fec0::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[100::1]/',
    'https://[::1',
    'https://::1/',
    'https://[x]/',
  ],
  'names that are not public': [
    'https://localhost./',
    'https://foo.localhost/',
    'https://localhost.localdomain/',
    'https://intranet/',
    'https://metadata/',
    'https://metadata.google.internal/',
    'https://METADATA.GOOGLE.INTERNAL./computeMetadata/v1/',
    'https://router.home/',
    'https://printer.local/',
    'https://db.corp/',
    'https://nas.lan/',
    'https://x.home.arpa/',
    'https://x.invalid/',
    'https://x.onion/',
    'https://com/',
    'https://com./',
    'https://a..example.com/',
    'https://example.com../',
    'https://-a.example.com/',
    'https://a-.example.com/',
    'https://a_b.example.com/',
    'https://*.example.com/',
    `https://${'a'.repeat(64)}.example.com/`,
    `https://${'a.'.repeat(130)}com/`,
  ],
  ports: [
    'https://example.com:0/',
    'https://example.com:65536/',
    'https://example.com:x/',
    'https://example.com:-1/',
  ],
};

test('there are more than a hundred hostile URLs', () => {
  expect(Object.values(HOSTILE).flat().length).toBeGreaterThan(150);
});

describe('refused, in development too', () => {
  test.each(Object.entries(HOSTILE))('%s', (_why, urls) => {
    const passed = urls.filter((url) => !faultOfUrl(url, STRICT) || !faultOfUrl(url, DEVELOPMENT));
    // of this machine, which development may be told to allow
    expect(passed.filter((url) => faultOfUrl(url, STRICT) === undefined)).toEqual([]);
    expect(passed).toEqual([]);
  });

  test('what is wrong is told in words that follow the name of the field', () => {
    expect(faultOfUrl('ftp://example.com/', STRICT)).toBe('must be an absolute https URL');
    expect(faultOfUrl('https://10.0.0.1/', STRICT)).toBe('must not point into a private network');
    expect(faultOfUrl('https://2130706433/', STRICT)).toBe('must write its host the usual way');
    expect(faultOfUrl('https://u@example.com/', STRICT)).toBe('must not hold a user name or a password');
  });
});

test.each(LOOPBACK_AND_HTTP)('%s passes only where loopback is allowed', (url) => {
  expect(faultOfUrl(url, STRICT)).toBeDefined();
  expect(faultOfUrl(url, DEVELOPMENT)).toBeUndefined();
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
])('%s passes', (url) => {
  expect(faultOfUrl(url, STRICT)).toBeUndefined();
});

describe('addresses, as a resolver answers them', () => {
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
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.1.1',
    '::',
    '0.0.0.0',
    'fe80::1%eth0',
    '',
    'x',
    '1',
    '0x7f.1',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('loopback is told from private', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(isLoopbackAddress)).toEqual(
      Array(4).fill(true),
    );
    expect(['10.0.0.1', '0.0.0.0', '::', '8.8.8.8', ''].map(isLoopbackAddress)).toEqual(Array(5).fill(false));
  });
});
