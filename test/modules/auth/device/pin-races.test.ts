import { expect, test } from '@jest/globals';
import { countPinAttempt } from '../../../../src/modules/auth/station/queries.js';
import { BACKGROUND } from '../../../../src/platform/audit/audit.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile } from '../../../support/harness/meanwhile.js';
import { withService } from '../../../support/fixture/with-service.js';
import { randomAddress } from '../../../support/sign-in/random-address.js';
import { makePinCalls, PIN } from './pin-calls.js';

const CALLERS = rounds(100, 300);

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { atStation, take } = makePinCalls({ api, db });

const times = <Result>(make: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: CALLERS }, (_, index) => make(index)));

const from = () => ({ 'x-forwarded-for': randomAddress() });

test(`of ${CALLERS} simultaneous attempts counted in the database, five are admitted across replicas`, async () => {
  const { worker, station } = await atStation();
  const deviceHash = service().app.secrets.lookupHash(station, 'station');
  const caller = { kind: 'system', tenantId: DEMO.tenants.demo } as const;
  const counted = await times(() => {
    const ctx = makeContext(service().db, caller, BACKGROUND);
    return ctx.write([countPinAttempt(ctx, { deviceHash, userId: worker.id })]);
  });
  const failures = counted.flatMap(([rows]) => rows).map((row) => row.failures);
  expect(failures.sort()).toEqual([1, 2, 3, 4, 5]);
});

test(`of ${CALLERS} simultaneous guesses at most four are told that they are wrong, and then no PIN works`, async () => {
  const { worker, station } = await atStation();
  const replies = await times((index) => take(station, worker, String(900_000 + index), from()).answer());
  expect(replies.filter(({ code }) => code === 'pin_wrong').length).toBeLessThanOrEqual(4);
  expect(new Set(replies.map(({ status }) => status))).not.toContain(200);
  const [row] = await db.all('station_workers', { user_id: worker.id });
  // On a slow machine the other callers may time out before five are compared.
  expect(row?.failures).toBeLessThanOrEqual(5);
  const { status } = await take(station, worker, PIN, from()).answer();
  expect(status).toBe(row?.failures === 5 ? 401 : 200);
});

test(`${CALLERS} right PINs at once start sessions or are told to wait, and leave no wrong ones`, async () => {
  const { worker, station } = await atStation();
  const replies = await times(() => take(station, worker, PIN, from()).answer());
  const statuses = new Set(replies.map(({ status }) => status));
  statuses.delete(503);
  expect([...statuses]).toEqual([200]);
  expect(await db.all('station_workers', { user_id: worker.id })).toMatchObject([{ failures: 0 }]);
});

test.each(['pin_hash = null', 'is_active = false', 'token_version = token_version + 1', "role = 'manager'"])(
  'no session starts if the user changes while the PIN is compared: %s',
  async (change) => {
    const { worker, station } = await atStation();
    const sessions = async () => (await db.all('sessions', { user_id: worker.id })).length;
    const before = await sessions();
    const text = `update users set ${change} where id = $1`;
    const reply = await changeMeanwhile(service().owner, { text, values: [worker.id] }, () =>
      take(station, worker, PIN, from()).answer(),
    );
    expect([reply.status, reply.code, (await sessions()) - before]).toEqual([401, 'password_needed', 0]);
  },
);
