import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/demo.js';
import { insertBill } from '../../../support/builders/bills.js';
import { newBill } from '../../../support/builders/billing.js';
import { withService } from '../../../support/fixture/with-service.js';
import { data, withBilling } from '../billing-calls.js';
import { makeRunCalls, MONTH } from './run-calls.js';

const { TWO } = DEMO.couriers;

const fixture = withBilling();
const { api, service, billing } = fixture;
const { draft, publish, send, insertDrafts } = makeRunCalls(fixture);

async function rowOf(courierId: string, month = MONTH) {
  const { data: rows } = await api.as('manager').listBillingRun({ month, limit: 100 }).ok();
  return rows.find(({ courier_id: id }) => id === courierId);
}

describe('the couriers of a billing run', () => {
  test('have the amount that a draft then has, and the state of their bills', async () => {
    const courierId = await billing.newCourier('1.75');
    const aboard = await billing.newManifest('001-12345675');
    await billing.addPackages(courierId, [
      { weight: '0.8', receivedAt: '2024-05-01T00:00:00Z' },
      { weight: '4.25', receivedAt: '2024-05-31T23:59:59.999Z', manifest: aboard },
      { weight: '1', receivedAt: '2024-04-30T23:59:59.999Z' },
      { weight: '1', receivedAt: '2024-06-01T00:00:00Z' },
    ]);
    const none = { bills: 0, amount: 0 };
    const before = await rowOf(courierId);
    // Fees of 4.50 and 12.00, and air freight of 7.44.
    expect(before).toMatchObject({ state: 'nothing', unbilled_packages: 2, unbilled_amount: 23.94 });
    expect(before).toMatchObject({ drafts: none, published: none, bills: [] });

    const drafted = data(await billing.draft(courierId, { tax_rate: 10 }));
    expect(drafted.subtotal).toBe(before?.unbilled_amount);
    const sums = { bills: 1, amount: drafted.total_amount };
    const then = await rowOf(courierId);
    expect(then).toMatchObject({ state: 'draft', unbilled_packages: 0, unbilled_amount: 0, drafts: sums });
    expect(then?.bills).toEqual([
      {
        bill_id: drafted.bill_id,
        invoice_number: drafted.invoice_number,
        status: 'draft',
        start_date: '2024-05-01',
        end_date: '2024-05-31',
        total_packages: 2,
        total_amount: drafted.total_amount,
        due_date: null,
      },
    ]);

    const published = data(await billing.publish(drafted.bill_id));
    await billing.addPackages(courierId, [{ weight: '5' }]);
    const late = await rowOf(courierId);
    expect(late).toMatchObject({ state: 'published', unbilled_packages: 1, unbilled_amount: 12 });
    expect(late).toMatchObject({ drafts: none, published: sums });
    expect(late?.bills).toMatchObject([{ status: 'published', due_date: published.due_date }]);
  });

  test('have a bill in the month of its last day only', async () => {
    const courierId = await billing.newCourier();
    await insertBill(service().owner, { courierId, start: '2024-04-15', end: '2024-05-01', amount: '3.00' });
    const [april, may] = [await rowOf(courierId, '2024-04'), await rowOf(courierId)];
    expect([april?.state, may?.state, may?.drafts]).toEqual(['nothing', 'draft', { bills: 1, amount: 3 }]);
  });

  test('have warnings of gaps in their rates and of packages that another courier has announced', async () => {
    const [courierId, rival] = [await billing.newCourier(), await billing.newCourier()];
    const [packageId = ''] = await billing.addPackages(courierId, [{ weight: '200' }, { weight: '5' }]);
    await service().owner.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
       select tenant_id, new_id(), $2, 'X', tracking_number, tracking_key, 'flagged' from packages where id = $1`,
      [packageId, rival],
    );
    const gap = 'No tier covers weights above 100 lb; 1 package has no fee.';
    expect((await rowOf(courierId))?.warnings).toEqual([
      { code: 'rate_gap', packages: 1, message: gap },
      { code: 'disputed', packages: 1, message: '1 package: another courier has announced it too.' },
    ]);
    expect((await rowOf(rival))?.warnings).toEqual([]);
  });

  test('have the numbers of bills that were sent and not sent, and a warning if the address is missing', async () => {
    const courierId = await billing.newCourier();
    await insertDrafts(courierId, 1);
    const figures = async () => {
      const { sent_bills: sent, unsent_bills: unsent, warnings = [] } = (await rowOf(courierId)) ?? {};
      return [sent, unsent, warnings.map(({ code, packages }) => `${code} ${packages}`)];
    };
    const setMails = (status: string) =>
      service().owner.query('update bill_mails set status = $2, settled_at = now() where courier_id = $1', [
        courierId,
        status,
      ]);
    expect(await figures()).toEqual([0, 0, []]);
    await publish({ courier_ids: [courierId] }).ok();
    expect(await figures()).toEqual([0, 1, ['address_missing 0']]);
    await service().owner.query(`update couriers set email = 'billing@quay.example' where id = $1`, [
      courierId,
    ]);
    expect(await figures()).toEqual([0, 1, []]);
    await send({ courier_ids: [courierId] }).ok();
    await insertDrafts(courierId, 2);
    await publish({ courier_ids: [courierId] }).ok();
    expect(await figures()).toEqual([1, 2, []]);
    await setMails('failed');
    expect(await figures()).toEqual([0, 3, []]);
    await setMails('sent');
    await service().owner.query('update couriers set email = null where id = $1', [courierId]);
    expect(await figures()).toEqual([1, 2, ['address_missing 0']]);
  });

  test('are listed by name, with the sums over all couriers on each page', async () => {
    const { meta: before } = await api.as('manager').listBillingRun({ month: MONTH }).ok();
    const courierId = await billing.newCourier();
    const billId = await newBill(billing, courierId);
    await billing.publish(await newBill(billing, courierId, 3));
    const [lost = ''] = await billing.addPackages(courierId, [{ weight: '5' }]);
    await service().owner.query('update packages set courier_id = null, user_code = null where id = $1', [
      lost,
    ]);
    const all = await api.as('manager').listBillingRun({ month: MONTH, limit: 100 }).ok();
    const names = all.data.map(({ courier_name: name }) => name);
    const { rows } = await service().owner.query(
      'select name from couriers where tenant_id = $1 order by name, id',
      [DEMO.tenants.demo],
    );
    expect(names).toEqual(rows.map(({ name }) => name));
    const { drafts, published, packages_without_owner: ownerless } = before.totals;
    expect(all.meta.totals).toEqual({
      drafts: { bills: drafts.bills + 1, amount: drafts.amount + 12 },
      published: { bills: published.bills + 1, amount: published.amount + 15 },
      packages_without_owner: ownerless + 1,
    });
    const page = await api.as('manager').listBillingRun({ month: MONTH, page: 2, limit: 2 }).ok();
    expect([page.data, page.meta.totals]).toEqual([all.data.slice(2, 4), all.meta.totals]);
    await billing.remove(billId);
  });

  test.each(['2024-13', '2024-5', '1999-12', '2024-05-01', ''])(
    'rejects the month %j with 400',
    async (month) => {
      const { errors } = await api.as('admin').listBillingRun({ month }).refused(400, 'validation_failed');
      expect(errors).toMatchObject([{ field: 'month' }]);
    },
  );

  test('are read, drafted, published and sent by administrators and managers only', async () => {
    await api.anonymous.listBillingRun({ month: MONTH }).refused(401, 'token_missing');
    for (const as of ['warehouse', 'iex']) {
      await api.as(as).listBillingRun({ month: MONTH }).refused(403, 'permission_denied');
      await draft({}, as).refused(403, 'permission_denied');
      await publish({}, as).refused(403, 'permission_denied');
      await send({}, as).refused(403, 'permission_denied');
    }
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('a billing run with %s', (_name, options) => {
  const other = withService(options);

  test("shows, drafts, publishes and sends nothing of another tenant's couriers", async () => {
    const month = '2024-07';
    const list = (as: string) => other.api.as(as).listBillingRun({ month }).ok();
    const { owner } = other.service();
    const before = await list('admin');
    await owner.query(`update packages set received_at = '2024-07-10' where id = any($1);`, [
      DEMO.packages.two,
    ]);
    await owner.query(`update packages set courier_id = null, user_code = null where id = $1`, [
      DEMO.packages.two[0],
    ]);
    const planted = { courierId: TWO, tenantId: DEMO.tenants.two, start: '2024-07-01', end: '2024-07-31' };
    const { id } = await insertBill(owner, { ...planted, amount: '9.00' });
    const { data: couriers, meta } = await list('admin');
    expect([couriers, meta]).toEqual([before.data, before.meta]);
    expect(couriers.map(({ courier_id: courierId }) => courierId)).not.toContain(TWO);
    expect((await list('two/admin')).data).toMatchObject([
      { courier_id: TWO, drafts: { bills: 1, amount: 9 } },
    ]);

    const statusOf = async () => (await owner.query('select status from bills where id = $1', [id])).rows;
    for (const courier_ids of [[TWO], undefined]) {
      const run = { month, ...(courier_ids ? { courier_ids } : {}) };
      for (const body of [
        { action: 'draft', service_type: 'Air', ...run },
        { action: 'publish', ...run },
        { action: 'send', ...run },
      ] as const) {
        const { results } = (await other.api.as('admin').manageBillingRun(body).ok()).data;
        const own = results.filter(({ courier_id: courierId }) => courierId === TWO);
        const refused = { outcome: 'refused', code: 'courier_not_found', courier_name: null, bills: [] };
        expect(own).toMatchObject(courier_ids ? [refused] : []);
      }
    }
    expect(await statusOf()).toEqual([{ status: 'draft' }]);
    const published = await other.api.as('two/admin').manageBillingRun({ action: 'publish', month }).ok();
    expect(published.data.results).toMatchObject([
      { courier_id: TWO, outcome: 'published', bills: [{ bill_id: id }] },
    ]);

    // Published now, with an address.
    await owner.query(`update couriers set email = 'billing@two.example' where id = $1`, [TWO]);
    const run = { action: 'send', month, again: true } as const;
    for (const body of [run, { ...run, courier_ids: [TWO] }]) {
      const { results } = (await other.api.as('admin').manageBillingRun(body).ok()).data;
      expect(results.flatMap(({ bills }) => bills.map(({ bill_id: each }) => each))).not.toContain(id);
    }
    const mails = async () =>
      (await owner.query('select tenant_id from bill_mails where bill_id = $1', [id])).rows;
    expect(await mails()).toEqual([]);
    await other.api.as('two/admin').manageBillingRun(run).ok();
    expect(await mails()).toEqual([{ tenant_id: DEMO.tenants.two }]);
    expect((await list('two/admin')).data).toMatchObject([{ sent_bills: 1, unsent_bills: 0 }]);
  });
});
