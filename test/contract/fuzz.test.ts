import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { DEMO } from '../../fixtures/demo/demo.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import { makeFuzzClient, type FuzzClient } from './fuzz/client.js';
import { problemsOf } from './fuzz/oracle.js';
import { makeCourierScopes } from './fuzz/courier-scopes.js';
import type { RawReply } from '../support/service/wire.js';
import { requestsOf, describeRequest, type CourierScope } from './fuzz/requests.js';
import { operationIds } from '../support/service/contract.js';
import { insertDispatch, insertLabelJob, insertLog } from '../support/builders/deliveries.js';
import { rounds } from '../support/harness/effort.js';
import { serviceTokenOf } from '../support/service/principals.js';
import { startService, type Service } from '../support/service/service.js';
import { insertClaim, insertDocument, newNumber } from '../support/builders/parcels.js';
import { insertUsers } from '../support/builders/users.js';

// npm run fuzz -- --requests 1000000 --seed 7
const DEFAULT_REQUESTS = rounds(1_000, 20_000);
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? DEFAULT_REQUESTS);
/** All operations at once would let a busy machine reach the time limit of a request. */
const PARALLEL = 24;
/** Every operation must accept a request, whatever its share. */
const MIN_REQUESTS_EACH = 10;
/** How often an operation without an accepted request sends so many more. */
const MORE_ATTEMPTS = 20;
/**
 * An administrator's settings could lock the other callers out, so only callers without the permission are used. A PIN needs the cookie
 * of a station, whose tests are pins.test.ts, and an event of a feed a signature, whose tests are receive-events.test.ts. Tracking pages need the key of a link, or a number and a name; their tests
 * are in test/modules/tracking, and those of the link in a notice in test/modules/notices.
 */
const ACCEPTS_NONE: OperationId[] = [
  'updateSecuritySettings',
  'switchWorker',
  'receiveFeedEvent',
  'getTrackingPage',
  'getTrackingSearch',
  'submitTrackingSearch',
  'getNoticeChoice',
  'submitNoticeChoice',
  'getSandboxLives',
  'manageSandboxLives',
];
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const TIMEOUT_MS = 240_000 + REQUESTS * 20;

// Relative number of requests per operation; the default is 10.
const SHARES: Partial<Record<OperationId, number>> = {
  // After fifty failures, logins from an address are rejected before the password is checked.
  login: 3,
  changePassword: 3,
  manageTwoFactor: 3,
  // Only workers have PINs, and other operations end their sessions.
  manageStationWorker: 80,
  // Few of their valid requests name a row in the state that the action needs.
  manageUsers: 20,
  manageTeam: 20,
  recordPackageEvent: 20,
  uploadPrealerts: 20,
  uploadCustomers: 20,
  reportLabelJob: 34,
  reprintLabelJob: 20,
  manageCourierBills: 34,
  // renders PDF files
  getPackageLabel: 4,
  getManifestDocument: 4,
  // The packages that it voids are missing for the others.
  voidReceipt: 2,
  // no input and a large response
  getContractJson: 0.5,
  getContractYaml: 0.5,
  getSdkContract: 0.5,
  getHealth: 1,
  getReadiness: 1,
};

// An uploaded logo takes the place of the one that requests name.
const RESTORE_LOGOS =
  'delete from courier_logos; insert into courier_logos select * from saved_logos on conflict do nothing';

// The customers that uploaded files name. Others rename, disable and delete them, or give their codes to other customers.
const RESTORE_CUSTOMERS = `
  update customers set user_code = saved.user_code from saved_customers saved where saved.id = customers.id
    and customers.user_code <> saved.user_code and not exists (select from customers other
      where other.courier_id = customers.courier_id and other.user_code = saved.user_code);
  insert into customers select * from saved_customers on conflict do nothing;
  update customers set is_active = true from saved_customers saved where not customers.is_active
    and customers.courier_id = saved.courier_id and customers.user_code = saved.user_code`;

const UNREPORTED = `update label_jobs set status = 'sending', ended_at = null, lease_until = now() where id = claim_id`;

/** Statements to run after each request of an operation, so that requests of other operations can succeed. */
const RESTORE_FLAGS = `update prealerts p set status = 'flagged' from saved_flags f
  where f.id = p.id and p.status = 'pending'`;

const REPAIRS: Partial<Record<OperationId, string>> = {
  manageCouriers: 'update couriers set is_active = true',
  updateCustomer: RESTORE_CUSTOMERS,
  uploadPrealerts: RESTORE_CUSTOMERS,
  reportLabelJob: UNREPORTED,
  updateCourierSettings: RESTORE_LOGOS,
  uploadLogo: RESTORE_LOGOS,
  deleteLogo: RESTORE_LOGOS,
  reviewPrealert: RESTORE_FLAGS,
  // An open claim takes five, and others decide about the claims.
  addClaimDocument: `with removed as (delete from claim_documents where media_type = 'image/png')
    update parcel_claims set status = 'open', decided_at = null, decided_by = null, package_id = null
    where id in (select claim_id from claim_documents)`,
};

type Tally = {
  sent: number;
  accepted: number;
  rejected: number;
  validRejected: number;
  /** How often each reason refused requests that were intended as valid. */
  reasons: Map<string, number>;
};

let service: Service;
let client: FuzzClient;
const tallies = new Map<OperationId, Tally>();
const runs = new Map<OperationId, Promise<void>>();

beforeAll(async () => {
  // Several operations are fuzzed in parallel, and staff of one tenant get 80 % of the pool.
  service = await startService({ poolSize: 30 });
  client = await makeFuzzClient(service);
  for (const as of ['iex', 'hrb', 'two/two', 'admin']) await serviceTokenOf(service, as, ['packages:read']);
  await insertUsers(service.owner, 40);
  // manifests that can be deleted
  for (let count = 0; count < 40; count += 1) await service.call('createManifest', { as: 'admin', body: {} });
  // URLs for webhooks and customer synchronisation, and some sent webhooks
  await service.owner.query(`update couriers set api_url_add_package = 'https://partner.example/hooks',
    api_url_get_customers = 'https://partner.example/customers'`);
  for (let count = 0; count < 10; count += 1) {
    await insertLog(service.owner);
    await insertDispatch(service.owner);
    // Each claim is decided once.
    for (const courierId of [DEMO.couriers.IEX, DEMO.couriers.HRB])
      await insertDocument(
        service.owner,
        await insertClaim(service.owner, { courierId, trackingNumber: newNumber() }),
      );
  }
  await insertUnreportedLabel();
  // Each is reviewed once, and others replace or delete some.
  await service.owner.query(`update prealerts set status = 'flagged'
    where id in (select id from prealerts where status = 'pending' order by id limit 20)`);
  await service.owner.query("create table saved_flags as select id from prealerts where status = 'flagged'");
  const courierScopes = await makeCourierScopes(service.owner);
  await service.owner.query('create table saved_logos as select * from courier_logos');
  await service.owner.query(`create table saved_customers as select * from customers
    where user_code in ('IEX-1001', 'IEX-1002', 'HRB-2001')`);
  const total = operationIds.reduce((sum, id) => sum + (SHARES[id] ?? 10), 0);
  // Several operations run in parallel; each test waits for its own operation.
  const ends = Array.from({ length: PARALLEL }, () => Promise.resolve());
  for (const [index, id] of operationIds.entries()) {
    const numRuns = Math.max(MIN_REQUESTS_EACH, Math.ceil((REQUESTS * (SHARES[id] ?? 10)) / total));
    const run = (ends[index % PARALLEL] ?? Promise.resolve()).then(() => fuzz(id, numRuns, courierScopes));
    ends[index % PARALLEL] = run.catch(() => {});
    runs.set(id, run);
  }
});

/** Inserts a label job that the bridge stopped reporting. Its claim has the same id, because requests name ids of jobs. */
async function insertUnreportedLabel(): Promise<void> {
  const packageId = DEMO.packages.available.IEX[0] ?? '';
  await insertLabelJob(service.owner, { packageId, status: 'sending', claimId: randomUUID() });
  await service.owner.query(`update label_jobs set claim_id = id; ${UNREPORTED}`);
}

afterAll(async () => {
  await Promise.allSettled(runs.values());
  client.close();
  await service.stop();
  report();
}, TIMEOUT_MS);

async function fuzz(id: OperationId, numRuns: number, courierScopes: CourierScope[]): Promise<void> {
  const tally: Tally = { sent: 0, accepted: 0, rejected: 0, validRejected: 0, reasons: new Map() };
  tallies.set(id, tally);
  const property = fc.asyncProperty(requestsOf(id, courierScopes), async (request) => {
    const reply = await client.send(request);
    tally.sent += 1;
    const repair = REPAIRS[id];
    if (repair) await execute(repair);
    if (reply.status < 400) tally.accepted += 1;
    else tally.rejected += 1;
    if (reply.status >= 400 && request.isIntendedValid) {
      tally.validRejected += 1;
      const reason = reasonOf(reply);
      tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1);
    }
    const problems = problemsOf(request, reply);
    if (problems.length > 0) throw new Error(`${problems.join('\n')}\nto ${describeRequest(request)}`);
  });
  // Each operation has its own seed, because equal seeds would send similar requests. It depends on the name only, so that a
  // new operation does not change the requests of the others.
  const seed = SEED + createHash('sha256').update(id).digest().readUInt16BE();
  await fc.assert(property, { seed, numRuns, plugins: [fc.interruptAfterTimeLimit(TIMEOUT_MS)] });
  // Other operations change or delete the rows of these requests at the same time, so that chance may refuse all of the first ones.
  for (let more = 1; tally.accepted === 0 && !ACCEPTS_NONE.includes(id) && more <= MORE_ATTEMPTS; more += 1)
    await fc.assert(property, { seed: seed + more, numRuns: MIN_REQUESTS_EACH });
}

/** The code of a failure, and the first code of a field. */
function reasonOf({ text }: RawReply): string {
  const { code, errors = [] } = JSON.parse(text || '{}') as { code?: string; errors?: { code: string }[] };
  return [code, errors[0]?.code].filter(Boolean).join(' ');
}

/** A repair can deadlock with a request of another operation, which then fails or waits. */
async function execute(repair: string): Promise<void> {
  try {
    await service.owner.query(repair);
  } catch (error) {
    if ((error as { code?: string }).code !== '40P01') throw error;
    await execute(repair);
  }
}

function report(): void {
  if (process.env['FUZZ_REQUESTS'] === undefined) return;
  for (const [id, { sent, accepted, rejected, validRejected, reasons }] of tallies) {
    const share = Math.round((accepted / sent) * 100);
    const top = [...reasons].sort(([, a], [, b]) => b - a).slice(0, 3);
    const named = top.map(([reason, count]) => `${count} ${reason}`).join(', ');
    process.stdout.write(
      `${id.padEnd(30)} ${sent} sent, ${accepted} accepted (${share} %), ${rejected} rejected, ${validRejected} of these intended as valid (${named})\n`,
    );
  }
}

test.each(operationIds)(
  '%s: every response is declared by the contract, and no request that the contract allows is rejected as invalid',
  async (id) => {
    await runs.get(id);
    if (ACCEPTS_NONE.includes(id)) expect(tallies.get(id)?.rejected).toBeGreaterThan(0);
    else expect(tallies.get(id)?.accepted).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(`at least ${DEFAULT_REQUESTS} requests are sent, unless a smaller number is given`, () => {
  const sent = [...tallies.values()].reduce((sum, tally) => sum + tally.sent, 0);
  expect(sent).toBeGreaterThanOrEqual(Math.min(REQUESTS, DEFAULT_REQUESTS));
});
