import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { MAX_LISTED } from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { makePackages } from '../../../support/receivers/mails.js';
import { headerOf, type ParsedMail } from '../../../support/receivers/mime.js';
import { HTML, TEXT, withReadMails } from './read-mails.js';

const { IEX } = DEMO.couriers;
const [SOURCE] = DEMO.packages.available.IEX;

const { service, mailOf, pageOf, set } = withReadMails();

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
    expect(headerOf(mail, 'to')).toBe('IEX <mail@iex.example>');
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
      ['TEXT1', 'H1', 'IEX-1', '3.25 lb'],
      ['TEXT2', 'H2', 'IEX-2', '0.1 lb'],
      ['TEXT3', 'H3', 'IEX-3', '12 lb'],
    ]);
    const lines = (mail.parts[TEXT] ?? '').split('\r\n');
    const labelled = lines.filter((line) => /^(Warehouse|Since|Air|Flight|Your|Their)/.test(line));
    expect(labelled.map((line) => [line.slice(0, 15).trim(), line.slice(15)])).toEqual(facts);
    expect(lines.filter((line) => line.startsWith('TEXT'))).toEqual([
      'TEXT1  H1  3.25 lb  IEX-1',
      'TEXT2  H2  0.1 lb   IEX-2',
      'TEXT3  H3  12 lb    IEX-3',
    ]);
    expect(lines.slice(0, 3)).toEqual(['IEX,', '', `Manifest ${manifest.manifest_number} has shipped.`]);
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

async function tenantName(): Promise<string> {
  const { rows } = await service().owner.query('select name from tenants where id = $1', [DEMO.tenants.demo]);
  return rows[0].name;
}
