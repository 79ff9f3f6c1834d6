import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { whileUnwritable } from '../../../support/harness/meanwhile.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { UNKNOWN_ID } from '../billing-calls.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { api, service } = withService();

const read = async (courierId?: string) =>
  (
    await api
      .as('manager')
      .getPaymentTerms(courierId ? { courier_id: courierId } : {})
      .ok()
  ).data;
const set = (courierId: string | null, days: number | null) =>
  api.as('manager').updatePaymentTerms({ courier_id: courierId, days });

async function auditOf(entity: string) {
  const { rows } = await service().owner.query(
    'select action, actor_id, before, after from audit_entries where entity_id = $1 order by id',
    [entity],
  );
  return rows;
}

describe('payment terms', () => {
  test('are 30 days until somebody sets the default, and a courier can have its own', async () => {
    expect(await read()).toEqual({ default_days: 30, courier: null });
    const own = { courier_id: IEX, days: 30, uses_default: true };
    expect(await read(IEX)).toEqual({ default_days: 30, courier: own });

    const saved = await set(null, 45).ok();
    expect([saved.message, saved.data]).toEqual([
      'Payment terms changed.',
      { default_days: 45, courier: null },
    ]);
    expect((await set(IEX, 0).ok()).data.courier).toEqual({ courier_id: IEX, days: 0, uses_default: false });
    expect((await read(HRB)).courier).toEqual({ courier_id: HRB, days: 45, uses_default: true });

    expect((await set(IEX, null).ok()).data.courier).toEqual({ ...own, days: 45 });
    expect((await set(null, null).ok()).data.default_days).toBe(30);
    expect((await auditOf(IEX)).map(({ action, before, after }) => [action, before, after])).toEqual([
      ['courier.payment_terms_changed', { days: null }, { days: 0 }],
      ['courier.payment_terms_changed', { days: 0 }, { days: null }],
    ]);
    expect(await auditOf(DEMO.tenants.demo)).toMatchObject([
      { action: 'tenant.payment_terms_changed', before: { days: null }, after: { days: 45 } },
      { action: 'tenant.payment_terms_changed', before: { days: 45 }, after: { days: null } },
    ]);
  });

  test('simultaneous changes to the same terms are stored and audited once', async () => {
    const callers = rounds(20, 200);
    const change = () => Promise.all(Array.from({ length: callers }, () => set(HRB, 7).ok()));
    const replies = await whileUnwritable(service().owner, { table: 'payment_terms', waiting: 2 }, change);
    expect(replies.map(({ data }) => data.courier?.days)).toEqual(Array.from({ length: callers }, () => 7));
    expect(replies.filter(({ message }) => message === 'Payment terms changed.')).toHaveLength(1);
    expect(await auditOf(HRB)).toHaveLength(1);
  });

  test.each([
    [{ courier_id: null, days: 366 }, 'days'],
    [{ courier_id: null, days: -1 }, 'days'],
    [{ courier_id: null, days: 1.5 }, 'days'],
    [{ days: 14 }, 'courier_id'],
    [{ courier_id: 'IEX', days: 14 }, 'courier_id'],
  ])('rejects %j with 400 and names the field', async (body, field) => {
    const { errors } = await api
      .as('admin')
      .updatePaymentTerms(unchecked(body))
      .refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field }]);
    if (body.days === 1.5) expect(errors[0]?.message).toBe('days must be an integer or null.');
  });

  test('are read and changed by administrators and managers only', async () => {
    await api.anonymous.getPaymentTerms().refused(401, 'token_missing');
    await api.as('admin').getPaymentTerms({ courier_id: 'IEX' }).refused(400, 'validation_failed');
    await api.anonymous.updatePaymentTerms({ courier_id: null, days: 1 }).refused(401, 'token_missing');
    for (const as of ['warehouse', 'iex']) {
      await api.as(as).getPaymentTerms().refused(403, 'permission_denied');
      await api.as(as).updatePaymentTerms({ courier_id: null, days: 1 }).refused(403, 'permission_denied');
    }
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('payment terms with %s', (_name, options) => {
  const other = withService(options);

  test("a tenant reads and changes neither another tenant's terms nor those of its couriers", async () => {
    const as = (name: string) => other.api.as(name);
    await as('two/admin').updatePaymentTerms({ courier_id: null, days: 5 }).ok();
    await as('two/admin').updatePaymentTerms({ courier_id: TWO, days: 6 }).ok();
    for (const courier_id of [TWO, UNKNOWN_ID]) {
      await as('admin').getPaymentTerms({ courier_id }).refused(404, 'courier_not_found');
      await as('admin').updatePaymentTerms({ courier_id, days: 9 }).refused(404, 'courier_not_found');
    }
    expect((await as('admin').getPaymentTerms().ok()).data.default_days).toBe(30);
    await as('admin').updatePaymentTerms({ courier_id: null, days: 8 }).ok();
    await as('admin').updatePaymentTerms({ courier_id: null, days: null }).ok();
    const kept = (await as('two/admin').getPaymentTerms({ courier_id: TWO }).ok()).data;
    expect(kept).toEqual({ default_days: 5, courier: { courier_id: TWO, days: 6, uses_default: false } });
  });
});
