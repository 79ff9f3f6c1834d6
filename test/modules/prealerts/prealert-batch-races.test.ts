import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService({ poolSize: 20 });

const CALLERS = rounds(24, 200);
const ROUNDS = rounds(1, 20);
const LINES = 40;
const LIMIT_MS = 60_000 + ROUNDS * 20_000;

const numbersOf = (prefix: string) => Array.from({ length: LINES }, (_, n) => `${prefix}-${n}`);

const batch = (numbers: string[], query = {}, key: string = DEMO.apiKeys.IEX, userCode = 'IEX-1001') =>
  api
    .withKey(key)
    .submitPrealert(
      unchecked(
        numbers.map((TrackingNumber) => JSON.stringify({ UserCode: userCode, TrackingNumber })).join('\n'),
      ),
      { headers: { 'content-type': 'application/x-ndjson' }, query },
    );

const callers = (call: (index: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: CALLERS }, (_, index) => untilAdmitted(() => call(index))));

const count = async (statement: string, values: unknown[] = []) =>
  (await service().owner.query<{ n: number }>(statement, values)).rows[0]?.n;

async function expectExactCounters(): Promise<void> {
  expect(await count('select sum(total)::int as n from prealert_tallies')).toBe(
    await count('select count(*)::int as n from prealerts'),
  );
}

test(
  `of ${CALLERS} batches and single calls with the same ${LINES} numbers in different orders, each number is created once`,
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = numbersOf(`BATCH-RACE-${round}`);
      const orders = [
        numbers,
        [...numbers].reverse(),
        [...numbers.slice(LINES / 2), ...numbers.slice(0, LINES / 2)],
      ];
      const replies = await callers((index) =>
        index % 4 === 3
          ? api
              .withKey(DEMO.apiKeys.IEX)
              .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: numbers[index % LINES] })
              .answer()
          : batch(orders[index % 4] ?? numbers).answer(),
      );
      let created = 0;
      for (const { status, body } of replies) {
        expect([200, 201, 409]).toContain(status);
        if (status === 201) created += 1;
        if (status !== 200) continue;
        expect(body['data'].created + body['data'].duplicate).toBe(LINES);
        created += body['data'].created;
      }
      expect(created).toBe(LINES);
      const like = [`BATCH-RACE-${round}-%`];
      expect(
        await count('select count(*)::int as n from prealerts where tracking_number like $1', like),
      ).toBe(LINES);
      const entries = `select count(*)::int as n from audit_entries
        where action = 'prealert.created' and after ->> 'tracking_number' like $1`;
      expect(await count(entries, like)).toBe(LINES);
    }
    await expectExactCounters();
  },
  LIMIT_MS,
);

test(
  `of ${CALLERS} atomic batches that share numbers, one is stored and the others get 409`,
  async () => {
    const shared = numbersOf('ATOMIC-RACE');
    const replies = await callers((index) => {
      const own = Array.from({ length: 5 }, (_, n) => `ATOMIC-RACE-${index}-OWN-${n}`);
      const numbers = [...own, ...shared];
      return batch(index % 2 ? numbers : numbers.reverse(), { atomic: true }).answer();
    });
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(CALLERS - 1);
    expect(
      await count("select count(*)::int as n from prealerts where tracking_number like 'ATOMIC-RACE-%'"),
    ).toBe(LINES + 5);
    await expectExactCounters();
  },
  LIMIT_MS,
);

test(
  `batches of two couriers against the intake of the same ${LINES} parcels miss no match, in ${ROUNDS} rounds`,
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = numbersOf(`INTAKE-RACE-${round}`);
      const intakes = numbers.map((tracking_number) =>
        untilAdmitted(() =>
          api
            .as('warehouse')
            .receivePackage({
              tracking_number,
              weight: 1,
              courier_id: DEMO.couriers.IEX,
              user_code: 'IEX-1001',
            })
            .answer(),
        ),
      );
      const batches = [
        untilAdmitted(() => batch([...numbers].reverse()).answer()),
        untilAdmitted(() => batch(numbers, {}, DEMO.apiKeys.HRB, 'HRB-2001').answer()),
      ];
      const replies = await Promise.all([...intakes, ...batches]);
      expect(replies.filter(({ status }) => status >= 300)).toEqual([]);
      const { rows } = await service().owner.query<{
        tracking_number: string;
        own: string;
        sibling: string;
        flagged: boolean;
      }>(
        `select p.tracking_number, own.status as own, sibling.status as sibling, p.courier_id is null as flagged
         from packages p
         join prealerts own on own.tracking_number = p.tracking_number and own.courier_id = $2
         join prealerts sibling on sibling.tracking_number = p.tracking_number and sibling.courier_id = $3
         where p.tracking_number like $1`,
        [`INTAKE-RACE-${round}-%`, DEMO.couriers.IEX, DEMO.couriers.HRB],
      );
      expect(rows).toHaveLength(LINES);
      for (const { own, sibling, flagged } of rows) {
        // Intake saw the sibling's pre-alert, or it did not exist yet. It never misses a stored one.
        if (flagged) expect([own === 'pending', sibling]).toEqual([expect.any(Boolean), 'flagged']);
        else expect([own, sibling]).toEqual(['received', 'pending']);
      }
    }
    await expectExactCounters();
  },
  LIMIT_MS,
);
