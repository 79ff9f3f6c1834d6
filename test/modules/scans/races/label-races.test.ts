import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile } from '../../../support/harness/meanwhile.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { startService, untilAdmitted, type Service } from '../../../support/service/service.js';

// A house number means its package, also while the tracking number of the package is corrected (decision 0086).

const PARCELS = rounds(200, 600);

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService({ poolSize: 40 });
  parcels = makeParcels(service);
}, 60_000);

afterAll(() => service.stop(), 60_000);

type Labelled = { id: string; number: string; house: string };

async function receiveLabelled(fields: object = { user_code: 'IEX-1001' }): Promise<Labelled> {
  const number = newNumber();
  const { body } = await untilAdmitted(() => parcels.scan(number, fields));
  return { id: String(body['data'].package_id), number, house: String(body['data'].house_number) };
}

const renumber = ({ id }: Labelled, tracking_number: string) =>
  untilAdmitted(() => parcels.update('admin', id, { tracking_number }));

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
    const { results } = await changeMeanwhile(service.owner, correction(labelled, corrected), () =>
      sendScans(service, [scan]),
    );
    const parcel = { package_id: labelled.id, tracking_number: corrected, ...state };
    expect(results).toMatchObject([{ result: 'done', parcel }]);
    const again = await sendScans(service, [scan]);
    expect(again.results).toMatchObject([{ result: 'repeated', outcome: 'done', parcel }]);
  });

  test('a load is executed for the package', async () => {
    const labelled = await receiveLabelled();
    const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
    const manifest_id = String(body['data'].manifest_id);
    const manage = (fields: object) =>
      service.call('manageManifest', { as: 'warehouse', body: { manifest_id, ...fields } });
    await manage({ action: 'add_packages', package_ids: [labelled.id] });
    expect((await manage({ action: 'update_meta', status: 'ready' })).status).toBe(200);
    const { results } = await changeMeanwhile(service.owner, correction(labelled, newNumber()), () =>
      sendScans(service, [deviceScan('load', labelled.house, 0, { manifest_id })]),
    );
    expect(results).toMatchObject([
      { result: 'done', parcel: { package_id: labelled.id, loaded_manifest_id: manifest_id } },
    ]);
  });

  test('a repeated receive scan of a number is of the parcel that it is stored with', async () => {
    const number = newNumber();
    const scan = deviceScan('receive', number, 5, { weight: 1, user_code: 'IEX-1001' });
    const [first] = (await sendScans(service, [scan])).results;
    const id = String(first.parcel.package_id);
    const corrected = newNumber();
    const { results } = await changeMeanwhile(
      service.owner,
      correction({ id, number, house: '' }, corrected),
      () => sendScans(service, [scan]),
    );
    expect(results).toMatchObject([
      { result: 'repeated', outcome: 'done', parcel: { package_id: id, tracking_number: corrected } },
    ]);
    const left = await parcels.select('select id from packages where tracking_number = $1', [number]);
    expect(left).toEqual([]);
  });

  test('an intake returns the package and flags no pre-alert of its earlier number', async () => {
    const labelled = await receiveLabelled();
    // Another customer has announced the number: a repeated scan is disputed.
    const prealert = await parcels.announce('HRB', labelled.number);
    await parcels.select("update prealerts set status = 'pending' where id = $1", [prealert]);
    const { status, body } = await changeMeanwhile(service.owner, correction(labelled, newNumber()), () =>
      parcels.scan(labelled.house),
    );
    expect([status, body['data']]).toMatchObject([200, { package_id: labelled.id, duplicate: true }]);
    expect(await parcels.statusOf(prealert)).toBe('pending');
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
          renumber(each, newNumber()),
          sendScans(service, [deviceScan('hold', each.house, 0)]).then(({ results: [result] }) => {
            if (result.result !== 'done' || result.parcel.package_id !== each.id) lost.push(result);
          }),
        ]),
      );
    }
    expect(lost).toEqual([]);
    const { rows } = await service.owner.query(
      "select count(*)::int as n from packages where id = any($1) and status = 'on_hold'",
      [labelled.map(({ id }) => id)],
    );
    expect(rows).toEqual([{ n: PARCELS }]);
  }, 240_000);
});

test('an intake of a number whose package gets another number meanwhile stores a new parcel', async () => {
  const labelled = await receiveLabelled();
  const prealert = await parcels.announce('HRB', labelled.number);
  await parcels.select("update prealerts set status = 'pending' where id = $1", [prealert]);
  const { status, body } = await changeMeanwhile(service.owner, correction(labelled, newNumber()), () =>
    parcels.scan(labelled.number),
  );
  expect([status, body['data']]).toMatchObject([201, { matched_by: 'prealert', prealert_id: prealert }]);
  expect(body['data'].package_id).not.toBe(labelled.id);
});
