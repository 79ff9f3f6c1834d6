import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  CUSTOMERS,
  comparableReply,
  insertClaim,
  makeParcels,
  newNumber,
} from '../../support/builders/parcels.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeApi } from '../../support/fixture/api.js';
import { startCountingProxy, type CountingProxy, type Sent } from '../../support/harness/counting-proxy.js';
import { readWritten } from '../../support/readers/written.js';
import { startService, type Service } from '../../support/service/service.js';

const { HRB, IEX } = DEMO.couriers;
/** Six kinds of numbers in three rounds stay below the limit of an address. */
const ROUNDS = 3;

let proxy: CountingProxy;
let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  proxy = await startCountingProxy();
  // One connection, so that each statement is prepared once.
  // Without the log of calls, which is written each second, whatever a request does.
  const env = { API_CALL_LOG_DAYS: '0' };
  service = await startService({ through: proxy.through, poolSize: 1, env });
  parcels = makeParcels(service);
}, 60_000);

afterAll(async () => {
  await service.stop();
  await proxy.stop();
});

const claim = (tracking_number: string) =>
  makeApi(() => service)
    .as('iex')
    .claimParcel({ tracking_number, user_code: CUSTOMERS.IEX })
    .answer();

/** Makes a number of each kind about which an answer must say nothing. */
const KINDS: Record<string, () => Promise<string>> = {
  'no parcel': async () => newNumber(),
  'a parcel without an owner': () => received({}),
  "the courier's parcel without a customer": () => received({ courier_id: IEX }),
  "the courier's parcel with a customer": () => received({ user_code: CUSTOMERS.IEX }),
  "another courier's parcel": () => received({ user_code: CUSTOMERS.HRB }),
  'a parcel that another courier claims': async () => {
    const number = await received({});
    await insertClaim(service.owner, { courierId: HRB, trackingNumber: number });
    return number;
  },
};

async function received(fields: object): Promise<string> {
  const number = newNumber();
  await parcels.receive(number, fields);
  return number;
}

type Seen = { reply: string; headers: string; sent: Sent; tables: Record<string, number> };

async function look(number: string): Promise<Seen> {
  await service.owner.query("delete from courier_quotas where kind = 'claim_attempts'");
  const written = await readWritten(service.owner);
  const mark = await written.mark();
  proxy.take();
  const reply = await claim(number);
  const sent = proxy.take();
  const { tables } = await written.since(mark);
  const { claim_id } = reply.data;
  return {
    reply: comparableReply(reply).replace(claim_id, ''),
    headers: [...reply.headers.keys()].sort().join(' '),
    sent,
    // The work of the request itself: workers may write their own tables meanwhile.
    tables: Object.fromEntries(
      Object.entries(tables).filter(([name]) =>
        /parcel_claims|audit_entries|courier_quotas|packages|prealert/.test(name),
      ),
    ),
  };
}

test('the response, the statements and the written rows are the same for every kind of number', async () => {
  const seen = new Map<string, Seen[]>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [kind, make] of Object.entries(KINDS))
      seen.set(kind, [...(seen.get(kind) ?? []), await look(await make())]);
  const [reference] = seen.get('no parcel') ?? [];
  expect(reference?.reply).toContain('[201,');
  expect(reference?.tables).toEqual({
    'public.audit_entries': 1,
    'public.courier_quotas': 1,
    'public.parcel_claims': 1,
  });
  for (const [kind, found] of seen) {
    const fewest = (count: keyof Sent) => Math.min(...found.map(({ sent }) => sent[count]));
    expect([kind, fewest('executed'), fewest('roundTrips')]).toEqual([
      kind,
      Math.min(...(seen.get('no parcel') ?? []).map(({ sent }) => sent.executed)),
      Math.min(...(seen.get('no parcel') ?? []).map(({ sent }) => sent.roundTrips)),
    ]);
    for (const { reply, headers, tables } of found)
      expect([kind, reply, headers, tables]).toEqual([
        kind,
        reference?.reply,
        reference?.headers,
        reference?.tables,
      ]);
  }
}, 120_000);

test('a claim reads no package and no pre-alert, and waits for no lock of a parcel', async () => {
  await service.owner.query("delete from courier_quotas where kind = 'claim_attempts'");
  const number = await received({});
  const blocker = await service.owner.connect();
  try {
    await blocker.query('begin');
    await blocker.query(
      `select pg_advisory_xact_lock(hashtext('parcels ' || $1), n) from generate_series(0, 127) n`,
      [DEMO.tenants.demo],
    );
    await blocker.query('lock table packages, prealerts, prealert_flags in access exclusive mode');
    expect((await claim(number)).status).toBe(201);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}, 60_000);
