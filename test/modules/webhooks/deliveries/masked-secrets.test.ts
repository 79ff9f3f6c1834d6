import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { chooseExchanges } from '../../../../src/modules/webhooks/exchanges/exchange-budget.js';
import { readExchange } from '../../../../src/modules/webhooks/exchanges/exchange.js';
import { makeMask } from '../../../../src/modules/webhooks/exchanges/mask-secrets.js';

/** With each character that some encoding escapes. */
const TOKEN = `pa/ss"wo'rd&<k>+=\\~{9}%41`;
const KEPT = 16_384;

const masked = (text: string, secrets = [TOKEN]) => makeMask(secrets)(text, KEPT).text;

const hex = (text: string) => [...text].map((each) => each.charCodeAt(0).toString(16).padStart(2, '0'));
const inPercent = (text: string) =>
  hex(text)
    .map((code) => `%${code}`)
    .join('');
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
const basic = (user: string) => Buffer.from(`${user}:${TOKEN}`).toString('base64');

describe('a secret is masked', () => {
  test.each([
    ['as it is', TOKEN],
    ['in a URL', encodeURIComponent(TOKEN)],
    ['in a form', new URLSearchParams({ token: TOKEN }).toString().slice('token='.length)],
    ['in a URL, in lower case', encodeURIComponent(TOKEN).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['in a URL, each character escaped in upper case', inPercent(TOKEN).toUpperCase()],
    ['in a URL, each character escaped in lower case', inPercent(TOKEN)],
    ['in a URL of a URL', encodeURIComponent(encodeURIComponent(TOKEN))],
    ['in JSON', inJson(TOKEN)],
    ['in JSON of PHP', inJson(TOKEN).replaceAll('/', '\\/')],
    [
      'in JSON of Go',
      inJson(TOKEN).replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e'),
    ],
    [
      'in JSON of .NET',
      inJson(TOKEN)
        .replaceAll('\\"', '\\u0022')
        .replaceAll('+', '\\u002B')
        .replaceAll('<', '\\u003C')
        .replaceAll("'", '\\u0027'),
    ],
    ['in JSON in a string of JSON', inJson(inJson(TOKEN))],
    [
      'in a string of JavaScript',
      TOKEN.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('<', '\\x3c'),
    ],
    ['in HTML', inHtml(TOKEN)],
    [
      'in HTML with numbers',
      hex(TOKEN)
        .map((code) => `&#x${code};`)
        .join(''),
    ],
    [
      'in HTML with numbers in upper case',
      hex(TOKEN)
        .map((code) => `&#X${code.toUpperCase()};`)
        .join(''),
    ],
    ['in HTML with decimal numbers', [...TOKEN].map((each) => `&#${each.charCodeAt(0)};`).join('')],
    ['in JSON in HTML', inHtml(inJson(TOKEN))],
    ['in JSON in a URL', encodeURIComponent(inJson(TOKEN))],
  ])('%s', (_name, spelling) => {
    expect(masked(`You sent "${spelling}".`)).toBe('You sent "***".');
  });

  test('in a header of basic authentication, decoded and encoded, whatever the user name', () => {
    for (const user of ['u', 'us', 'use', 'user'])
      for (const [encoded, after] of [
        [basic(user), ''],
        [basic(user).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''), ''],
        [Buffer.from(`${user}:${TOKEN}@host`).toString('base64'), '@host'],
      ] as const) {
        const text = masked(`Basic ${encoded}`);
        expect(text).toContain('***');
        // Neither side has a bit of the token.
        const [before = '', rest = ''] = text.slice('Basic '.length).split('***');
        expect(`${user}:`.startsWith(Buffer.from(before, 'base64').toString('latin1'))).toBe(true);
        expect(rest.length).toBeLessThanOrEqual(Math.ceil((after.length * 8) / 6) + 2);
      }
    expect(masked(`user:${TOKEN}`)).toBe('user:***');
  });

  test('together with adjacent ones, and the longer one of two that begin alike', () => {
    expect(masked('x'.repeat(4_000), ['xxxx'])).toBe('***');
    expect(masked('-abcdef-abcd-abcdefabcd-', ['abcd', 'abcdef'])).toBe('-***-***-***-');
  });
});

test('a text without a secret, and a token of fewer than four characters, are left as they are', () => {
  const text = 'Error &amp; 100%25 \\u0041 "***" ******';
  expect(masked(text)).toBe(text);
  expect(masked('a banana', ['a'])).toBe('a banana');
  expect(masked('a banana', ['anan'])).toBe('a b***a');
});

const sent = { url: 'https://partner.example/', headers: {}, body: '' };
const answered = (body: string, isCut = false) =>
  ({ outcome: 'answered', status: 500, headers: {}, body: Buffer.from(body), isCut, durationMs: 1 }) as never;
const bodyOf = (body: string, secrets: string[], isCut = false) =>
  readExchange(sent, answered(body, isCut), makeMask(secrets)).response_body ?? '';

test('no part of a secret is kept where the text is cut', () => {
  const secret = 'S3CR-E7TO-KEN4';
  const kept = [];
  // Masks make the text shorter, so that what follows them is within the first 16 KiB.
  for (const [count, isCut] of [
    [0, false],
    [900, false],
    [1_500, false],
    [900, true],
  ] as const)
    for (let at = 0; at < 3 * secret.length; at += 1) {
      const start = `${secret} `.repeat(count);
      const text = start + '.'.repeat(Math.max(0, KEPT - start.length) + at) + secret.repeat(20);
      const body = bodyOf(isCut ? text.slice(0, KEPT + at) : text, [secret], isCut);
      kept.push([count, at, body.replaceAll('***', '').replaceAll(/[. ]/g, '')]);
    }
  expect(kept.filter(([, , rest]) => rest !== '')).toEqual([]);
});

test('other work goes on while many exchanges are masked', async () => {
  let turn = 0;
  const turnsOfExchanges = new Set<number>();
  const ended = Array.from({ length: 20 }, (_, number) => ({
    result: { delivery_id: 'd', number, is_test: false, outcome: 'rejected' },
    exchange: () => {
      turnsOfExchanges.add(turn);
      // Longer than a turn may be.
      const endMs = performance.now() + 5;
      while (performance.now() < endMs);
      return readExchange(sent, answered('no'), makeMask([TOKEN]));
    },
  }));
  const over = new AbortController();
  const counting = (async () => {
    for (; !over.signal.aborted; turn += 1) await nextTurn();
  })();
  const { kept } = await chooseExchanges(ended, { usedBytes: 0, hasFailure: false });
  over.abort();
  await counting;
  expect(kept).toHaveLength(20);
  expect(turnsOfExchanges.size).toBe(20);
});

test('an exchange takes no longer with a short token that the receiver repeats than without', () => {
  const timeOf = (token: string) => {
    const times = Array.from({ length: 7 }, () => {
      const startedMs = performance.now();
      for (let n = 0; n < 20; n += 1) bodyOf('a'.repeat(65_536), [token]);
      return performance.now() - startedMs;
    });
    return Math.min(...times);
  };
  expect(timeOf('a')).toBeLessThan(4 * timeOf('b'));
});
