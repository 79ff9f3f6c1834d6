import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { service } = withService();

const NAMES = ['deprecation', 'sunset', 'link'];
const announced = ({ headers }: Reply) => NAMES.filter((name) => headers.has(name));

const KEY = DEMO.apiKeys.IEX;
const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  service().request('POST', path, { body, headers });
const prealert = (number: string) => ({ UserCode: 'IEX-1001', TrackingNumber: number });

describe('a key in the query', () => {
  test.each(['/api/Prealert.php', '/api/Prealert'])(
    '%s announces its end with three headers',
    async (path) => {
      const reply = await send(`${path}?api_key=${KEY}`, prealert(`QUERY-${path}`));
      expect([reply.status, announced(reply)]).toEqual([201, NAMES]);
      // RFC 9745: a Date of Structured Fields, in the past.
      const [, since = ''] = /^@(\d+)$/.exec(reply.headers.get('deprecation') ?? '') ?? [];
      expect(Number(since)).toBeGreaterThan(0);
      expect(Number(since) * 1000).toBeLessThan(Date.now());
      // RFC 8594: an HTTP date, after the deprecation.
      const until = reply.headers.get('sunset') ?? '';
      expect(new Date(until).toUTCString()).toBe(until);
      expect(Date.parse(until)).toBeGreaterThan(Number(since) * 1000);
    },
  );

  test('the link leads to a section, which names both dates', async () => {
    const reply = await send(`/api/Prealert.php?api_key=${KEY}`, prealert('QUERY-LINK'));
    const [, target = ''] = /^<([^>]+)>; rel="deprecation"/.exec(reply.headers.get('link') ?? '') ?? [];
    const { pathname, hash } = new URL(target, service().url);
    const page = (await service().request('GET', pathname)).bytes.toString();
    const dates = [
      Number(reply.headers.get('deprecation')?.slice(1)) * 1000,
      reply.headers.get('sunset') ?? '',
    ];
    expect(page).toContain(` id="${hash.slice(1)}"`);
    expect(dates.filter((date) => !page.includes(new Date(date).toISOString().slice(0, 10)))).toEqual([]);
  });

  test('the end is the notice of /docs/versioning after the release whose changelog announces it', async () => {
    const { headers } = await send(`/api/Prealert.php?api_key=${KEY}`, prealert('QUERY-NOTICE'));
    const announcedOn = new Date(Number(headers.get('deprecation')?.slice(1)) * 1000).toISOString();
    const day = announcedOn.slice(0, 10);
    const pageOf = async (name: string) =>
      (await service().request('GET', `/docs/${name}.md`)).bytes.toString();
    const [, months = ''] = /The shortest notice is (\d+) months/.exec(await pageOf('versioning')) ?? [];
    const end = new Date(`${day}T23:59:59Z`);
    end.setUTCMonth(end.getUTCMonth() + Number(months));
    expect(headers.get('sunset')).toBe(end.toUTCString());

    // The release is named in the table, and its section of the changelog announces the deprecation.
    const releases = (await pageOf('changelog')).split(/^## /m);
    const release = releases.find((text) => text.split('\n')[0]?.endsWith(`(${day})`)) ?? '';
    expect(release).toMatch(/`api_key` in the query is deprecated/);
    const row = `| ${release.split('\n')[0]} | ${end.toISOString().slice(0, 10)} `;
    expect((await pageOf('versioning')).replaceAll(/ +/g, ' ')).toContain(row);
  });

  test('the examples of the contract are the headers that are sent', async () => {
    const { headers } = await send(`/api/Prealert.php?api_key=${KEY}`, prealert('QUERY-EXAMPLES'));
    const contract = JSON.parse((await service().request('GET', '/openapi.json')).bytes.toString());
    const { Deprecation, Sunset } = contract.components.headers;
    expect([Deprecation.example, Sunset.example]).toEqual([
      headers.get('deprecation'),
      headers.get('sunset'),
    ]);
  });

  test('a repeated response, a failure and lines announce it too', async () => {
    const path = `/api/Prealert.php?api_key=${KEY}`;
    const keyed = { 'idempotency-key': 'query-key-1' };
    await send(path, prealert('QUERY-TWICE'), keyed);
    const replies = [
      await send(path, prealert('QUERY-TWICE'), keyed),
      await send(path, prealert('QUERY-TWICE')),
      await send(path, {}),
      await send('/api/Prealert.php?api_key=unknown', prealert('QUERY-UNKNOWN')),
      await send(path, `${JSON.stringify(prealert('QUERY-LINE'))}\n`, {
        'content-type': 'application/x-ndjson',
      }),
      await send(path, prealert('QUERY-BOTH'), { 'x-api-key': KEY }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 409, 400, 403, 200, 201]);
    expect(replies.map(announced)).toEqual(replies.map(() => NAMES));
  });

  test('no other request announces it', async () => {
    const replies = [
      await send('/api/Prealert.php', prealert('HEADER-1'), { 'x-api-key': KEY }),
      await send('/api/Prealert.php', prealert('HEADER-2')),
      await service().request('GET', `/api/ManagePrealerts.php?api_key=${KEY}`),
      await service().request('GET', `/docs/authentication?api_key=${KEY}`),
    ];
    expect(replies.map(announced)).toEqual([[], [], [], []]);
  });
});
