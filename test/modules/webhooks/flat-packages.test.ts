import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { bundle } from '../../support/service/contract.js';
import { shipPackages } from '../../support/builders/parcels.js';
import { startReceiver, verified } from '../../support/receivers/receiver.js';
import { FLAT_FIELDS } from '../../support/receivers/region-receiver.js';
import { assertFlatPackage } from '../../support/receivers/webhook-payloads.js';
import { webhookSecret } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';
import { TOKEN, withRegion } from './flat-package-region.js';

const { IEX } = DEMO.couriers;
const { api, db, region, setFormats, receive, caused, record, attempted, sendTest } = withRegion();

let scans = 0;
const deliveredIds = () => db.all('webhook_deliveries', { courier_id: IEX, status: 'delivered' });

describe('the flat package', () => {
  test('the contract lists the 38 fields of the region, and both of its examples are valid', () => {
    type Entry = { post: { requestBody: { content: { 'application/json': { example: object } } } } };
    // The bundle has the webhooks next to its paths.
    const { webhooks } = bundle as unknown as { webhooks: Record<string, Entry> };
    for (const name of ['flatPackageCreated', 'flatPackageUpdated'] as const) {
      const example = webhooks[name]?.post.requestBody.content['application/json'].example ?? {};
      expect(() => assertFlatPackage(name, example)).not.toThrow();
      expect(Object.keys(example).sort()).toEqual([...FLAT_FIELDS].sort());
    }
    expect(FLAT_FIELDS).toHaveLength(38);
  });

  test.each(['package', 'test'])('of a URL for arrays is the same object in an array (%s)', async (kind) => {
    const receiver = await startReceiver((_request, response) => response.writeHead(409).end());
    try {
      const at = (format: 'flat' | 'flat_array') =>
        setFormats({ add: `${receiver.url}/${format}`, addFormat: format });
      const send = () => (kind === 'test' ? sendTest('add_package') : receive());
      for (const format of ['flat', 'flat_array'] as const) {
        await at(format);
        await send();
        await until(async () => receiver.at(`/${format}`).length === 1);
      }
      const [object, array] = ['/flat', '/flat_array'].map((path) => receiver.at(path)[0]);
      if (!object || !array) throw new Error('No request arrived.');
      expect(verified(webhookSecret('s'), array)).toEqual(JSON.parse(array.body));
      const content: unknown = JSON.parse(array.body);
      expect(content).toEqual([expect.any(Object)]);
      const [flat] = content as object[];
      expect(() => assertFlatPackage('flatPackageCreated', flat ?? {})).not.toThrow();
      expect(Object.keys(flat ?? {})).toEqual(Object.keys(JSON.parse(object.body) as object));
      expect(array.headers['x-api-key']).toBe(TOKEN);
      // 409 means that the receiver has the package.
      await until(async () => (await deliveredIds()).length === 2);
    } finally {
      await receiver.stop();
    }
  });

  test('a received package has every field with its value, the token in three places, and the signature', async () => {
    const number = `FLAT-WHOLE-${(scans += 1)}`;
    await db.query(
      "update customers set branch = 'Down Town' where courier_id = $1 and user_code = 'IEX-1001'",
      [IEX],
    );
    let id = '';
    const { path, headers, text, body } = await caused(async () => {
      const measures = { length: 12, width: 8.5, height: 4 };
      const content = { shipper: 'Ámazon “Öst”', description: 'Running shoes', user_code: 'IEX-1001' };
      id = await receive({ tracking_number: number, ...measures, ...content });
    });
    const [row] = await db.query<
      Record<'house_number' | 'first_name' | 'last_name' | 'day' | 'time', string>
    >(
      `select house_number, first_name, last_name, to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day,
         to_char(received_at at time zone 'UTC', 'HH24:MI:SS.MS') as time from packages where id = $1`,
      [id],
    );
    if (!row) throw new Error('The package was not stored.');
    assertFlatPackage('flatPackageCreated', body);
    expect(body).toEqual({
      PackageID: id,
      CourierID: IEX,
      ManifestID: '',
      CollectionID: '',
      TrackingNumber: number,
      ControlNumber: row.house_number,
      FirstName: row.first_name,
      LastName: row.last_name,
      UserCode: 'IEX-1001',
      Weight: 2.25,
      Shipper: 'Ámazon “Öst”',
      EntryStaff: '',
      EntryDate: `${row.day}T00:00:00+00:00`,
      EntryDateTime: `${row.day}T${row.time}0000+00:00`,
      Branch: 'Down Town',
      Claimed: false,
      APIToken: TOKEN,
      ShowControls: false,
      ManifestCode: '',
      CollectionCode: '',
      Description: 'Running shoes',
      HSCode: '',
      Unknown: false,
      AIProcessed: false,
      OriginalHouseNumber: '',
      Cubes: 0,
      Length: 12,
      Width: 8.5,
      Height: 4,
      Pieces: 1,
      Discrepancy: false,
      DiscrepancyDescription: '',
      ServiceTypeID: '',
      HazmatCodeID: '',
      Coloaded: false,
      ColoadIndicator: '',
      PackageStatus: 0,
      PackagePayments: '',
    });
    expect(path).toBe('/add');
    expect(headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-api-key': TOKEN });
    const signed = { path, headers: headers as Record<string, string>, body: text, atMs: 0 };
    expect(verified(webhookSecret('s'), signed)).toEqual(body);
    expect(await attempted(id)).toMatchObject({
      status: 'delivered',
      last_http_status: 201,
      type: 'package.created',
    });
  });

  test('every status has the number of the contract, and one without a number keeps the last one', async () => {
    const id = await receive();
    await until(async () => region.packages.has(id));
    const statusAfter = async (action: () => Promise<unknown>) => {
      const { path, body } = await caused(action);
      assertFlatPackage('flatPackageUpdated', body);
      expect([path, body['PackageID']]).toEqual(['/update', id]);
      return [body['PackageStatus'], body['Discrepancy'], body['DiscrepancyDescription']];
    };
    expect(await statusAfter(() => record(id, 'on_hold'))).toEqual([0, true, 'The package is on hold.']);
    expect(await statusAfter(() => record(id, 'released'))).toEqual([0, false, '']);
    let manifest = { manifestId: '', manifestNumber: '' };
    expect(await statusAfter(async () => (manifest = await shipPackages(api, [id])))).toEqual([1, false, '']);
    expect(region.packages.get(id)).toMatchObject({
      ManifestID: manifest.manifestId,
      ManifestCode: manifest.manifestNumber,
    });
    expect(await statusAfter(() => record(id, 'customs_hold'))).toEqual([
      1,
      true,
      'The package is held by customs.',
    ]);
    expect(await statusAfter(() => record(id, 'in_transit'))).toEqual([2, false, '']);
    expect(await statusAfter(() => record(id, 'lost'))).toEqual([2, true, 'The package is lost.']);
    expect(await statusAfter(() => record(id, 'delivered'))).toEqual([4, false, '']);
    expect(await statusAfter(() => record(id, 'returned'))).toEqual([4, true, 'The package was returned.']);
  });

  test('a package without a customer is unknown, its number is masked, and it is claimed once the courier names one', async () => {
    let id = '';
    const { body } = await caused(async () => {
      id = await receive({ tracking_number: `MASKED-${(scans += 1)}-9876`, courier_id: IEX });
    });
    expect(body).toMatchObject({
      Unknown: true,
      Claimed: false,
      UserCode: '',
      FirstName: '',
      LastName: '',
      Branch: '',
    });
    expect(body['TrackingNumber']).toMatch(/^\*+9876$/);
    const claimed = await caused(() =>
      api.as('iex').updatePackage({ package_id: id, user_code: 'IEX-1003' }).ok(),
    );
    expect(claimed.path).toBe('/update');
    expect(claimed.body).toMatchObject({
      PackageID: id,
      Unknown: false,
      Claimed: true,
      UserCode: 'IEX-1003',
    });
    expect(claimed.body['TrackingNumber']).toMatch(/^MASKED-/);
    expect([claimed.body['FirstName'], claimed.body['LastName']]).not.toContain('');
  });

  test('a flagged pre-alert of the courier is a discrepancy', async () => {
    const tracking_number = `DISPUTED-${(scans += 1)}`;
    const prealert = { UserCode: 'IEX-1001', TrackingNumber: tracking_number };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(prealert).created();
    const { body } = await caused(() => receive({ tracking_number, user_code: 'IEX-1002' }));
    expect(body).toMatchObject({ Discrepancy: true, Unknown: true });
    expect(body['DiscrepancyDescription']).toMatch(/^The owner is in doubt/);
  });

  test('without a token, the field is empty and both headers are missing', async () => {
    const plain = await startReceiver();
    await setFormats({ add: plain.url, token: null });
    await receive();
    await until(async () => plain.received.length === 1);
    await plain.stop();
    const [request] = plain.received;
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ APIToken: '' });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(request?.headers).not.toHaveProperty('x-api-key');
  });
});
