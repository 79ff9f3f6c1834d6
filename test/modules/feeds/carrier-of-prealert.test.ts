import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { fedexLabel, newFedex } from '../../support/scans/fedex.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { easyPost, makeFeedCalls, shippo } from './feed-calls.js';

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`;

const { api, db, service } = withService();
const { announce, create, prealert, send } = makeFeedCalls(api);

describe('a pre-alert', () => {
  test('shows what the carrier says, and its own status and the package stay as they are', async () => {
    const feed = await create('iex');
    const number = newNumber();
    const id = await announce('iex', number);
    expect((await prealert('iex', number))?.carrier_tracking).toBeNull();
    const before = { ...(await db.prealert(id)) };
    const packages = await db.count('packages');
    const heard = { number, status: 'out_for_delivery', at: at(9), detail: 'out_for_delivery' };
    await send(feed, easyPost(heard)).ok();
    expect(await prealert('iex', number)).toMatchObject({
      status: 'pending',
      carrier_tracking: {
        status: 'moving',
        carrier: 'UPS',
        is_carrier_corrected: false,
        occurred_at: '2026-11-20 09:00:00',
        code: 'out_for_delivery',
        text: 'Now out_for_delivery',
        is_action_needed: false,
      },
    });
    await send(feed, easyPost({ number, status: 'delivered', at: at(10) })).ok();
    expect((await prealert('admin', number))?.carrier_tracking).toMatchObject({
      status: 'delivered_at_warehouse_door',
    });
    expect(await db.prealert(id)).toEqual(before);
    expect(await db.count('packages')).toBe(packages);
  });

  test('that is announced later shows what was heard before', async () => {
    const feed = await create('iex', 'shippo');
    const number = newNumber();
    const substatus = { code: 'address_issue', text: 'Address issue', action_required: true };
    await send(feed, shippo({ number, status: 'FAILURE', at: at(1) }, substatus)).ok();
    await announce('iex', number);
    expect((await prealert('iex', number))?.carrier_tracking).toMatchObject({
      status: 'problem',
      carrier: 'ups',
      code: 'address_issue',
      is_action_needed: true,
    });
  });

  test('is found by the candidates of the number, whichever of label and number the sender has', async () => {
    const feed = await create('iex');
    const status = async (search: string) => (await prealert('iex', search))?.carrier_tracking?.status;
    const [inLabel, plain] = [newFedex(), newFedex()];
    await announce('iex', fedexLabel(inLabel));
    await send(feed, easyPost({ number: inLabel, status: 'in_transit', at: at(1) })).ok();
    expect(await status(fedexLabel(inLabel))).toBe('moving');
    await announce('iex', plain);
    await send(feed, easyPost({ number: fedexLabel(plain), status: 'in_transit', at: at(1) })).ok();
    expect(await status(plain)).toBe('moving');
  });

  test('of another courier with the same number shows nothing', async () => {
    const feed = await create('iex');
    const number = newNumber();
    await announce('hrb', number, 'HRB-2001');
    await send(feed, easyPost({ number, status: 'in_transit', at: at(1) })).ok();
    expect((await prealert('hrb', number))?.carrier_tracking).toBeNull();
  });

  test('keeps what was heard when its package arrives under a longer number', async () => {
    const feed = await create('iex');
    const number = newNumber();
    await announce('iex', number);
    await send(feed, easyPost({ number, status: 'delivered', at: at(1) })).ok();
    await makeParcels(service()).receive(number);
    expect(await prealert('iex', number)).toMatchObject({
      status: 'received',
      carrier_tracking: { status: 'delivered_at_warehouse_door' },
    });
  });
});

describe('the carrier', () => {
  const set = (as: string, prealertId: string, carrier: string | null) =>
    api.as(as).setPrealertCarrier({ prealert_id: prealertId, carrier });

  test('is corrected, stays so after further events, and is audited', async () => {
    const feed = await create('iex');
    const number = newNumber();
    const id = await announce('iex', number);
    await send(feed, easyPost({ number, status: 'in_transit', at: at(1), carrier: 'USPS' })).ok();
    const corrected = (await set('iex', id, 'FedEx').ok()).data.carrier_tracking;
    expect(corrected).toMatchObject({ status: 'moving', carrier: 'FedEx', is_carrier_corrected: true });
    await send(feed, easyPost({ number, status: 'delivered', at: at(2), carrier: 'USPS' })).ok();
    expect((await prealert('iex', number))?.carrier_tracking).toMatchObject({
      status: 'delivered_at_warehouse_door',
      carrier: 'FedEx',
    });
    expect((await set('iex', id, 'FedEx').ok()).message).toContain('already');
    expect((await set('iex', id, null).ok()).data.carrier_tracking).toMatchObject({
      carrier: 'USPS',
      is_carrier_corrected: false,
    });
    const audited = await makeParcels(service()).auditOf(id);
    expect(audited.filter(({ action }) => action === 'prealert.carrier_corrected')).toMatchObject([
      { before: { carrier: null }, after: { carrier: 'FedEx' } },
      { before: { carrier: 'FedEx' }, after: { carrier: null } },
    ]);
  });

  test('is named before anything was heard, and later events keep it', async () => {
    const feed = await create('iex');
    const number = newNumber();
    const id = await announce('iex', number);
    expect((await set('warehouse', id, 'DHL').ok()).data.carrier_tracking).toMatchObject({
      status: 'silent',
      carrier: 'DHL',
      occurred_at: null,
    });
    await send(feed, easyPost({ number, status: 'pre_transit', at: at(1) })).ok();
    expect((await prealert('iex', number))?.carrier_tracking).toMatchObject({
      status: 'announced',
      carrier: 'DHL',
    });
  });

  test('is not corrected for the pre-alert of others, nor with a blank name', async () => {
    const id = await announce('iex', newNumber());
    await set('hrb', id, 'DHL').refused(404, 'prealert_not_found');
    await set('two/admin', id, 'DHL').refused(404, 'prealert_not_found');
    await set('iex', id, ' ').refused(400, 'validation_failed');
    await api
      .as('iex')
      .setPrealertCarrier(unchecked({ prealert_id: id }))
      .refused(400, 'validation_failed');
    await api.anonymous.setPrealertCarrier({ prealert_id: id, carrier: 'DHL' }).refused(401, 'token_missing');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('what carriers say, with %s', (_name, options) => {
  const own = withService(options);
  const calls = makeFeedCalls(own.api);

  test('is shown only to the courier that heard it, and to the staff of its tenant', async () => {
    const number = newNumber();
    const [iex, hrb] = [await calls.create('iex'), await calls.create('hrb')];
    await calls.announce('iex', number);
    await calls.announce('hrb', number, 'HRB-2001');
    await calls.send(iex, easyPost({ number, status: 'in_transit', at: at(1), carrier: 'of IEX' })).ok();
    await calls.send(hrb, easyPost({ number, status: 'delivered', at: at(2), carrier: 'of HRB' })).ok();
    const seen = async (as: string) => {
      const { data } = await own.api
        .as(as)
        .listPrealerts(unchecked({ search: number }))
        .ok();
      return data.map((each) => each.carrier_tracking?.carrier).sort();
    };
    expect([await seen('iex'), await seen('hrb')]).toEqual([['of IEX'], ['of HRB']]);
    expect(await seen('admin')).toEqual(['of HRB', 'of IEX']);
    const states = await own.db.all('carrier_states', { tracking_key: number });
    expect(states.map(({ tenant_id }) => tenant_id)).toEqual([DEMO.tenants.demo, DEMO.tenants.demo]);
  });
});
