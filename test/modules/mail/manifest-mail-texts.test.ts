import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { MAX_LISTED } from '../../../src/modules/mail/manifest-mails/compose.js';
import { toMime } from '../../../src/platform/mail/mime.js';
import { sendManifestMail } from '../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import {
  mailsOf,
  makeManifest,
  makePackages,
  move,
  openMailRoom,
  type MailRoom,
} from '../../support/receivers/mails.js';
import { headerOf, parseMail, type ParsedMail } from '../../support/receivers/mime.js';
import { openPageReader, type Page, type PageReader } from '../../support/readers/page.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;
const [SOURCE] = DEMO.packages.available.IEX;
const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html; charset=utf-8';

let ses: Ses;
let room: MailRoom;
let reader: PageReader;

const { service } = withService();
beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'secret' });
  ses = await startSes();
  reader = openPageReader();
  const region = { region: 'us-east-1', endpoint: ses.url };
  room = openMailRoom(service(), { from: 'notices@crossdock.example', ses: region, outbox: '/nowhere' });
}, 60_000);
afterAll(async () => {
  room.close();
  await reader.close();
  await ses.stop();
});
beforeEach(async () => {
  ses.accepted.length = 0;
  await set('couriers', IEX, { name: 'Island Express', email: 'mail@iex.example', house_color: '#0b7a75' });
});

describe('content of a mail', () => {
  test('has manifest, flight, totals and each package in plain text and in HTML', async () => {
    const packages = await makePackages(service(), SOURCE, [
      {
        tracking_number: 'TEXT1',
        house_number: 'H1',
        user_code: 'IEX-1',
        first_name: 'Ann',
        last_name: 'Lee',
        weight_lb: 3.25,
      },
      {
        tracking_number: 'TEXT2',
        house_number: 'H2',
        user_code: 'IEX-2',
        first_name: null,
        last_name: null,
        weight_lb: 0.1,
      },
      {
        tracking_number: 'TEXT3',
        house_number: 'H3',
        user_code: 'IEX-3',
        first_name: 'Bo',
        last_name: null,
        weight_lb: 12,
      },
    ]);
    const flight = { awb_number: '106-12345675', flight_number: 'BW485', flight_date: '2026-11-22' };
    const { mail, manifest } = await mailOf(packages, 'shipped', flight);
    expect(headerOf(mail, 'subject')).toBe(`Manifest ${manifest.manifest_number} has shipped: 3 packages`);
    expect(headerOf(mail, 'from')).toBe(`${await tenantName()} <notices@crossdock.example>`);
    expect(headerOf(mail, 'to')).toBe('Island Express <mail@iex.example>');
    expect(headerOf(mail, 'auto-submitted')).toBe('auto-generated');
    expect(headerOf(mail, 'mime-version')).toBe('1.0');
    expect(Math.abs(Date.parse(headerOf(mail, 'date')) - Date.now())).toBeLessThan(60_000);
    expect(Object.keys(mail.parts)).toEqual([TEXT, HTML]);

    const since = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/;
    const facts = [
      ['Warehouse', 'Miami Gateway'],
      ['Since', expect.stringMatching(since)],
      ['Air waybill', '106-12345675'],
      ['Flight', 'BW485'],
      ['Flight date', '2026-11-22'],
      ['Your packages', '3'],
      ['Their weight', '15.35 lb (6.963 kg)'],
    ];
    const page = await pageOf(mail);
    expect(page.facts).toEqual(facts);
    expect(page.rows).toEqual([
      ['TEXT1', 'H1', 'IEX-1 Ann Lee', '3.25 lb'],
      ['TEXT2', 'H2', 'IEX-2', '0.1 lb'],
      ['TEXT3', 'H3', 'IEX-3 Bo', '12 lb'],
    ]);
    const lines = (mail.parts[TEXT] ?? '').split('\r\n');
    const labelled = lines.filter((line) => /^(Warehouse|Since|Air|Flight|Your|Their)/.test(line));
    expect(labelled.map((line) => [line.slice(0, 15).trim(), line.slice(15)])).toEqual(facts);
    expect(lines.filter((line) => line.startsWith('TEXT'))).toEqual([
      'TEXT1  H1  3.25 lb  IEX-1 Ann Lee',
      'TEXT2  H2  0.1 lb   IEX-2',
      'TEXT3  H3  12 lb    IEX-3 Bo',
    ]);
    expect(lines.slice(0, 3)).toEqual([
      'Island Express,',
      '',
      `Manifest ${manifest.manifest_number} has shipped.`,
    ]);
  });

  test.each([
    ['ready', 'is ready to ship: 1 package'],
    ['shipped', 'has shipped: 1 package'],
    ['completed', 'is completed: 1 package'],
  ])(
    'names the status %s in the subject and shows missing flight data as not known yet',
    async (status, words) => {
      const { mail, manifest } = await mailOf(await makePackages(service(), SOURCE, [{}]), status);
      expect(headerOf(mail, 'subject')).toBe(`Manifest ${manifest.manifest_number} ${words}`);
      expect((await pageOf(mail)).facts.slice(2, 5)).toEqual([
        ['Air waybill', 'not known yet'],
        ['Flight', 'not known yet'],
        ['Flight date', 'not known yet'],
      ]);
    },
  );

  test('masks the tracking number of an unknown customer and says how to name one', async () => {
    const packages = await makePackages(service(), SOURCE, [
      { tracking_number: 'MASKED567', user_code: null, first_name: null, last_name: null },
      { tracking_number: 'OPEN5678' },
    ]);
    const { mail } = await mailOf(packages, 'ready');
    const { rows } = await pageOf(mail);
    expect(rows.map(([number, , customer]) => [number, customer])).toEqual([
      ['*****D567', 'not known yet'],
      ['OPEN5678', expect.stringMatching(/^IEX-/)],
    ]);
    expect(mail.parts[TEXT]).toContain('*****D567');
    expect(JSON.stringify(mail)).not.toContain('MASKE');
    for (const part of [TEXT, HTML])
      expect(mail.parts[part]).toContain('Set the customer with UpdatePackage.');
    const known = await mailOf(await makePackages(service(), SOURCE, [{}]), 'ready');
    expect(JSON.stringify(known.mail)).not.toContain('UpdatePackage');
  });

  test("lists the first 500 of 612 packages with the totals of all, within Gmail's size limit", async () => {
    const [first = ''] = await makePackages(service(), SOURCE, [{ weight_lb: 1.5 }]);
    await service().owner.query(
      `insert into packages select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(),
         'tracking_number', '1Z999AA1012345' || lpad(n::text, 4, '0'), 'tracking_key', 'MANY' || n,
         'house_number', 'MANY-' || n, 'received_at', p.received_at + n * interval '1 second'))).*
       from packages p, generate_series(1, 611) n where p.id = $1`,
      [first],
    );
    const { rows } = await service().owner.query(
      "select id, house_number from packages where id = $1 or house_number like 'MANY-%' order by received_at, id",
      [first],
    );
    const { mail, manifest } = await mailOf(
      rows.map(({ id }) => id),
      'ready',
    );
    expect(headerOf(mail, 'subject')).toContain(': 612 packages');
    const page = await pageOf(mail);
    expect(page.rows.map(([, house]) => house)).toEqual(rows.slice(0, 500).map((row) => row.house_number));
    expect(page.facts.slice(5)).toEqual([
      ['Your packages', '612'],
      ['Their weight', '918 lb (416.398 kg)'],
    ]);
    const more = `And 112 more. GET /api/GetManifest.php?id=${manifest.id} returns all 612 of them.`;
    for (const part of [TEXT, HTML]) expect(mail.parts[part]).toContain(more);
    expect(mail.parts[TEXT]?.match(/MANY-/g)).toHaveLength(MAX_LISTED - 1);
    expect(Buffer.byteLength(mail.parts[HTML] ?? '')).toBeLessThan(102_000);
  });

  test('shows the house colour as a bar, and no bar without a colour', async () => {
    const packages = await makePackages(service(), SOURCE, [{}, {}]);
    const [first = '', second = ''] = packages;
    const bar = async ({ mail }: { mail: ParsedMail }) => (await pageOf(mail)).bar;
    expect(await bar(await mailOf([first], 'ready'))).toBe('#0b7a75');
    await set('couriers', IEX, { house_color: null });
    expect(await bar(await mailOf([second], 'ready'))).toBeNull();
  });
});

// Names that attack the mail's markup, or that are not ASCII.
const HOSTILE = [
  '<script>alert(1)</script>',
  '</td></tr></table><h1>Pay here</h1>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '" style="position:fixed;inset:0',
  '<a href="https://evil.example">Track your parcel</a>',
  '<a href=javascript:alert(1)>x</a>',
  '<iframe src=//evil.example></iframe>',
  '<style>*{display:none}</style>',
  '<meta http-equiv=refresh content=0;url=//evil.example>',
  '<base href=//evil.example>',
  '<form action=//evil.example><input name=password>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<title>',
  '&lt;b&gt;bold&lt;/b&gt;',
  '&amp;amp;',
  '&#60;script&#62;',
  '&copy; &nbsp &unknown;',
  '${7*7} {{7*7}} <%= 7*7 %> #{7*7}',
  '$& $1 $` $$',
  '=cmd|calc!A1',
  '=?utf-8?B?PHNjcmlwdD4=?=',
  '=?utf-8?Q?=0D=0ABcc:_x@evil.example?=',
  '=3Cscript=3E =0D=0A.',
  '--=_boundary',
  "Robert'); drop table packages;--",
  'Ünïcödé Ñandú',
  '李小龍',
  'محمد أحمد',
  'שלום עולם',
  '👩‍👩‍👧‍👦 🇯🇲 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
  'Z̸̢a̴͝l̵͚g̷̈o̶͠',
  '\ufeffbom',
  'a\u00a0b\u2003c',
  '\\r\\nBcc: x@evil.example',
  'A'.repeat(200),
  '%0d%0aBcc:%20x@evil.example',
  '.',
];

// Characters that end a line or reverse the text direction, and their replacement.
const CONTROLS: [given: string, arrives: string][] = [
  ['Ann\r\nBcc: x@evil.example', 'Ann Bcc: x@evil.example'],
  ['Ann\nLee', 'Ann Lee'],
  ['Ann\rLee', 'Ann Lee'],
  ['Ann\u2028Lee\u2029Roe', 'Ann Lee Roe'],
  ['Ann\u0085Lee\u000b\u000cRoe', 'Ann Lee Roe'],
  ['Ann\u001b[31mLee\u0007', 'Ann [31mLee'],
  ['\u202egpj.exe', 'gpj.exe'],
  ['\u2066Ann\u2069\u200f\u200e\u061c', 'Ann'],
  ['\u202aA\u202bB\u202cC\u202dD', 'ABCD'],
  ['B'.repeat(300), `${'B'.repeat(248)}…`],
  ['👩‍🚀'.repeat(100), `${Array.from('👩‍🚀'.repeat(100)).slice(0, 248).join('')}…`],
];

describe('names in mails', () => {
  test('42 hostile names and 11 with control characters appear as text in HTML and as single lines in plain text', async () => {
    const names = [...HOSTILE.map((name): [string, string] => [name, name]), ...CONTROLS];
    const packages = await makePackages(
      service(),
      SOURCE,
      names.map(([first_name], n) => ({
        first_name,
        last_name: null,
        user_code: `U${n + 100}0`,
        house_number: `ODD-${n}`,
      })),
    );
    const { mail } = await mailOf(packages, 'ready');
    // The user code and a space take six of the 255 characters.
    const page = await pageOf(mail);
    expect(page.rows.map(([, , customer]) => customer)).toEqual(
      names.map(([, arrives], n) => `U${n + 100}0 ${arrives}`),
    );
    const lines = (mail.parts[TEXT] ?? '').split('\r\n').filter((line) => line.startsWith('ISO'));
    expect(lines.map((line) => line.replace(/^.*? lb +/, ''))).toEqual(
      names.map(([, arrives], n) => `U${n + 100}0 ${arrives}`),
    );
    expectOnlyTemplateMarkup(mail, page);
  });

  test('escapes numbers, flights, and the names of warehouse, courier and tenant', async () => {
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
      await set('couriers', IEX, { name: text });
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
      await set('couriers', IEX, { name });
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

/** Returns the mail to IEX about a manifest with these packages after it reached `status`. */
async function mailOf(packageIds: string[], status: string, meta = {}) {
  const id = await makeManifest(service(), packageIds, meta);
  const steps = ['ready', 'shipped', 'completed'];
  await move(service(), id, ...steps.slice(0, steps.indexOf(status) + 1));
  const { rows } = await service().owner.query('select * from manifests where id = $1', [id]);
  return { mail: await sendLast(id), manifest: rows[0] };
}

/** Sends the mail of a manifest's last transition and returns the parsed message. */
async function sendLast(manifestId: string): Promise<ParsedMail> {
  const row = (await mailsOf(service(), manifestId)).at(-1);
  await sendManifestMail(room.deps, { tenantId: row?.tenant_id ?? '', mailId: row?.id ?? '' });
  return parseMail(ses.accepted.at(-1)?.bytes ?? Buffer.alloc(0));
}

const pageOf = (mail: ParsedMail): Promise<Page> => reader.read(mail.parts[HTML] ?? '');

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

async function tenantName(): Promise<string> {
  const { rows } = await service().owner.query('select name from tenants where id = $1', [DEMO.tenants.demo]);
  return rows[0].name;
}

async function set(table: string, id: string, changes: Record<string, unknown>): Promise<void> {
  const names = Object.keys(changes);
  await service().owner.query(
    `update ${table} set ${names.map((name, n) => `${name} = $${n + 2}`).join(', ')} where id = $1`,
    [id, ...Object.values(changes)],
  );
}
