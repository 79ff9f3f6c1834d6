import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSandbox, type OpenedSandbox } from '../../support/fixture/sandboxes.js';
import { scrape } from '../../support/readers/exposition.js';
import { until } from '../../support/service/processes.js';
import { newNumber } from '../../support/builders/parcels.js';
import { ask, codeOf, type Outcome } from '../../support/service/client.js';
import { talk } from '../../support/service/wire.js';
import { startService, type Service } from '../../support/service/service.js';
import { DEMO } from '../../../fixtures/demo/seed.js';

let service: Service;
let sandbox: OpenedSandbox;
let metricsPort: number;

beforeAll(async () => {
  service = await startService({ env: { METRICS_PORT: '0' } });
  metricsPort = service.metrics?.port ?? 0;
  sandbox = await makeSandbox(service);
}, 60_000);
afterAll(() => service.stop());

const provoking = (value: string) => ({ 'crossdock-provoke': value });
const announced = (trackingNumber: string) => ({ UserCode: 'IEX-1', TrackingNumber: trackingNumber });
const stored = async (trackingNumber: string) => {
  const { rows } = await service.owner.query('select 1 from prealerts where tracking_number = $1', [
    trackingNumber,
  ]);
  return rows.length;
};

describe.each([
  ['rate_limited', 429],
  ['overloaded', 503],
])('Crossdock-Provoke: %s', (code, status) => {
  test(`is a ${status} with Retry-After, and nothing is executed`, async () => {
    const number = newNumber();
    const call = { key: sandbox.key, headers: provoking(code), body: announced(number) };
    const reply = await sandbox.send('submitPrealert', call);
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await stored(number)).toBe(0);
  });

  test('needs a credential that works', async () => {
    const call = { headers: provoking(code), body: announced(newNumber()) };
    const keys = [`${sandbox.key.slice(0, -1)}x`, DEMO.apiKeys.IEX];
    for (const key of keys) expect((await sandbox.send('submitPrealert', { ...call, key })).status).toBe(403);
    const token = `${sandbox.token.slice(0, -2)}00`;
    expect((await sandbox.send('listPrealerts', { headers: provoking(code), token })).status).toBe(401);
    expect((await sandbox.send('listPrealerts', { headers: provoking(code), token: '' })).status).toBe(401);
  });

  test('is no failure of the service in its metrics', async () => {
    const call = { key: sandbox.key, headers: provoking(code), body: announced(newNumber()) };
    const ofSubmissions = (values: Map<string, number>) =>
      [...values].filter(([series]) => /^crossdock_(http_requests|overloaded)_total/.test(series));
    const { values: before } = await scrape(metricsPort);
    for (let n = 0; n < 3; n += 1) expect((await sandbox.send('submitPrealert', call)).status).toBe(status);
    let grown: [string, number][] = [];
    await until(async () => {
      const { values } = await scrape(metricsPort);
      grown = ofSubmissions(values)
        .map(([series, value]): [string, number] => [series, value - (before.get(series) ?? 0)])
        .filter(([, more]) => more > 0);
      return grown.length > 0;
    });
    const series = 'crossdock_http_requests_total{operation="submitPrealert",status="provoked"}';
    expect(grown).toEqual([[series, 3]]);
  });

  test('changes nothing in a live tenant', async () => {
    const number = newNumber();
    const body = { UserCode: 'IEX-1001', TrackingNumber: number };
    const headers = provoking(code);
    expect(await submit('', DEMO.apiKeys.IEX, headers, body)).toMatchObject({ status: 201 });
    expect(await stored(number)).toBe(1);
  });
});

/** Sends a pre-alert with an Idempotency-Key. */
const submit = (path: string, key: string, headers: Record<string, string>, body: object): Promise<Outcome> =>
  ask(service.url, {
    method: 'POST',
    path: `${path}/api/Prealert.php`,
    body,
    headers: { 'x-api-key': key, ...headers },
  }).catch(codeOf);

describe('Crossdock-Provoke: cut_body', () => {
  test('executes the request once, cuts its response, and its repetition gets the whole one', async () => {
    const number = newNumber();
    // A retry loop sends the same headers again.
    const headers = { 'idempotency-key': randomUUID(), ...provoking('cut_body') };
    const cut = await submit(sandbox.basePath, sandbox.key, headers, announced(number));
    expect(cut).toMatch(/^(ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/);
    expect(await stored(number)).toBe(1);
    const again = await submit(sandbox.basePath, sandbox.key, headers, announced(number));
    expect(again).toMatchObject({ status: 201 });
    expect(await stored(number)).toBe(1);
  });

  test('ends the connection: a request that is pipelined behind it is not executed', async () => {
    const number = newNumber();
    const body = JSON.stringify(announced(number));
    const cut =
      `GET ${sandbox.basePath}/api/ManagePrealerts.php HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: Bearer ${sandbox.token}\r\nCrossdock-Provoke: cut_body\r\n\r\n`;
    const next =
      `POST ${sandbox.basePath}/api/Prealert.php HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${sandbox.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await talk(service.url, cut + next);
    expect(await stored(number)).toBe(0);
  });

  test('cuts no failure, and hides none from the metrics', async () => {
    const wrong = `${sandbox.key.slice(0, -1)}x`;
    const outcome = await submit(sandbox.basePath, wrong, provoking('cut_body'), announced(newNumber()));
    expect(outcome).toMatchObject({ status: 403 });
    const counted = 'crossdock_http_requests_total{operation="submitPrealert",status="403"}';
    await until(async () => ((await scrape(metricsPort)).values.get(counted) ?? 0) > 0);
  });

  test('sends half of what Content-Length announces', async () => {
    const response = await fetch(`${service.url}${sandbox.basePath}/api/ManagePrealerts.php`, {
      headers: { authorization: `Bearer ${sandbox.token}`, ...provoking('cut_body') },
    });
    expect(response.status).toBe(200);
    const announcedBytes = Number(response.headers.get('content-length'));
    let received = 0;
    await expect(
      (async () => {
        for await (const chunk of response.body ?? []) received += (chunk as Uint8Array).length;
      })(),
    ).rejects.toThrow('terminated');
    expect(received).toBe(Math.floor(announcedBytes / 2));
  });

  test('changes nothing in a live tenant', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: newNumber() };
    const whole = await submit('', DEMO.apiKeys.IEX, provoking('cut_body'), body);
    expect(whole).toMatchObject({ status: 201 });
  });
});
