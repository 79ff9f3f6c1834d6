import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { toMime } from '../../../../src/platform/mail/mime.js';
import { sendManifestMail } from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { mailsOf, makeManifest, makePackages, move } from '../../../support/receivers/mails.js';
import { headerOf, parseMail, type ParsedMail } from '../../../support/receivers/mime.js';
import { type Page } from '../../../support/readers/page.js';
import { matching } from '../../../support/assertions/matching.js';
import { HOSTILE, CONTROLS } from './hostile-names.js';
import { HTML, TEXT, withReadMails } from './read-mails.js';

const { IEX } = DEMO.couriers;
const [SOURCE] = DEMO.packages.available.IEX;

const { service, ses, room, mailOf, sendLast, pageOf, set } = withReadMails();

describe('texts in mails', () => {
  test('42 hostile user codes and 11 with control characters appear as text in HTML and as single lines in plain text', async () => {
    const codes = [...HOSTILE.map((name): [string, string] => [name, name]), ...CONTROLS];
    const packages = await makePackages(
      service(),
      SOURCE,
      codes.map(([code], n) => ({ user_code: `U ${code}`, house_number: `ODD-${n}` })),
    );
    const { mail } = await mailOf(packages, 'ready');
    const page = await pageOf(mail);
    const shown = codes.map(([, arrives]) => asShown(`U ${arrives}`));
    expect(page.rows.map(([, , code]) => code)).toEqual(shown);
    const lines = (mail.parts[TEXT] ?? '').split('\r\n').filter((line) => line.startsWith('ISO'));
    expect(lines.map((line) => line.replace(/^.*? lb +/, ''))).toEqual(shown);
    expectOnlyTemplateMarkup(mail, page);
  });

  test('escapes numbers, flights, and the names of warehouse and tenant', async () => {
    for (const text of ['<b>x</b>"\'&', '\u202e<i onclick=x>', '</title><script>1</script>']) {
      const shown = text.replace('\u202e', '');
      const odd = {
        tracking_number: `T${text}`,
        house_number: `H${text}`,
        user_code: `U${text}`,
        last_name: text,
      };
      const id = await makeManifest(service(), await makePackages(service(), SOURCE, [odd]));
      await set('manifests', id, { awb_number: text, flight_number: text });
      await set('tenants', DEMO.tenants.demo, { name: text });
      await set('warehouses', DEMO.warehouses.primary, { name: text });
      await move(service(), id, 'ready');
      await set('manifest_mails', (await mailsOf(service(), id))[0]?.id ?? '', {
        manifest_number: `M${text}`,
      });
      const mail = await sendLast(id);
      const page = await pageOf(mail);
      expect(page.facts.map(([, value]) => value)).toEqual(
        expect.arrayContaining([shown, shown, shown, expect.stringContaining('lb')]),
      );
      expect(page.rows[0]?.slice(0, 2)).toEqual([`T${shown}`, `H${shown}`]);
      const headline = `Manifest M${shown} is ready to ship`;
      expect(page.titles).toEqual([headline, headline]);
      expectOnlyTemplateMarkup(mail, page);
    }
  });
});

/** A code of up to 40 characters is shown, without links. Of a longer one there are 12 characters. */
function asShown(code: string): string {
  const characters = Array.from(code);
  const short = characters.length > 40 ? `${characters.slice(0, 12).join('')}…` : code;
  return short.replaceAll(/\.(?=\p{L})|:\/\/(?=\S)/gu, '$& ');
}

const BREAKS = ['\r\n', '\n', '\r', '\r\n\r\n', '\u2028', '\u0085', '\u000b\n'];
const HEADERS = ['Bcc: x@evil.example', 'Subject: Pay', 'Content-Type: text/html', '.'];

describe('mail headers', () => {
  test('28 line breaks and 5 address characters in a name add no header', async () => {
    const breaks = BREAKS.flatMap((end) => HEADERS.map((header) => `Ann${end}${header}`));
    const quoting = [
      '"Ann" <x@evil.example>',
      'Ann <x@evil.example>,',
      'Ann\\" <x@evil.example>',
      'a@b.example, c@d.example',
      '<>;:',
    ];
    const ways = [...breaks, ...quoting];
    expect(ways).toHaveLength(33);
    for (const name of ways) {
      await set('tenants', DEMO.tenants.demo, { name });
      const id = await makeManifest(service(), await makePackages(service(), SOURCE, [{}]));
      await move(service(), id, 'ready');
      await set('manifest_mails', (await mailsOf(service(), id))[0]?.id ?? '', { manifest_number: name });
      const mail = await sendLast(id);
      expect(mail.headers.map(([header]) => header).sort()).toEqual(
        [
          'auto-submitted',
          'content-type',
          'date',
          'from',
          'message-id',
          'mime-version',
          'subject',
          'to',
        ].sort(),
      );
      // One mailbox per header: the name is quoted, encoded or free of separators.
      const mailboxes = mail.encodedHeaders.filter(([header]) => header === 'to' || header === 'from');
      for (const [, value] of mailboxes)
        expect(value).toMatch(
          /^(?:"(?:\\[!-~ ]|[^"\\])*"|[^<>",;:@()\\]+) <(?:mail@iex|notices@crossdock)\.example>$/,
        );
      expect(ses.accepted.at(-1)?.destinations).toEqual(['mail@iex.example']);
      expect(ses.accepted.at(-1)?.source).toBe('notices@crossdock.example');
    }
  });

  test('texts that were not sanitised stay on one line of one header', async () => {
    for (const text of BREAKS.flatMap((end) => HEADERS.map((header) => `Ann${end}${header}`))) {
      const message = { id: 'm-1', subject: text, senderName: text, text: 't', html: 'h', date: new Date() };
      const bytes = await toMime(
        { ...message, recipient: { name: text, address: 'mail@iex.example' } },
        'notices@crossdock.example',
      );
      const mail = parseMail(bytes);
      expect(mail.headers).toHaveLength(8);
      const line = `Ann ${text.split(/[\p{Cc}\u2028]+/u)[1]}`;
      expect(headerOf(mail, 'subject')).toBe(line);
      expect(headerOf(mail, 'to').replaceAll('"', '')).toBe(`${line} <mail@iex.example>`);
      expect(headerOf(mail, 'from').replaceAll('"', '')).toBe(`${line} <notices@crossdock.example>`);
    }
  });

  test('sends no mail to 20 addresses that are invalid or more than one', async () => {
    const addresses = [
      'x@y.example\r\nBcc: z@evil.example',
      'x@y.example\nTo: z@evil.example',
      'x@y.example, z@evil.example',
      'x@y.example;z@evil.example',
      'x@y.example z@evil.example',
      '<x@y.example>',
      'Ann <x@y.example>',
      '"a b"@y.example',
      'x@y',
      'x',
      '@y.example',
      'x@',
      'x@@y.example',
      'x@[127.0.0.1]',
      'x@y..example',
      'ü@y.example',
      'x@ü.example',
      'x@y.example\u2028',
      `${'x'.repeat(250)}@y.example`,
      'x(c)@y.example',
    ];
    for (const email of addresses) {
      await set('couriers', IEX, { email });
      const id = await makeManifest(service(), await makePackages(service(), SOURCE, [{}]));
      await move(service(), id, 'ready');
      const [row] = await mailsOf(service(), id);
      await sendManifestMail(room.deps, { tenantId: row?.tenant_id ?? '', mailId: row?.id ?? '' });
      const [after] = await mailsOf(service(), id);
      expect([email, after?.status]).toEqual([email, 'skipped']);
    }
    expect(ses.accepted).toEqual([]);
  });
});

/** Asserts that the page contains only elements and attributes of our template. */
function expectOnlyTemplateMarkup(mail: ParsedMail, page: Page): void {
  const tags = [
    'HTML',
    'HEAD',
    'META',
    'TITLE',
    'BODY',
    'TABLE',
    'TBODY',
    'TR',
    'TD',
    'TH',
    'DIV',
    'P',
    'H1',
    'BR',
  ];
  expect(page.tags.filter((tag) => !tags.includes(tag))).toEqual([]);
  const attributes =
    'lang charset name content role width height cellpadding cellspacing border rules frame bgcolor style align valign dir';
  expect(page.attributes.filter((name) => !attributes.split(' ').includes(name))).toEqual([]);
  expect(page.titles).toHaveLength(2);
  const hidden = matching(
    /[^\P{Cc}\r\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u,
    'a\0b',
    'a\u200fb',
    'a\u202eb',
  );
  for (const part of [TEXT, HTML]) expect(mail.parts[part]).not.toMatch(hidden);
}
