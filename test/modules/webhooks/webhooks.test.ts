import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { expectSuccess } from '../../support/assertions/scenario.js';
import { until } from '../../support/service/processes.js';
import {
  accept,
  hang,
  refuse,
  startReceiver,
  respondForever,
  verified,
  type Received,
  type Receiver,
} from '../../support/receivers/receiver.js';
import { startService, type Service } from '../../support/service/service.js';
import { assertPayload } from '../../support/receivers/webhook-payloads.js';
import { setEndpoints, webhookSecret } from '../../support/receivers/webhooks.js';

const { IEX, HRB } = DEMO.couriers;
// Three retries, one second apart, so that a test can wait for the last.
const RETRIES = 3;

let service: Service;
let receiver: Receiver;
let harbour: Receiver;
/** Slow scenarios. All start at once, each with its own couriers, and their tests await them. */
const SCENARIOS = { sentAgain: retriedDelivery, givenUp: exhaustedDelivery, cutOff: timedOutDelivery };
const scenarios = new Map<keyof typeof SCENARIOS, Promise<void>>();
const systems: Receiver[] = [];

beforeAll(async () => {
  service = await startService({
    worker: true,
    env: { WEBHOOK_RETRY_SECONDS: Array(RETRIES).fill('1').join(',') },
  });
  for (const [name, begin] of Object.entries(SCENARIOS)) {
    const wait = begin();
    wait.catch(() => {});
    // The keys are those of SCENARIOS.
    scenarios.set(name as keyof typeof SCENARIOS, wait);
  }
});

afterAll(async () => {
  await Promise.allSettled(scenarios.values());
  for (const system of systems) await system.stop();
  await service.stop();
}, 60_000);

beforeEach(async () => {
  receiver = await startReceiver();
  harbour = await startReceiver();
  const { secrets } = service.app;
  const at = ({ url }: Receiver) => ({ add: `${url}/add?from=crossdock`, update: `${url}/update` });
  await setEndpoints({ owner: service.owner, secrets }, { courierId: IEX, ...at(receiver) });
  await setEndpoints(
    { owner: service.owner, secrets },
    { courierId: HRB, ...at(harbour), token: 'harbour-token', secret: webhookSecret('h') },
  );
});

afterEach(async () => {
  // Pending deliveries of one test must not reach the receivers of the next.
  await service.owner.query('delete from webhook_deliveries where courier_id = any($1)', [[IEX, HRB]]);
  await service.owner.query(
    'delete from package_syncs where package_id in (select id from packages where courier_id = any($1))',
    [[IEX, HRB]],
  );
  await receiver.stop();
  await harbour.stop();
});

const ADD = '/add?from=crossdock';
let scans = 0;

async function receive(user_code = 'IEX-1001', tracking_number = `HOOK-${(scans += 1)}`): Promise<string> {
  const body = { tracking_number, weight: 2.25, user_code, shipper: 'Ámazon “Öst”' };
  const reply = await service.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return reply.body['data'].package_id;
}

type Payload = { type: string; event_id: string; sequence: number; data: Record<string, unknown> };
const payloadOf = ({ body }: Received) => JSON.parse(body) as Payload;

async function rows<Row extends object>(statement: string, ...values: unknown[]): Promise<Row[]> {
  return (await service.owner.query<Row>(statement, values)).rows;
}

const deliveryOf = async (packageId: string) =>
  (
    await rows<{ id: string; status: string; attempt_count: number; event_id: string; wait_s: number }>(
      `select d.*, extract(epoch from next_attempt_at - now())::float as wait_s
       from webhook_deliveries d join events e on e.id = d.event_id where e.package_id = $1`,
      packageId,
    )
  )[0];

const settled = (packageId: string) =>
  until(async () => {
    const delivery = await deliveryOf(packageId);
    return delivery !== undefined && delivery.status !== 'pending';
  });

describe('webhook content', () => {
  test("a received package is signed per Standard Webhooks, with the bearer token and the contract's payload", async () => {
    const packageId = await receive();
    await until(async () => receiver.at(ADD).length === 1);
    const [request] = receiver.at(ADD);
    if (!request) throw new Error('No webhook arrived.');
    expect(request.headers).toMatchObject({
      authorization: 'Bearer token-of-a-courier',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(verified(webhookSecret('s'), request)).toEqual(payloadOf(request));
    expect(() => verified(webhookSecret('h'), request)).toThrow('No matching signature found');
    expect(() => verified(webhookSecret('s'), { ...request, body: `${request.body} ` })).toThrow(
      'No matching signature found',
    );
    const payload = payloadOf(request);
    assertPayload('package.created', payload);
    expect(payload).toMatchObject({ event_id: request.headers['webhook-id'], type: 'package.created' });
    expect(payload.data).toMatchObject({ package_id: packageId, weight: 2.25, shipper: 'Ámazon “Öst”' });
    const sentAtS = Number(request.headers['webhook-timestamp']);
    expect(Math.abs(Date.now() / 1_000 - sentAtS)).toBeLessThan(60);
  });

  test('a shipped manifest sends each courier the new status of its own packages, numbered in order', async () => {
    const mine = [await receive(), await receive(), await receive()];
    const theirs = await receive('HRB-2001');
    await until(async () => receiver.received.length === 3 && harbour.received.length === 1);
    await ship([...mine, theirs]);
    await until(async () => receiver.at('/update').length === 3 && harbour.at('/update').length === 1);
    const payloads = receiver.at('/update').map(payloadOf);
    for (const payload of payloads) assertPayload('package.status_changed', payload);
    expect(payloads.map(({ data }) => data['package_id']).sort()).toEqual([...mine].sort());
    for (const { data } of payloads)
      expect(data).toMatchObject({ previous_status: 'received', status: 'shipped' });
    const numbers = receiver.received.map((request) => payloadOf(request).sequence);
    numbers.sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    const [harboured] = harbour.at('/update');
    if (!harboured) throw new Error('No webhook arrived.');
    expect(verified(webhookSecret('h'), harboured)).toMatchObject({ data: { package_id: theirs } });
    expect(harboured.headers['authorization']).toBe('Bearer harbour-token');
  });

  test('a corrected package is sent once with its latest state, after any number of corrections', async () => {
    receiver.answer = hang;
    const [packageId, blocked] = [await receive(), await receive()];
    await until(async () => receiver.received.length === 2);
    receiver.answer = accept;
    const correct = (description: string) =>
      service.call('updatePackage', { as: 'warehouse', body: { package_id: packageId, description } });
    for (let n = 1; n <= 5; n += 1) expect((await correct(`Correction ${n}`)).status).toBe(200);
    const last = () => receiver.at('/update').map(payloadOf).at(-1);
    await until(async () => last()?.data['description'] === 'Correction 5');
    for (const request of receiver.at('/update')) assertPayload('package.updated', payloadOf(request));
    await until(async () => {
      const [sync] = await rows<{ status: string }>(
        'select status from package_syncs where package_id = $1',
        packageId,
      );
      return sync?.status === 'sent';
    });
    expect(blocked).not.toBe(packageId);
  });

  test('the number of a package with an unknown customer is masked except for four characters', async () => {
    const body = { tracking_number: 'SECRET-NUMBER-7788', weight: 1, courier_id: IEX };
    expect((await service.call('receivePackage', { as: 'warehouse', body })).status).toBe(201);
    await until(async () => receiver.received.length === 1);
    expect(receiver.received[0]?.body).not.toContain('SECRET');
    expect(payloadOf(receiver.received[0] as Received).data['tracking_number']).toBe('**************7788');
  });

  test('signs with both secrets for a day after a rotation, or until the old one is ended', async () => {
    const { secrets } = service.app;
    const encryptionContext = {
      tenantId: DEMO.tenants.demo,
      rowId: IEX,
      field: 'webhook_previous_secret',
    } as const;
    const rotated = (hoursAgo: number) =>
      service.owner.query(
        `update couriers set webhook_previous_secret_cipher = $1,
           webhook_secret_rotated_at = now() - make_interval(hours => $2) where id = $3`,
        [secrets.encrypt(webhookSecret('o'), encryptionContext), hoursAgo, IEX],
      );
    try {
      await rotated(23);
      await receive();
      await until(async () => receiver.received.length === 1);
      await rotated(25);
      await receive();
      await until(async () => receiver.received.length === 2);
      await rotated(1);
      expect((await service.call('endPreviousWebhookSecret', { as: 'iex' })).status).toBe(200);
      await receive();
      await until(async () => receiver.received.length === 3);
    } finally {
      await service.owner.query(
        'update couriers set webhook_previous_secret_cipher = null, webhook_secret_rotated_at = null',
      );
    }
    const [during, ...alone] = receiver.received as [Received, Received, Received];
    expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const letter of ['s', 'o'])
      expect(verified(webhookSecret(letter), during)).toEqual(payloadOf(during));
    for (const after of alone) {
      expect(after.headers['webhook-signature']?.split(' ')).toHaveLength(1);
      expect(() => verified(webhookSecret('o'), after)).toThrow('No matching signature found');
    }
  });

  test('sends nothing without a URL or for a package without a courier', async () => {
    await service.owner.query('update couriers set api_url_add_package = null where id = $1', [IEX]);
    const withoutUrl = await receive();
    expect(await deliveryOf(withoutUrl)).toBeUndefined();
    const [event] = await rows<{ type: string }>('select type from events where package_id = $1', withoutUrl);
    expect(event?.type).toBe('package.created');
    const body = { tracking_number: `NOBODY-${Date.now()}`, weight: 1 };
    const { package_id } = (await service.call('receivePackage', { as: 'warehouse', body })).body['data'];
    expect(await rows('select from events where package_id = $1', package_id)).toEqual([]);
  });
});

test('a receiver that sends 100 Continue without being asked gets each webhook once', async () => {
  receiver.answer = (request, response) => {
    response.writeContinue();
    accept(request, response);
  };
  const packages = [await receive(), await receive(), await receive()];
  for (const id of packages) await settled(id);
  const deliveries = await Promise.all(packages.map(deliveryOf));
  expect(deliveries).toEqual(
    packages.map(() => expect.objectContaining({ status: 'delivered', attempt_count: 1 })),
  );
  expect(receiver.at(ADD)).toHaveLength(packages.length);
});

describe('failed deliveries', () => {
  test('are retried on schedule with the same id and a new time, and each attempt is logged', () =>
    expectSuccess(scenarios.get('sentAgain')));

  test('fail after the last retry, and so does their synchronisation', () =>
    expectSuccess(scenarios.get('givenUp')));

  test(
    'time out after ten seconds and delay no other courier',
    () => expectSuccess(scenarios.get('cutOff')),
    60_000,
  );

  test('do not follow redirects', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answer = (_request, response) =>
        response.writeHead(status, { location: `${harbour.url}/secret` }).end();
      const packageId = await receive();
      await until(async () => ((await deliveryOf(packageId))?.attempt_count ?? 0) > 0);
    }
    expect(harbour.received).toEqual([]);
    expect(
      await rows("select from webhook_attempts where outcome = 'delivered' and http_status >= 300"),
    ).toEqual([]);
  });

  test('an endless response is cut off and counts by its status', async () => {
    receiver.answer = respondForever;
    const packageId = await receive();
    await settled(packageId);
    const delivery = await deliveryOf(packageId);
    expect(delivery?.status).toBe('delivered');
    const [attempt] = await rows<{ response_start: string; duration_ms: number }>(
      'select response_start, duration_ms from webhook_attempts where delivery_id = $1',
      delivery?.id,
    );
    expect(attempt?.response_start).toBe('x'.repeat(1_024));
    expect(attempt?.duration_ms).toBeLessThan(10_500);
  });

  test('fail if the URL is removed meanwhile', async () => {
    receiver.answer = refuse(500);
    const packageId = await receive();
    await until(async () => receiver.received.length === 1);
    await service.owner.query('update couriers set api_url_add_package = null where id = $1', [IEX]);
    await settled(packageId);
    expect(await deliveryOf(packageId)).toMatchObject({ status: 'failed' });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('URL that fails for long', () => {
  const endpoint = async (courierId = IEX) =>
    (
      await rows<{ failures: number; failing_since: Date | null; paused_at: Date | null }>(
        "select * from webhook_endpoints where courier_id = $1 and endpoint = 'add_package'",
        courierId,
      )
    )[0];

  const failingFor = (hours: number) =>
    service.owner.query(
      `update webhook_endpoints set failing_since = now() - make_interval(hours => $1) where courier_id = $2`,
      [hours, IEX],
    );

  test('is paused by a failure after 48 hours and gets only tests until one succeeds', async () => {
    receiver.answer = refuse(500);
    await receive();
    await until(async () => ((await endpoint())?.failures ?? 0) >= 1);
    await failingFor(47);
    await until(async () => ((await endpoint())?.failures ?? 0) >= 2);
    expect((await endpoint())?.paused_at).toBeNull();
    await failingFor(49);
    await until(async () => (await endpoint())?.paused_at instanceof Date);

    receiver.answer = accept;
    const seen = receiver.received.length;
    const missed = await receive();
    expect(await deliveryOf(missed)).toBeUndefined();
    // The other courier and the other URL are not affected.
    await settled(await receive('HRB-2001'));
    const reply = await service.call('manageWebhookDeliveries', {
      as: 'iex',
      body: { action: 'send_test', endpoint: 'add_package' },
    });
    expect(reply.status).toBe(200);
    await until(async () => receiver.received.length === seen + 1);
    assertPayload('webhook.test', payloadOf(receiver.received.at(-1) as Received));
    await until(async () => (await endpoint())?.paused_at === null);
    expect(await endpoint()).toMatchObject({ failures: 0, failing_since: null });
    await settled(await receive());
  });

  test('a success resets the failure count', async () => {
    receiver.answer = (request, response) =>
      (receiver.received.length === 1 ? refuse(500) : accept)(request, response);
    await settled(await receive());
    expect(await endpoint()).toMatchObject({ failures: 0, failing_since: null, paused_at: null });
  });
});

/** A courier with its own receiver that no other test uses. */
type OwnCourier = { system: Receiver; receive(): Promise<string> };

let ownCouriers = 0;
async function ownCourier(answer: Receiver['answer']): Promise<OwnCourier> {
  const code = `OWN-${(ownCouriers += 1)}`;
  const [courier] = await rows<{ id: string }>(
    'insert into couriers (tenant_id, id, code, name) values ($1, gen_random_uuid(), $2, $2) returning id',
    DEMO.tenants.demo,
    code,
  );
  const courier_id = courier?.id ?? '';
  const system = await startReceiver(answer);
  systems.push(system);
  const { secrets } = service.app;
  const urls = { add: `${system.url}/add`, update: `${system.url}/update` };
  await setEndpoints({ owner: service.owner, secrets }, { courierId: courier_id, ...urls });
  let parcels = 0;
  return {
    system,
    async receive() {
      const body = { tracking_number: `${code}-${(parcels += 1)}`, weight: 1, courier_id };
      const reply = await service.call('receivePackage', { as: 'warehouse', body });
      expect(reply.status).toBe(201);
      return reply.body['data'].package_id;
    },
  };
}

async function retriedDelivery(): Promise<void> {
  const { system, receive } = await ownCourier((request, response) =>
    (system.received.length < 3 ? refuse(503, 'come\0 back “later”') : accept)(request, response),
  );
  const packageId = await receive();
  await settled(packageId);
  expect(system.received).toHaveLength(3);
  expect(new Set(system.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(system.received.map(({ body }) => body)).size).toBe(1);
  for (const request of system.received)
    expect(verified(webhookSecret('s'), request)).toEqual(payloadOf(request));
  const gaps = system.received.slice(1).map(({ atMs }, n) => atMs - (system.received[n]?.atMs ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThan(950);
  const delivery = await deliveryOf(packageId);
  const attempts = await rows(
    'select number, outcome, http_status, response_start, error from webhook_attempts where delivery_id = $1 order by number',
    delivery?.id,
  );
  const rejected = {
    outcome: 'rejected',
    http_status: 503,
    response_start: 'come back “later”',
    error: null,
  };
  expect(attempts).toEqual([
    { number: 1, ...rejected },
    { number: 2, ...rejected },
    { number: 3, outcome: 'delivered', http_status: 204, response_start: '', error: null },
  ]);
  expect(delivery).toMatchObject({ status: 'delivered', attempt_count: 3 });
}

async function exhaustedDelivery(): Promise<void> {
  const { system, receive } = await ownCourier(refuse(500));
  const packageId = await receive();
  await settled(packageId);
  expect(await deliveryOf(packageId)).toMatchObject({ status: 'failed', attempt_count: 1 + RETRIES });
  expect(system.received).toHaveLength(1 + RETRIES);
  const body = { package_ids: [packageId], action: 'queue_dispatch' };
  expect((await service.call('listPackages', { as: 'admin', body })).status).toBe(200);
  await until(async () => {
    const [sync] = await rows<{ status: string }>(
      'select status from package_syncs where package_id = $1',
      packageId,
    );
    return sync?.status === 'failed';
  });
}

async function timedOutDelivery(): Promise<void> {
  const [hangingCourier, other] = [await ownCourier(hang), await ownCourier(accept)];
  const hanging = await Promise.all(Array.from({ length: 40 }, () => hangingCourier.receive()));
  const beganMs = performance.now();
  const theirs = await other.receive();
  await settled(theirs);
  expect(performance.now() - beganMs).toBeLessThan(5_000);
  await until(async () => ((await deliveryOf(hanging[0] ?? ''))?.attempt_count ?? 0) > 0);
  const [attempt] = await rows<{ outcome: string; duration_ms: number }>(
    `select outcome, duration_ms from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
     join events e on e.id = d.event_id where e.package_id = $1 and number = 1`,
    hanging[0],
  );
  expect(attempt?.outcome).toBe('timeout');
  expect(attempt?.duration_ms).toBeGreaterThanOrEqual(9_900);
  expect(attempt?.duration_ms).toBeLessThan(13_000);
}

async function ship(packageIds: string[]): Promise<void> {
  const { manifest_id } = (await service.call('createManifest', { as: 'warehouse' })).body['data'];
  const manage = async (body: object) => {
    const reply = await service.call('manageManifest', { as: 'warehouse', body: { manifest_id, ...body } });
    expect(reply.status).toBe(200);
  };
  await manage({ action: 'add_packages', package_ids: packageIds });
  await manage({ action: 'update_meta', status: 'ready' });
  await manage({ action: 'update_meta', status: 'shipped' });
}
