import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { SECRET, simulate, TOKEN } from '../../support/checks/simulator.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { startReceiver, verified, type Received, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

const { IEX } = DEMO.couriers;
const { api, db, service } = withService({ worker: true });
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.received.length = 0;
});

type Body = Record<string, unknown> & { data?: Record<string, unknown> };
const bodyOf = ({ body }: Received): Body => {
  const sent = JSON.parse(body) as Body | [Body];
  return Array.isArray(sent) ? sent[0] : sent;
};

/** The fields that differ: id, time, the marks of a test, and the customer, whom a test does not have. */
const FLAT_DIFFERS = [
  'PackageID',
  'EntryDate',
  'EntryDateTime',
  'TrackingNumber',
  'ControlNumber',
  'Description',
  'Shipper',
  'UserCode',
  'FirstName',
  'LastName',
  'Branch',
  'Unknown',
];
const EVENT_DIFFERS = ['event_id', 'timestamp', 'timestamp_utc', 'type', 'sequence', 'data'];
const DATA_DIFFERS = [
  'package_id',
  'entry_date_time',
  'entry_date_time_utc',
  'tracking_number',
  'house_number',
  'description',
  'shipper',
  'user_code',
  'first_name',
  'last_name',
];

/** Returns the live body with the values of the check in some fields, as text. */
function withValuesOf(probe: Body, live: Body, names: string[]): string {
  const changed = Object.fromEntries(
    Object.entries(live).map(([name, value]) => [name, names.includes(name) ? probe[name] : value]),
  );
  return JSON.stringify(changed);
}

const HEADERS_DIFFER = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-length']);

async function runCheck(): Promise<string> {
  const { data } = await api.as('iex').createIntegrationCheck({ endpoint: 'add_package' }).ok();
  let verdict: string | null = null;
  await until(async () => {
    const [found] = (await api.as('iex').listIntegrationChecks({ check_id: data.check_id }).ok()).data;
    verdict = found?.verdict ?? null;
    return found?.status === 'finished';
  });
  return String(verdict);
}

describe.each([
  ['event', 'object', 'authorization'],
  ['flat', 'object', 'APIToken'],
  ['flat_array', 'array', 'x-api-key'],
] as const)('a check of a URL with the format %s', (addFormat, shape, place) => {
  test('sends what a live delivery sends, but for id, time and the marks of a test', async () => {
    receiver.answer = simulate({ shape, tokenIn: [place] });
    const { owner, app } = service();
    await setEndpoints(
      { owner, secrets: app.secrets },
      { courierId: IEX, add: `${receiver.url}/hook`, token: TOKEN, secret: SECRET, addFormat },
    );
    const parcel = { tracking_number: newNumber(), weight: 13.7, user_code: 'IEX-1001', shipper: 'Shop' };
    await api.as('warehouse').receivePackage(parcel).created();
    await until(async () => receiver.received.length === 1);
    // The worker has recorded the delivery.
    await until(async () => (await db.count('webhook_endpoints', { courier_id: IEX })) === 1);
    const health = await db.all('webhook_endpoints', { courier_id: IEX });
    expect(await runCheck()).toBe('healthy');

    const [live, probe, repeat] = receiver.received;
    if (!live || !probe || !repeat) throw new Error('A request is missing.');
    const { 'x-crossdock-test': mark, ...headers } = probe.headers;
    expect(mark).toBe('true');
    expect(Object.keys(headers)).toEqual(Object.keys(live.headers));
    const comparable = (sent: object) => Object.entries(sent).filter(([name]) => !HEADERS_DIFFER.has(name));
    expect(comparable(headers)).toEqual(comparable(live.headers));
    verified(SECRET, probe);
    expect([probe.path, Array.isArray(JSON.parse(probe.body))]).toEqual([live.path, shape === 'array']);

    const sent = bodyOf(probe);
    if (addFormat === 'event') {
      expect(withValuesOf(sent, bodyOf(live), EVENT_DIFFERS)).toBe(JSON.stringify(sent));
      const { message, ...data } = sent.data ?? {};
      expect(message).toMatch(/^A check from Crossdock/);
      expect(withValuesOf(data, bodyOf(live).data ?? {}, DATA_DIFFERS)).toBe(JSON.stringify(data));
      expect(sent['type']).toBe('webhook.test');
    } else {
      expect(withValuesOf(sent, bodyOf(live), FLAT_DIFFERS)).toBe(JSON.stringify(sent));
      expect(sent).toMatchObject({ TrackingNumber: 'TEST', UserCode: '', Unknown: true, Weight: 13.7 });
    }
    // The repetition is the same delivery. It has a signature of its own time.
    expect([repeat.body, repeat.headers['webhook-id']]).toEqual([probe.body, probe.headers['webhook-id']]);
    // A check leaves the health of the URL and the delivery log as they were.
    expect(await db.all('webhook_endpoints', { courier_id: IEX })).toEqual(health);
  });
});
