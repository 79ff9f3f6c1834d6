import { beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { runBackgroundMigrations } from '../../../../src/jobs/background-migrations/run.js';
import { MIGRATIONS } from '../../../../src/platform/db/migrations/migration-files.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import type { Refusal } from '../../../support/fixture/pending-call.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A courier has one pre-alert per parcel, in whatever spelling it announces the number (decision 0104).

const { api, service } = withService();
let parcels: ReturnType<typeof makeParcels>;
beforeAll(() => {
  parcels = makeParcels(service());
});

const key = DEMO.apiKeys.IEX;
const UserCode = CUSTOMERS.IEX;
const submit = (TrackingNumber: string) => api.withKey(key).submitPrealert({ UserCode, TrackingNumber });
const submitLines = (numbers: string[]) =>
  api
    .withKey(key)
    .submitPrealert(
      unchecked(numbers.map((TrackingNumber) => JSON.stringify({ UserCode, TrackingNumber })).join('\n')),
      { headers: { 'content-type': 'application/x-ndjson' } },
    )
    .ok();
const create = (tracking_number: string) =>
  api.as('iex').createPrealert({ user_code: UserCode, tracking_number, vendor: 'Shop' });

/** Mixes of upper and lower case of a number. */
function spellingsOf(number: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    Array.from(number, (char, place) => ((n >> place) & 1 ? char.toLowerCase() : char)).join(''),
  );
}

const LETTERS = 'ABCDEFGHIJKLMNOP';
let serial = 0;
const newLetters = () => `${LETTERS}${(serial += 1)}-${newNumber()}`;

const idsOf = async (number: string): Promise<unknown[]> =>
  (
    await parcels.select('select id from prealerts where upper(tracking_number) = upper($1) order by id', [
      number,
    ])
  ).map(({ id }) => id);

test('1,000 spellings in one batch are one pre-alert and 999 duplicates, and the parcel is received', async () => {
  const number = newLetters();
  const { data } = await submitLines(spellingsOf(number, 1_000));
  expect(data).toMatchObject({ created: 1, duplicate: 999 });
  const [id, another] = await idsOf(number);
  expect(another).toBeUndefined();
  const [, second] = data.results;
  expect(second).toMatchObject({
    code: 'duplicate_tracking_number',
    existing: { prealert_id: id, differs: false },
  });
  await parcels.receive(number);
  const rows = await parcels.select('select status from prealerts where id = $1', [id]);
  expect(rows).toEqual([{ status: 'received' }]);
});

describe('a repetition in another spelling is the duplicate of the first', () => {
  const ways: [name: string, announce: (number: string) => Promise<Refusal>][] = [
    ['a submission', (number) => submit(number).refused(409, 'duplicate_tracking_number')],
    ['createPrealert', (number) => create(number).refused(409, 'duplicate_tracking_number')],
    [
      'replacePrealert',
      async (tracking_number) => {
        const prealert_id = await parcels.announce('IEX', newNumber());
        const body = { prealert_id, user_code: UserCode, tracking_number, vendor: 'Shop' };
        return api.as('iex').replacePrealert(body).refused(409, 'duplicate_tracking_number');
      },
    ],
  ];

  test.each(ways)('in %s', async (_name, announce) => {
    const number = newLetters();
    const id = await parcels.announce('IEX', number);
    const { existing } = await announce(number.toLowerCase());
    expect(existing).toMatchObject({ prealert_id: id, differs: false });
    expect(await idsOf(number)).toEqual([id]);
  });

  test('in a batch and in an upload', async () => {
    const number = newLetters();
    const id = await parcels.announce('IEX', number);
    const lines = await submitLines([number.toLowerCase(), newNumber()]);
    expect(lines.data).toMatchObject({
      created: 1,
      duplicate: 1,
      results: [{ existing: { prealert_id: id } }, {}],
    });
    for (const dry_run of ['true', 'false']) {
      const file = `tracking_number,user_code\n${number.toLowerCase()},${UserCode}\n`;
      const form = multipart({ file: { file }, dry_run });
      const { data } = await api.as('iex').uploadPrealerts(form).ok();
      expect(data).toMatchObject({
        created: 0,
        duplicate: 1,
        existing: [{ prealert_id: id }],
      });
    }
    expect(await idsOf(number)).toEqual([id]);
  });

  test('also if 40 spellings arrive at once in all ways', async () => {
    const number = newLetters();
    const statuses = await Promise.all(
      spellingsOf(number, 40).map((spelling, n) =>
        n % 2 === 0 ? submit(spelling).status() : create(spelling).status(),
      ),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(39);
    expect(await idsOf(number)).toHaveLength(1);
  });
});

test('a label and the number inside it are one parcel of the courier', async () => {
  const inner = '9400111899223197428490';
  const id = await parcels.announce('IEX', inner);
  const { existing } = await submit(`42033166${inner}`).refused(409, 'duplicate_tracking_number');
  expect(existing).toMatchObject({ prealert_id: id });
});

test('another courier may announce the parcel, and a pre-alert may change its own spelling', async () => {
  const number = newLetters();
  const prealert_id = await parcels.announce('IEX', number);
  await parcels.announce('HRB', number.toLowerCase());
  const body = { prealert_id, user_code: UserCode, tracking_number: number.toLowerCase(), vendor: 'Shop' };
  await api.as('iex').replacePrealert(body).ok();
  expect(await idsOf(number)).toHaveLength(2);
});

test('spellings that an earlier release stored stay and are reported, and no further one is stored', async () => {
  const number = newLetters();
  const first = await parcels.announce('IEX', number);
  const second = await parcels.announce('IEX', newNumber());
  await parcels.select('update prealerts set announced_key = null where id = any($1)', [[first, second]]);
  await parcels.select('update prealerts set tracking_number = lower($2), tracking_key = $2 where id = $1', [
    second,
    number,
  ]);
  await parcels.select(
    `update installation.background_migrations set status = 'running', tenant_id = null, last_key = null, findings = 0
     where name like '%_announced_keys'`,
  );
  const stopping = new AbortController().signal;
  await runBackgroundMigrations({ db: service().db, stopping, log: pino({ level: 'silent' }) }, MIGRATIONS);
  const done = await parcels.select(
    `select status, findings::int as findings from installation.background_migrations where name like '%_announced_keys'`,
  );
  expect(done).toEqual([{ status: 'finished', findings: 1 }]);
  expect(await idsOf(number)).toEqual([first, second].sort());
  const [entry] = (await parcels.auditOf(second)).filter(({ action }) => action === 'prealert.double_found');
  expect(entry).toMatchObject({ after: { other_prealert_id: first } });
  const third = Array.from(number, (char, place) => (place % 2 ? char.toLowerCase() : char)).join('');
  const { existing } = await submit(third).refused(409, 'duplicate_tracking_number');
  expect(existing).toMatchObject({ prealert_id: first });
});
