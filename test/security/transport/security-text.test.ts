import { expect, test } from '@jest/globals';
import { parseSettings } from '../../../src/config/settings.js';
import { startService, type Service } from '../../support/service/service.js';

const PATH = '/.well-known/security.txt';
const DAY_MS = 86_400_000;

async function withService(
  contact: string | undefined,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await startService({ env: contact === undefined ? {} : { SECURITY_CONTACT: contact } });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

test('security.txt has the contacts of the settings and expires within a year, on any host', () =>
  withService('security@gateway.example, https://gateway.example/report', async (service) => {
    for (const host of ['localhost', 'unknown.example']) {
      const { status, headers, bytes } = await service.request('GET', PATH, { headers: { host } });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      const text = bytes.toString();
      const [, expires = ''] = /^Expires: (\S+)$/m.exec(text) ?? [];
      expect(text).toBe(
        'Contact: mailto:security@gateway.example\nContact: https://gateway.example/report\n' +
          `Expires: ${expires}\nPreferred-Languages: en\n`,
      );
      const days = (Date.parse(expires) - Date.now()) / DAY_MS;
      expect(days).toBeGreaterThan(30);
      expect(days).toBeLessThan(365);
    }
    expect((await service.request('POST', PATH)).status).toBe(405);
  }));

test('without a contact, the path responds with 404 in the envelope', () =>
  withService(undefined, async (service) => {
    const reply = await service.request('GET', PATH);
    expect([reply.status, reply.body['code']]).toEqual([404, 'route_not_found']);
  }));

test.each(['security', 'a@b c@d', 'http://gateway.example', 'a@b\nContact: mailto:evil@x', 'a@b,'])(
  'the contact %j is refused',
  (SECURITY_CONTACT) => {
    expect(parseSettings({ APP_ENV: 'development', SECURITY_CONTACT }).faults).toEqual([
      'SECURITY_CONTACT must be an e-mail address or an https:// URL, or several joined by commas',
    ]);
  },
);
