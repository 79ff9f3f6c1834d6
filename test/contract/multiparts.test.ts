import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OperationId } from '../../src/platform/contract/types.js';
import { encodeMultipart, MULTIPART } from './fuzz/bodies.js';
import { makeFuzzClient, type FuzzClient } from './fuzz/client.js';
import { makeCourierScopes } from './fuzz/courier-scopes.js';
import { DAMAGE, damage } from './fuzz/multiparts.js';
import { problemsOf } from './fuzz/oracle.js';
import { encode, plansOf, describeRequest, type FuzzRequest, type CourierScope } from './fuzz/requests.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { rounds } from '../support/harness/effort.js';
import { startService, type Service } from '../support/service/service.js';
import { insertUsers } from '../support/builders/users.js';

const MULTIPARTS = rounds(600, 5_000);
const SEED = 20_261_121;

let service: Service;
let client: FuzzClient;
let courierScopes: CourierScope[];

beforeAll(async () => {
  service = await startService();
  client = await makeFuzzClient(service);
  await insertUsers(service.owner, 40);
  courierScopes = await makeCourierScopes(service.owner);
});

afterAll(async () => {
  client.close();
  await service.stop();
});

const accepts = (id: OperationId, mediaType: string) =>
  (operationOf(id).mediaTypes as readonly string[]).includes(mediaType);
const withBody = operationIds.filter((id) => operationOf(id).mediaTypes.length > 0);
const multipartIds = withBody.filter((id) => accepts(id, MULTIPART));

/** Operations without multipart receive bodies of the same quality as those with multipart. */
function requestsTo(id: OperationId): fc.Arbitrary<FuzzRequest> {
  const acceptsMultipart = multipartIds.includes(id);
  const plans = acceptsMultipart ? plansOf(id, courierScopes, MULTIPART) : plansOf(id, courierScopes);
  return plans.map((plan) => {
    const { bytes, contentType } = encodeMultipart(Object.entries(plan.body ?? { file: 'x' }));
    const request = encode(id, { ...plan, mediaType: MULTIPART }, false);
    return { ...request, headers: [['content-type', contentType]], body: bytes };
  });
}

// Requests run in parallel; each worker has its own seed.
const WORKERS = 8;

async function sendDamaged(
  id: OperationId,
  count: number,
  onStatus: (status: number, request: FuzzRequest) => void,
): Promise<void> {
  const damages = fc.array(DAMAGE, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(requestsTo(id), damages, async (whole, broken) => {
    const request = damage(whole, broken);
    const reply = await client.send(request);
    const problems = problemsOf(request, reply);
    if (problems.length > 0) throw new Error(`${problems.join('\n')}\nto ${describeRequest(request)}`);
    onStatus(reply.status, request);
  });
  const seed = SEED + operationIds.indexOf(id) * WORKERS;
  const seeds = Array.from({ length: WORKERS }, (_, worker) => seed + worker);
  await Promise.all(
    seeds.map((each) => fc.assert(property, { seed: each, numRuns: Math.ceil(count / WORKERS) })),
  );
}

test('operations without multipart reject a multipart body, whole or damaged, before they read it', async () => {
  const ids = withBody.filter((id) => !multipartIds.includes(id));
  for (const id of ids) {
    const { bodyRequired } = operationOf(id);
    await sendDamaged(id, rounds(8, 40), (status, { body }) => {
      // PHP's curl sends a Content-Type without a body, so an optional body may be absent in any of them.
      const isAbsent = !bodyRequired && body?.length === 0;
      if (!isAbsent) expect([400, 413, 415]).toContain(status);
    });
  }
}, 120_000);

// One test for all operations, because there may be none with multipart.
test(`${MULTIPARTS} damaged multipart bodies get a declared response: no internal error and no hanging request`, async () => {
  let refused = 0;
  const share = Math.ceil(MULTIPARTS / Math.max(1, multipartIds.length));
  await Promise.all(
    multipartIds.map((id) => sendDamaged(id, share, (status) => (refused += status === 400 ? 1 : 0))),
  );
  expect(refused).toBeGreaterThanOrEqual(multipartIds.length > 0 ? MULTIPARTS / 4 : 0);
}, 300_000);
