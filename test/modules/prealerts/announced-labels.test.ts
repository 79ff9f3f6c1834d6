import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { rounds } from '../../support/harness/effort.js';
import { deviceScan, sendScan } from '../../support/scans/device-scans.js';
import { publishedVectors } from '../tracking-numbers/data-set.js';
import { multipart, unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// A courier announces a label or the number inside it, and the warehouse scans the other one. Whichever comes first, the outcome is
// the one of equal numbers.

const { api, db } = withService();
const scans = makeScanCalls(api);

const FEDEX = '1001921334250001800354779017972697';

/** A container code of GS1 in its barcode, which the data set does not name. */
const CONTAINER = { label: '00340123456789012341', number: '340123456789012341' };

const only = (scan: string) => readScan(scan).numbers[0];

/** The labels of the data set with the numbers inside them. */
function pairs(): { label: string; number: string }[] {
  const valid = publishedVectors().filter(({ isValid }) => isValid);
  const labels = [{ format: 'fedex_34', number: FEDEX }, ...valid];
  const found = new Map<string, { label: string; number: string }>([['container code', CONTAINER]]);
  for (const { format, number: label } of labels) {
    const inside = (only(label)?.candidates ?? []).map(({ trackingNumber }) => trackingNumber);
    for (const [place, number] of inside.entries()) {
      const name = `${format} ${place}`;
      if (!found.has(name) && number !== only(label)?.folded) found.set(name, { label, number });
    }
  }
  return [...found.values()];
}

const isMutual = ({ label, number }: { label: string; number: string }): boolean =>
  only(number)?.keys.includes(only(label)?.key ?? '') === true;

const PAIRS = pairs().filter(isMutual);

test('a label and the number inside it look up the keys of each other', () => {
  expect(PAIRS.length).toBeGreaterThan(8);
  const wrong = pairs().filter(
    ({ label, number }) =>
      !only(label)?.keys.includes(only(number)?.key ?? '') || !isMutual({ label, number }),
  );
  expect(wrong).toEqual([]);
});

/** With a right check digit, as 14 digits after 13 too. The two have different keys. */
const FEDEX_12 = '986578788855';

type Courier = 'IEX' | 'HRB';
type Announce = (courier: Courier, number: string) => Promise<unknown>;

const OWNERS = { IEX: 'IEX-1001', HRB: 'HRB-2001' };

const submission = (courier: Courier, number: string) => ({
  UserCode: OWNERS[courier],
  TrackingNumber: number,
});

const WAYS = Object.entries<Announce>({
  json: (courier, number) =>
    api.withKey(DEMO.apiKeys[courier]).submitPrealert(submission(courier, number)).created(),
  lines: (courier, number) =>
    api
      .withKey(DEMO.apiKeys[courier])
      .submitPrealert(unchecked(JSON.stringify(submission(courier, number))), {
        headers: { 'content-type': 'application/x-ndjson' },
      })
      .ok(),
  file: (courier, number) => {
    const file = `tracking_number,user_code\n"${number}",${OWNERS[courier]}`;
    return api
      .as(courier.toLowerCase())
      .uploadPrealerts(multipart({ file: { file } }))
      .ok();
  },
  form: (courier, number) => scans.announce(number, OWNERS[courier]),
  'form of staff': (courier, tracking_number) => {
    const named = { user_code: OWNERS[courier], courier_id: DEMO.couriers[courier] };
    return api
      .as('warehouse')
      .createPrealert({ ...named, tracking_number, vendor: 'Shop' })
      .created();
  },
  replacement: async (courier, tracking_number) => {
    const prealert_id = await scans.announce(`OLD-${Math.random()}`, OWNERS[courier]);
    return api
      .as(courier.toLowerCase())
      .replacePrealert({ prealert_id, user_code: OWNERS[courier], tracking_number, vendor: 'Shop' })
      .ok();
  },
});

/** Gives the rows of a round other keys, so that the next round begins without them. */
const forget = () =>
  db.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text),
       flags as (delete from prealert_flags), held as (delete from scans), places as (delete from parcel_positions)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  );

const receive = async (...receipt: Parameters<typeof scans.receive>) =>
  (await scans.receive(...receipt).succeeded()).data;

/** The id of the pre-alert of IEX. */
const prealertOf = async (tracking_number: string): Promise<string> =>
  (await db.one('prealerts', { courier_id: DEMO.couriers.IEX, tracking_number })).id;

const statuses = async (): Promise<string[]> => {
  const rows = await db.query<{ status: string }>(
    `select c.code || ' ' || a.status as status from prealerts a join couriers c on c.id = a.courier_id
     where a.tracking_number <> a.id::text order by 1`,
  );
  return rows.map(({ status }) => status);
};

/** What each scan of the parcel shows and does. */
async function scanAll(texts: string[]) {
  const seen: unknown[] = [];
  for (const scan of texts) {
    const { kind, owner, next, matches } = await scans.resolve(scan);
    const claims = matches.prealerts.map((row) => `${row.user_code} ${row.status}`);
    const { matched_by, duplicate, flagged, user_code } = await receive(scan);
    const located = await sendScan(api, deviceScan('locate', scan, 10, { location: 'A1' }));
    const batch = [located.result, located.parcel?.flagged];
    const shown = { kind: kind === 'house_number' ? 'parcel' : kind, owner: owner?.user_code, next };
    seen.push({ ...shown, claims: claims.sort(), matched_by, duplicate, flagged, user_code, batch });
  }
  // Each scan of one parcel has the same outcome.
  expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1);
  return seen[0];
}

type Story = (announce: Announce, announced: string, received: string, both: string[]) => Promise<unknown>;

const STORIES: Record<string, Story> = {
  'announced, then received': async (announce, announced, received, both) => {
    await announce('IEX', announced);
    const { house_number } = await receive(received);
    return [await statuses(), await scanAll([...both, house_number]), await statuses()];
  },
  'received for the courier, then announced': async (announce, announced, received, both) => {
    const { house_number } = await receive(received, { user_code: OWNERS.IEX });
    await announce('IEX', announced);
    return [await statuses(), await scanAll([...both, house_number]), await statuses()];
  },
  'received for one courier, then announced by another': async (announce, announced, received, both) => {
    const { house_number } = await receive(received, { user_code: OWNERS.IEX });
    await announce('HRB', announced);
    await receive(house_number);
    return [await statuses(), await scanAll([...both, house_number]), await statuses()];
  },
  'announced by two couriers, then received, reviewed and assigned': async (
    announce,
    announced,
    received,
    both,
  ) => {
    await announce('IEX', announced);
    await announce('HRB', received);
    const { house_number } = await receive(received);
    const disputed = [await statuses(), await scanAll([...both, house_number])];
    const review = { prealert_id: await prealertOf(announced), reason: 'Looked.', assign: true };
    const { data } = await api.as('warehouse').reviewPrealert(review).ok();
    return [
      ...disputed,
      data.status,
      data.assigned,
      await statuses(),
      await scanAll([...both, house_number]),
    ];
  },
  'received without an owner, announced, then given to the customer': async (
    announce,
    announced,
    received,
    both,
  ) => {
    const { package_id, house_number } = await receive(received);
    await announce('IEX', announced);
    await api.as('warehouse').updatePackage({ package_id, user_code: OWNERS.IEX }).ok();
    return [await statuses(), await scanAll([...both, house_number])];
  },
  'announced, then received under a wrong number that is corrected twice': async (
    announce,
    announced,
    received,
    both,
  ) => {
    await announce('IEX', announced);
    const { package_id, house_number } = await receive('WRONG-1', { user_code: OWNERS.IEX });
    const before = await statuses();
    await scans.renumber(package_id, received).ok();
    const corrected = [await statuses(), await scanAll([...both, house_number])];
    await scans.renumber(package_id, 'WRONG-1').ok();
    return [before, ...corrected, await statuses(), await scanAll(['WRONG-1', house_number])];
  },
  'flagged, deleted by the courier, then announced again': async (announce, announced, received) => {
    await announce('IEX', announced);
    await announce('HRB', announced);
    await receive(announced);
    await api
      .as('iex')
      .deletePrealert({ prealert_id: await prealertOf(announced) })
      .ok();
    await announce('IEX', received);
    return statuses();
  },
};

/** Each story tries one way with each pair, so that every way is tried with labels of FedEx. */
const WAYS_PER_PAIR = rounds(1, WAYS.length);

/** The pairs of a story: each pair is in a third of the stories, and in long runs in all of them. */
const SHARES = rounds(3, 1);
const pairsOf = (story: number) =>
  PAIRS.map(({ label, number }, index) => [label, number, index] as const).filter(
    ([, , index]) => index % SHARES === story % SHARES,
  );

describe.each(Object.entries(STORIES).map(([name, tell], story) => [name, tell, story] as const))(
  '%s',
  (_name, tell, story) => {
    test.each(pairsOf(story))(
      'gives %s and %s the outcome of equal numbers',
      async (label, number, index) => {
        for (let n = 0; n < WAYS_PER_PAIR; n += 1) {
          const [way, announce] = WAYS[(index + story + n) % WAYS.length] ?? [];
          if (!announce) throw new Error('There is no such way.');
          const outcomes: Record<string, unknown> = {};
          for (const [announced, received] of [
            [number, number],
            [label, number],
            [number, label],
          ] as const) {
            await forget();
            const key = `${way}: ${announced} announced, ${received} received`;
            outcomes[key] = await tell(announce, announced, received, [label, number]);
          }
          const [expected, ...others] = Object.values(outcomes);
          expect(others).toEqual([expected, expected]);
        }
      },
      120_000,
    );
  },
);

test('a number of 12 digits finds the package that was received with 14 digits that end in it', async () => {
  await forget();
  await receive(`13${FEDEX_12}`, { user_code: OWNERS.IEX });
  await scans.announce(FEDEX_12);
  expect(await statuses()).toEqual(['IEX received']);
});
