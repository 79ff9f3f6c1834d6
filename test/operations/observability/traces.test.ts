import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageVersion } from '../../../src/config/project-root.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startCollector, type Collector } from '../../support/harness/collector.js';
import { accept, refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { eventually, setEndpoints } from '../../support/receivers/webhooks.js';
import { startService, type Service } from '../../support/service/service.js';

let collector: Collector;
let courier: Receiver;
let service: Service;

beforeAll(async () => {
  collector = await startCollector();
  courier = await startReceiver(accept);
  service = await startService({
    worker: true,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=secret%20key',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      WEBHOOK_RETRY_SECONDS: '1',
    },
  });
  const { owner } = service;
  const { secrets } = service.app;
  await setEndpoints(
    { owner, secrets },
    { add: `${courier.url}/add?key=URL-CANARY`, token: 'TOKEN-CANARY', update: `${courier.url}/update` },
  );
});

afterAll(async () => {
  await service.stop();
  await courier.stop();
  await collector.stop();
});

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** Returns a caller's trace, and its header. */
function newTrace(flags = '01') {
  const [traceId, spanId] = [hex(16), hex(8)];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

const receive = (number: string, headers: Record<string, string> = {}) =>
  service.call('receivePackage', {
    as: 'warehouse',
    headers,
    body: { tracking_number: number, weight: 1, user_code: 'IEX-1001', description: 'BODY-CANARY' },
  });

const ofTrace = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId);

const spanNamed = async (name: string, traceId: string) => {
  await eventually(() => ofTrace(traceId).some((span) => span.name === name));
  return collector.only(name, traceId);
};

/** Returns the id of the trace of a request. */
async function traceOf(requestId: string | null): Promise<string> {
  const find = () => collector.spans().find((span) => span.attributes['crossdock.request.id'] === requestId);
  await eventually(() => find() !== undefined);
  return find()?.traceId ?? '';
}

describe('one trace', () => {
  test('contains the request, its statements, the job that it queues and the webhook of the job, with their parents', async () => {
    const caller = newTrace();
    const reply = await receive('NUMBER-CANARY', caller.headers);
    expect(reply.status).toBe(201);
    const webhook = await spanNamed('webhook add_package', caller.traceId);
    const request = await spanNamed('receivePackage', caller.traceId);
    const job = await spanNamed('deliver', caller.traceId);
    expect([request.parentSpanId, job.parentSpanId, webhook.parentSpanId]).toEqual([
      caller.spanId,
      request.spanId,
      job.spanId,
    ]);
    expect(request).toMatchObject({
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': 201,
        'http.route': '/api/ReceivePackage.php',
        'crossdock.tenant.id': DEMO.tenants.demo,
        'crossdock.request.id': reply.headers.get('x-request-id'),
      },
    });
    expect(webhook.attributes).toMatchObject({
      'http.response.status_code': 204,
      'crossdock.delivery.attempt': 1,
    });
    // What the courier's own system continues.
    expect(courier.at('/add?key=URL-CANARY').map(({ headers }) => headers['traceparent'])).toContain(
      `00-${caller.traceId}-${webhook.spanId}-01`,
    );
    const statements = ofTrace(caller.traceId).filter((span) => 'db.query.text' in span.attributes);
    const textsUnder = (parent: { spanId: string }) =>
      statements
        .filter(({ parentSpanId }) => parentSpanId === parent.spanId)
        .map(({ attributes }) => String(attributes['db.query.text']))
        .join('\n');
    expect(textsUnder(request)).toMatch(/enter_with_token[^]*insert into events[^]*commit/);
    expect(collector.text()).toContain(
      `{"key":"service.version","value":{"stringValue":"${packageVersion()}"}}`,
    );
    expect(textsUnder(job)).toMatch(/update webhook_deliveries[^]*insert into webhook_attempts/);
  });

  test('contains the pipeline of a request with an API key', async () => {
    const caller = newTrace();
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'NUMBER-CANARY' };
    expect(
      (await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, headers: caller.headers, body })).status,
    ).toBe(201);
    const request = await spanNamed('submitPrealert', caller.traceId);
    const pipelines = ofTrace(caller.traceId).filter(({ parentSpanId }) => parentSpanId === request.spanId);
    expect(pipelines.map(({ attributes }) => String(attributes['db.query.text'])).join('\n')).toMatch(
      /enter_with_key[^]*insert into prealerts/,
    );
    expect(pipelines[0]?.attributes['db.operation.batch.size']).toBeGreaterThan(1);
  });

  test("contains the statements of Prisma's models, and of no other transaction at the same time", async () => {
    const callers = Array.from({ length: 8 }, () => newTrace());
    await Promise.all(
      callers.map(({ headers, traceId }) =>
        service.call('manageCarriers', {
          as: 'admin',
          headers,
          body: { action: 'create', name: `NAME-CANARY ${traceId.slice(0, 8)}` },
        }),
      ),
    );
    for (const { traceId } of callers) {
      const request = await spanNamed('manageCarriers', traceId);
      expect(request.attributes['http.response.status_code']).toBe(200);
      const own = ofTrace(traceId).filter(({ parentSpanId }) => parentSpanId === request.spanId);
      const texts = own.map(({ attributes }) => String(attributes['db.query.text'])).join('\n');
      expect(texts.match(/enter_with_token/g)).toHaveLength(1);
      expect(texts.match(/insert into "?(public"?."?)?carriers/gi)).toHaveLength(1);
    }
  });

  test('continues with a retry, whose job belongs to no request', async () => {
    courier.answer = refuse(500);
    const caller = newTrace();
    await receive('RETRIED', caller.headers);
    const attempts = () =>
      ofTrace(caller.traceId)
        .filter(({ name }) => name === 'webhook add_package')
        .map(({ attributes }) => attributes['crossdock.delivery.attempt']);
    await eventually(() => attempts().length > 0);
    courier.answer = accept;
    await eventually(() => attempts().includes(2));
    const [first, second] = ofTrace(caller.traceId).filter(({ name }) => name === 'webhook add_package');
    const request = collector.only('receivePackage', caller.traceId);
    expect([first?.isError, first?.attributes['error.type']]).toEqual([true, 'rejected']);
    expect([second?.isError, second?.parentSpanId]).toEqual([false, request.spanId]);
    // The job of the retry, which has a trace of its own.
    expect(second?.links).toHaveLength(1);
  });

  test('contains the synchronisation of a package, which the job turns into a webhook', async () => {
    const caller = newTrace();
    const { rows } = await service.owner.query<{ id: string }>(
      "select id from packages where tracking_number = 'NUMBER-CANARY'",
    );
    const reply = await service.call('updatePackage', {
      as: 'admin',
      headers: caller.headers,
      body: { package_id: rows[0]?.id, remarks: 'BODY-CANARY', description: 'BODY-CANARY 2' },
    });
    expect(reply.status).toBe(200);
    const webhook = await spanNamed('webhook update_package', caller.traceId);
    expect(webhook.attributes['http.response.status_code']).toBe(204);
  });

  test('says why a request was refused, which is no error of the service', async () => {
    const caller = newTrace();
    await service.call('listAuditEntries', { as: 'iex', headers: caller.headers });
    expect(await spanNamed('listAuditEntries', caller.traceId)).toMatchObject({
      isError: false,
      attributes: { 'http.response.status_code': 403, 'crossdock.failure.code': 'permission_denied' },
    });
  });

  test('says why a request failed, without values', async () => {
    const caller = newTrace();
    await service.owner.query('alter table carriers rename to carriers_away');
    try {
      await service.call('listCarriers', { as: 'admin', headers: caller.headers });
    } finally {
      await service.owner.query('alter table carriers_away rename to carriers');
    }
    const request = await spanNamed('listCarriers', caller.traceId);
    expect(request).toMatchObject({ isError: true, attributes: { 'http.response.status_code': 500 } });
    const failed = ofTrace(caller.traceId).filter((span) => span.isError && span.spanId !== request.spanId);
    expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['42P01']);
  });
});

test('a span contains no value, secret or address: not of the body, the query, the token or the URL of a courier', async () => {
  await service.call('searchCustomers', { as: 'admin', query: { q: 'QUERY-CANARY' } });
  await service.call('login', {
    body: { action: 'login', username: 'USER-CANARY', password: 'PASS-CANARY' },
  });
  await eventually(() => collector.spans().some(({ name }) => name === 'login'));
  const text = collector.text();
  expect(text).toContain('receivePackage');
  for (const hidden of [
    'CANARY',
    'IEX-1001',
    DEMO.apiKeys.IEX,
    await service.tokenOf('warehouse'),
    courier.url,
  ])
    expect(text).not.toContain(hidden);
  expect(collector.receiver.at('/v1/traces').at(-1)?.headers).toMatchObject({
    'x-collector-key': 'secret key',
  });
});

describe('the header of a caller', () => {
  test.each([
    ['garbage', 'garbage'],
    ['an unknown version', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['no trace id', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['no parent', `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`],
    ['an extra field', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01-x`],
    ['a very long one', `00-${'a'.repeat(8_000)}`],
  ])('is ignored if it is malformed: %s', async (_name, traceparent) => {
    const reply = await service.call('listWarehouses', { as: 'admin', headers: { traceparent } });
    expect(reply.status).toBe(200);
    const traceId = await traceOf(reply.headers.get('x-request-id'));
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(traceparent).not.toContain(traceId);
    expect(collector.only('listWarehouses', traceId).parentSpanId).toBe('');
  });

  test('that is not sampled leaves no span, no stored trace and no header', async () => {
    const caller = newTrace('00');
    const before = courier.received.length;
    await receive('UNSAMPLED', caller.headers);
    await eventually(() => courier.received.length > before);
    expect(courier.received.slice(before).map(({ headers }) => headers['traceparent'])).toEqual([undefined]);
    const { rows } = await service.owner.query(
      `select traceparent from webhook_deliveries d join events e on e.id = d.event_id
       where e.data ->> 'tracking_number' = 'UNSAMPLED'`,
    );
    expect(rows).toEqual([{ traceparent: null }]);
    expect(ofTrace(caller.traceId)).toEqual([]);
  });
});

test('without tracing, a webhook has no header, and neither its row nor its job has a trace', async () => {
  const untraced = await startService({ worker: true });
  try {
    const { owner } = untraced;
    await owner.query(`create table queued as select payload from graphile_worker._private_jobs where false`);
    await owner.query(`create function keep() returns trigger language plpgsql as
      $$ begin insert into queued values (new.payload); return new; end $$;
      create trigger keep before insert on graphile_worker._private_jobs for each row execute function keep();
      grant all on queued to public`);
    await setEndpoints({ owner, secrets: untraced.app.secrets }, { add: `${courier.url}/off` });
    await untraced.call('receivePackage', {
      as: 'warehouse',
      headers: newTrace().headers,
      body: { tracking_number: 'OFF', weight: 1, user_code: 'IEX-1001' },
    });
    await eventually(() => courier.at('/off').length > 0);
    expect(courier.at('/off').map(({ headers }) => headers['traceparent'])).toEqual([undefined]);
    const { rows } = await owner.query('select traceparent from webhook_deliveries');
    expect(rows).toEqual([{ traceparent: null }]);
    const { rows: jobs } = await owner.query(
      `select payload from queued where payload ->> 'endpoint' is not null`,
    );
    expect(jobs.length).toBeGreaterThan(0);
    for (const { payload } of jobs)
      expect(Object.keys(payload).sort()).toEqual(['courierId', 'endpoint', 'tenantId']);
  } finally {
    await untraced.stop();
  }
});
