import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, shipPackages } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeTracking } from './tracking-calls.js';

const { IEX, HRB } = DEMO.couriers;
const { api, db, service } = withService();
const tracking = makeTracking(api, service);
const { enable, receive, keyOf, page } = tracking;

const shown = async (fields: object = {}) => {
  await enable(fields);
  const parcel = await receive();
  return { ...parcel, key: await keyOf(parcel.id) };
};

describe('a tracking page', () => {
  test('shows the courier, the number, the state and what has happened', async () => {
    const { key, number, id } = await shown();
    const received = await page(key);
    expect(received.status).toBe(200);
    for (const text of ['Island Express', number, 'At the warehouse', '<html lang="en">'])
      expect(received.html).toContain(text);
    await shipPackages(api, [id]);
    const { html } = await page(key);
    expect([...html.matchAll(/<h1>(.*?)<\/h1>/g)].map(([, text]) => text)).toEqual(['On a flight']);
    expect([...html.matchAll(/<li>(.*?)<time/g)].map(([, text]) => text)).toEqual([
      'On a flight',
      'At the warehouse',
    ]);
  });

  test('has a text for each status that a package can have', async () => {
    const { key, id } = await shown();
    const titles = new Set<string>();
    for (const status of [
      'received',
      'shipped',
      'in_transit',
      'on_hold',
      'customs_hold',
      'delivered',
      'returned',
      'lost',
    ]) {
      await service().owner.query('update packages set status = $2 where id = $1', [id, status]);
      const { html } = await page(key);
      titles.add(/<h1>(.+?)<\/h1>/.exec(html)?.[1] ?? '');
    }
    expect(titles.size).toBe(8);
    expect([...titles].filter((title) => title === '')).toEqual([]);
  });

  test('is in the language of its address, then of the browser, then in English', async () => {
    const { key } = await shown();
    const languageOf = async (header: string | undefined, lang?: string) => {
      const { html, reply } = await page(key, {
        headers: header === undefined ? {} : { 'accept-language': header },
        ...(lang ? { query: { lang } } : {}),
      });
      const named = /<html lang="(..)">/.exec(html)?.[1];
      expect(reply.headers.get('content-language')).toBe(named);
      return named;
    };
    expect(await languageOf(undefined)).toBe('en');
    expect(await languageOf('es-CR,es;q=0.9,en;q=0.8')).toBe('es');
    expect(await languageOf('fr,en;q=0.4,es;q=0.7')).toBe('es');
    expect(await languageOf('es;q=0,en')).toBe('en');
    expect(await languageOf('es;q=x, fr')).toBe('en');
    expect(await languageOf('es', 'en')).toBe('en');
    expect(await languageOf('en', 'es')).toBe('es');
    expect((await page(key, { query: { lang: 'es' } })).html).toContain('En el almacén');
    expect((await page(key, { query: { lang: 'fr' } })).status).toBe(400);
  });

  test('has no script and no cookie, and forbids indexing, caching and referrers', async () => {
    const { key } = await shown();
    const { html, reply } = await page(key);
    expect(html).not.toMatch(/<script|javascript:|\son\w+=/i);
    expect(html).toContain('<meta name="robots" content="noindex, nofollow">');
    const header = (name: string) => reply.headers.get(name);
    expect(header('set-cookie')).toBeNull();
    expect(header('cache-control')).toBe('no-store');
    expect(header('referrer-policy')).toBe('no-referrer');
    expect(header('x-robots-tag')).toBe('noindex, nofollow');
    expect(header('content-type')).toBe('text/html; charset=utf-8');
    expect(header('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });

  test('ignores what messengers add to its address', async () => {
    const { key } = await shown();
    expect((await page(key, { query: { fbclid: 'x', utm_source: 'mail' } })).status).toBe(200);
  });

  test('escapes what others have written', async () => {
    const hostile = '<b onclick="x()">\'&"';
    const { key } = await shown({ note_en: hostile });
    await service().owner.query('update customers set branch = $2 where courier_id = $1', [IEX, hostile]);
    const { html } = await page(key);
    expect(html).not.toContain('<b onclick');
    expect(html.split('&#60;b onclick=&#34;x()&#34;&#62;&#39;&#38;&#34;')).toHaveLength(3);
    await service().owner.query('update customers set branch = null where courier_id = $1', [IEX]);
    await enable({ note_en: null });
  });

  test('has the note of its language, or the other one', async () => {
    const { key } = await shown({ note_en: 'Open at nine', note_es: 'Abre a las nueve' });
    expect((await page(key)).html).toContain('Open at nine');
    expect((await page(key, { query: { lang: 'es' } })).html).toContain('Abre a las nueve');
    await enable({ note_es: null });
    expect((await page(key, { query: { lang: 'es' } })).html).toContain('Open at nine');
    await enable({ note_en: null });
    expect((await page(key)).html).not.toContain('From your courier');
  });

  test('has the branch, and the expected date or that of the flight', async () => {
    const { key, id } = await shown();
    await service().owner.query("update customers set branch = 'Heredia' where user_code = 'IEX-1001'");
    const { manifestId } = await shipPackages(api, [id]);
    await service().owner.query("update manifests set flight_date = '2026-12-30' where id = $1", [
      manifestId,
    ]);
    const { html } = await page(key);
    expect(html).toContain('<dt>Branch</dt><dd>Heredia</dd>');
    expect(html).toContain('<dt>Flight</dt><dd>December 30, 2026</dd>');
    await enable({ transit_days: 3 });
    expect((await page(key, { query: { lang: 'es' } })).html).toContain(
      '<dt>Llegada prevista</dt><dd>2 de enero de 2027</dd>',
    );
    await api
      .as('warehouse')
      .manageManifest({ action: 'update_meta', manifest_id: manifestId, status: 'completed' })
      .ok();
    const arrived = await page(key);
    expect(arrived.html).toContain('<h1>Arrived</h1>');
    expect(arrived.html).not.toMatch(/<dt>(Flight|Expected)/);
    await enable({ transit_days: null });
  });

  test('counts days in the time zone of the branch', async () => {
    const { key, id } = await shown({ time_zone: 'America/Costa_Rica' });
    const at = (time: string) =>
      service().owner.query(
        `begin; set local session_replication_role = replica;
         update package_events set occurred_at = '${time}' where package_id = '${id}'; commit`,
      );
    await at('2026-12-02T05:59:00Z');
    expect((await page(key)).html).toContain('<time datetime="2026-12-01">December 1, 2026</time>');
    await at('2026-12-02T06:00:00Z');
    expect((await page(key)).html).toContain('<time datetime="2026-12-02">');
    await enable({ time_zone: null });
    await at('2026-12-02T05:59:00Z');
    expect((await page(key)).html).toContain('<time datetime="2026-12-02">');
  });

  test('shows what the courier has set to pay, only if its settings allow it', async () => {
    const { key, id } = await shown();
    await api
      .as('iex')
      .manageTrackingLinks({ action: 'set_amount_due', package_id: id, amount_due: 1418.5 })
      .ok();
    expect((await page(key)).html).not.toMatch(/1,418|To pay/);
    await enable({ shows_amount_due: true, currency: 'CRC' });
    expect((await page(key)).html).toMatch(/<dt>To pay<\/dt><dd>CRC\s1,418\.50<\/dd>/);
    await enable({ currency: null });
    expect((await page(key)).html).toMatch(/<dd>USD\s1,418\.50<\/dd>/);
    await api
      .as('iex')
      .manageTrackingLinks({ action: 'set_amount_due', package_id: id, amount_due: null })
      .ok();
    expect((await page(key)).html).not.toContain('To pay');
    await enable({ shows_amount_due: false });
  });

  test('has the logo of the courier', async () => {
    const { key } = await shown();
    const { rows } = await service().owner.query<{ hash: string }>(
      'select content_hash as hash from courier_logos where courier_id = $1',
      [IEX],
    );
    expect(rows).toHaveLength(1);
    const { html } = await page(key);
    expect(html).toMatch(
      new RegExp(`<img src="\\.\\./logos/${IEX}/${rows[0]?.hash}\\.(png|jpg|svg)" alt="">`),
    );
  });

  test('reads one statement, and writes nothing', async () => {
    const { key } = await shown();
    const before = await service().owner.query(
      'select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as n from pg_stat_xact_all_tables',
    );
    const started = service().db.connectionShares.countStarted();
    await page(key);
    expect(service().db.connectionShares.countStarted() - started).toBe(1);
    const after = await service().owner.query(
      'select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as n from pg_stat_xact_all_tables',
    );
    expect(after.rows).toEqual(before.rows);
  });
});

test('a page ends 90 days after the parcel has arrived', async () => {
  const { key, id } = await shown();
  const age = async (status: string, days: number) => {
    await service().owner.query(
      'update packages set status = $2, updated_at = now() - make_interval(days => $3) where id = $1',
      [id, status, days],
    );
    return (await page(key)).status;
  };
  expect(await age('in_transit', 400)).toBe(200);
  expect(await age('delivered', 89)).toBe(200);
  expect(await age('delivered', 91)).toBe(404);
  expect(await age('returned', 91)).toBe(404);
  const { data } = await api.as('iex').getTrackingLink({ package_id: id }).ok();
  expect(data.link?.is_public).toBe(false);
});

test('the key has 128 random bits, is stored encrypted and hashed, and is not in the audit log', async () => {
  const { key, id } = await shown();
  expect(key).toMatch(/^[\w-]{22}$/);
  expect(Buffer.from(key, 'base64url')).toHaveLength(16);
  const [link] = await db.all('tracking_links', { package_id: id });
  expect(JSON.stringify(link)).not.toContain(key);
  const audited = await makeParcels(service()).auditOf(link?.id ?? '');
  expect(audited).toMatchObject([{ action: 'tracking_link.created', after: { package_id: id } }]);
  expect(JSON.stringify(audited)).not.toContain(key);
});

test('settings are off at first, and are those of one courier', async () => {
  const { data } = await api.as('manager').getTrackingSettings({ courier_id: HRB }).ok();
  expect(data).toMatchObject({
    courier_id: HRB,
    is_enabled: false,
    is_search_enabled: false,
    search_path: null,
  });
  await enable({ is_search_enabled: true });
  const { data: own } = await api.as('iex').getTrackingSettings({ courier_id: undefined }).ok();
  expect(own).toMatchObject({ courier_id: IEX, is_enabled: true, search_path: '/track?courier=IEX' });
  const { message } = await api.as('iex').updateTrackingSettings({ is_enabled: true }).ok();
  expect(message).toContain('Nothing was changed');
  await api.as('iex').updateTrackingSettings({ time_zone: 'Mars/Base' }).refused(400, 'validation_failed');
  await api.as('iex').updateTrackingSettings({ currency: 'XXY' }).refused(400, 'validation_failed');
  await enable({ is_search_enabled: false });
});
