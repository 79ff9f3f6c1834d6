import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile } from '../../../support/harness/meanwhile.js';
import { deviceScan, receivedParcel, sendScan } from '../../../support/scans/device-scans.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';

// A house number means its package, also while the tracking number of the package is corrected (decision 0086).

const PARCELS = rounds(200, 600);

const { api, db, service } = withService({ poolSize: 40 });
const { announce, receive, renumber } = makeScanCalls(api);

type Labelled = { id: string; number: string; house: string };

async function receiveLabelled(): Promise<Labelled> {
  const number = newNumber();
  const { data } = await untilAdmitted(() => receive(number, { user_code: 'IEX-1001' }).answer());
  return { id: data.package_id, number, house: data.house_number };
}

/** Announces a number for another customer, so that a repeated scan of it is disputed. */
async function dispute(number: string): Promise<string> {
  const id = await announce(number, 'HRB-2001');
  await db.query("update prealerts set status = 'pending' where id = $1", [id]);
  return id;
}

/**
 * Corrects the number of a package as UpdatePackage does: with the parcels' locks, which `work` waits for. A trigger lets scans and
 * positions follow.
 */
const correction = ({ id, number }: Labelled, corrected: string) => ({
  text: `with locks as materialized (
      select pg_advisory_xact_lock(hashtext($1), hashtext(key) & 127) from unnest($2::text[]) as key
    )
    update packages set tracking_number = $3, tracking_key = $3
    where id = $4 and (select count(*) from locks) > 0`,
  values: [`parcels ${DEMO.tenants.demo}`, [number, corrected], corrected, id],
});

describe('a scan of a house number that meets a correction of the tracking number', () => {
  test.each([
    ['hold', {}, { status: 'on_hold' }],
    ['locate', { location: 'Shelf 3' }, { location: 'Shelf 3' }],
  ])('%s is executed for the package, and stays so when it is repeated', async (kind, fields, state) => {
    const labelled = await receiveLabelled();
    const scan = deviceScan(kind, labelled.house, 0, fields);
    const corrected = newNumber();
    const result = await changeMeanwhile(service().owner, correction(labelled, corrected), () =>
      sendScan(api, scan),
    );
    const parcel = { package_id: labelled.id, tracking_number: corrected, ...state };
    expect(result).toMatchObject({ result: 'done', parcel });
    expect(await sendScan(api, scan)).toMatchObject({ result: 'repeated', outcome: 'done', parcel });
  });

  test('a load is executed for the package', async () => {
    const labelled = await receiveLabelled();
    const { id: manifest_id } = await makeManifests(api).ready([labelled.id]);
    const result = await changeMeanwhile(service().owner, correction(labelled, newNumber()), () =>
      sendScan(api, deviceScan('load', labelled.house, 0, { manifest_id })),
    );
    expect(result).toMatchObject({
      result: 'done',
      parcel: { package_id: labelled.id, loaded_manifest_id: manifest_id },
    });
  });

  test('a repeated receive scan of a number is of the parcel that it is stored with', async () => {
    const number = newNumber();
    const scan = deviceScan('receive', number, 5, { weight: 1, user_code: 'IEX-1001' });
    const { package_id: id } = receivedParcel(await sendScan(api, scan));
    const corrected = newNumber();
    const change = correction({ id, number, house: '' }, corrected);
    const again = await changeMeanwhile(service().owner, change, () => sendScan(api, scan));
    expect(again).toMatchObject({
      result: 'repeated',
      outcome: 'done',
      parcel: { package_id: id, tracking_number: corrected },
    });
    expect(await db.packagesWithNumber(number)).toEqual([]);
  });

  test('an intake returns the package and flags no pre-alert of its earlier number', async () => {
    const labelled = await receiveLabelled();
    const prealert = await dispute(labelled.number);
    const { data } = await changeMeanwhile(service().owner, correction(labelled, newNumber()), () =>
      receive(labelled.house).ok(),
    );
    expect(data).toMatchObject({ package_id: labelled.id, duplicate: true });
    expect(await db.prealert(prealert)).toMatchObject({ status: 'pending' });
  });

  test(`${PARCELS} holds during as many corrections are all executed`, async () => {
    const labelled: Labelled[] = [];
    while (labelled.length < PARCELS) {
      const batch = await Promise.all(Array.from({ length: 20 }, () => receiveLabelled()));
      labelled.push(...batch);
    }
    const lost: unknown[] = [];
    for (let from = 0; from < PARCELS; from += 20) {
      const some = labelled.slice(from, from + 20);
      await Promise.all(
        some.flatMap((each) => [
          untilAdmitted(() => renumber(each.id, newNumber()).answer()),
          sendScan(api, deviceScan('hold', each.house, 0)).then((result) => {
            if (result.result !== 'done' || result.parcel?.package_id !== each.id) lost.push(result);
          }),
        ]),
      );
    }
    expect(lost).toEqual([]);
    const ids = labelled.map(({ id }) => id);
    expect(await db.count('packages', { id: ids, status: 'on_hold' })).toBe(PARCELS);
  }, 240_000);
});

test('an intake of a number whose package gets another number meanwhile stores a new parcel', async () => {
  const labelled = await receiveLabelled();
  const prealert = await dispute(labelled.number);
  const { data } = await changeMeanwhile(service().owner, correction(labelled, newNumber()), () =>
    receive(labelled.number).created(),
  );
  expect(data).toMatchObject({ matched_by: 'prealert', prealert_id: prealert });
  expect(data.package_id).not.toBe(labelled.id);
});
