import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { rounds } from '../../support/harness/effort.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { type Service } from '../../support/service/service.js';
import { publishedVectors } from '../tracking-numbers/data-set.js';
import { withService } from '../../support/fixture/with-service.js';

// A courier announces a label or the number inside it, and the warehouse scans the other one. Whichever comes first, the outcome is
// the one of equal numbers.

const { service } = withService();

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

type Announce = (courier: 'IEX' | 'HRB', number: string) => Promise<unknown>;

const OWNERS = { IEX: 'IEX-1001', HRB: 'HRB-2001' };

const call = async (operation: Parameters<Service['call']>[0], options: object) => {
  const { status, body } = await service().call(operation, options);
  expect([200, 201]).toContain(status);
  return body['data'];
};

const create = (courier: 'IEX' | 'HRB', tracking_number: string, as = courier.toLowerCase()) => {
  const body = { user_code: OWNERS[courier], tracking_number, vendor: 'Shop' };
  return call('createPrealert', {
    as,
    body: as === 'warehouse' ? { ...body, courier_id: DEMO.couriers[courier] } : body,
  });
};

const WAYS = Object.entries<Announce>({
  json: (courier, number) =>
    call('submitPrealert', {
      key: DEMO.apiKeys[courier],
      body: { UserCode: OWNERS[courier], TrackingNumber: number },
    }),
  lines: (courier, number) =>
    call('submitPrealert', {
      key: DEMO.apiKeys[courier],
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify({ UserCode: OWNERS[courier], TrackingNumber: number }),
    }),
  file: (courier, number) =>
    call('uploadPrealerts', {
      as: courier.toLowerCase(),
      form: { file: { file: `tracking_number,user_code\n"${number}",${OWNERS[courier]}` } },
    }),
  form: (courier, number) => create(courier, number),
  'form of staff': (courier, number) => create(courier, number, 'warehouse'),
  replacement: async (courier, number) => {
    const { prealert_id } = await create(courier, `OLD-${Math.random()}`);
    const body = { prealert_id, user_code: OWNERS[courier], tracking_number: number, vendor: 'Shop' };
    return call('replacePrealert', { as: courier.toLowerCase(), body });
  },
});

/** Gives the rows of a round other keys, so that the next round begins without them. */
const forget = () =>
  service().owner.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text),
       flags as (delete from prealert_flags), held as (delete from scans), places as (delete from parcel_positions)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  );

const receive = (tracking_number: string, fields: object = {}) =>
  call('receivePackage', { as: 'warehouse', body: { tracking_number, weight: 1, ...fields } });

const statuses = async (): Promise<string[]> => {
  const { rows } = await service().owner.query(
    `select c.code || ' ' || a.status as status from prealerts a join couriers c on c.id = a.courier_id
     where a.tracking_number <> a.id::text order by 1`,
  );
  return rows.map(({ status }) => status);
};

/** What each scan of the parcel shows and does. */
async function scanAll(scans: string[]) {
  const seen: unknown[] = [];
  for (const scan of scans) {
    const { kind, owner, next, matches } = await call('resolveScan', { as: 'warehouse', body: { scan } });
    const claims = matches.prealerts.map(
      (row: { user_code: string; status: string }) => `${row.user_code} ${row.status}`,
    );
    const { matched_by, duplicate, flagged, user_code } = await receive(scan);
    const { results } = await sendScans(service(), [deviceScan('locate', scan, 10, { location: 'A1' })]);
    const batch = [results[0].result, results[0].parcel.flagged];
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
    const { rows } = await service().owner.query(
      `select id from prealerts where courier_id = $1 and tracking_number = $2`,
      [DEMO.couriers.IEX, announced],
    );
    const body = { prealert_id: rows[0]?.id, reason: 'Looked.', assign: true };
    const { status, assigned } = await call('reviewPrealert', { as: 'warehouse', body });
    return [...disputed, status, assigned, await statuses(), await scanAll([...both, house_number])];
  },
  'received without an owner, announced, then given to the customer': async (
    announce,
    announced,
    received,
    both,
  ) => {
    const { package_id, house_number } = await receive(received);
    await announce('IEX', announced);
    await call('updatePackage', { as: 'warehouse', body: { package_id, user_code: OWNERS.IEX } });
    return [await statuses(), await scanAll([...both, house_number])];
  },
  'announced, then received under a wrong number that is corrected twice': async (
    announce,
    announced,
    received,
    both,
  ) => {
    await announce('IEX', announced);
    const renumber = (package_id: string, tracking_number: string) =>
      call('updatePackage', { as: 'warehouse', body: { package_id, tracking_number } });
    const { package_id, house_number } = await receive('WRONG-1', { user_code: OWNERS.IEX });
    const before = await statuses();
    await renumber(package_id, received);
    const corrected = [await statuses(), await scanAll([...both, house_number])];
    await renumber(package_id, 'WRONG-1');
    return [before, ...corrected, await statuses(), await scanAll(['WRONG-1', house_number])];
  },
  'flagged, deleted by the courier, then announced again': async (announce, announced, received) => {
    await announce('IEX', announced);
    await announce('HRB', announced);
    await receive(announced);
    const { rows } = await service().owner.query(
      `select id from prealerts where courier_id = $1 and tracking_number = $2`,
      [DEMO.couriers.IEX, announced],
    );
    await call('deletePrealert', { as: 'iex', body: { prealert_id: rows[0]?.id } });
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
  await create('IEX', FEDEX_12);
  expect(await statuses()).toEqual(['IEX received']);
});
