import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { pagesOf } from '../../support/readers/pdf.js';
import { withService } from '../../support/fixture/with-service.js';

const { TWO } = DEMO.couriers;
const { api, service } = withService();
const as = () => api.as('two/admin');
const currencyOf = async () => (await as().getTenantSettings().ok()).data.currency;
const publish = (bill_id: string) => as().manageCourierBills({ action: 'publish', bill_id });

let draft = '';
beforeAll(async () => {
  const today = new Date().toISOString().slice(0, 10);
  const period = { start_date: '2020-01-01', end_date: today, service_type: 'Air' };
  const { data } = await as()
    .manageCourierBills({ action: 'create_draft', courier_id: TWO, ...period })
    .ok();
  draft = data.bill_id;
});
afterEach(() => service().owner.query('delete from tenant_settings'));

/** What a person reads in the documents of the draft. */
async function documents(): Promise<{ pdf: string; csv: string }> {
  const pdf = await as().downloadCourierBill({ bill_id: draft, format: 'pdf' }).answer();
  const csv = await as().downloadCourierBill({ bill_id: draft, format: 'csv' }).answer();
  return { pdf: (await pagesOf(pdf.bytes)).join('\n'), csv: csv.bytes.toString() };
}

describe('the currency', () => {
  test('names the amounts of bills in the PDF, and converts nothing', async () => {
    const usd = await documents();
    expect(usd.pdf).toContain('US dollars (USD)');
    await as().updateTenantSettings({ currency: 'JMD' }).ok();
    const jmd = await documents();
    expect(jmd.pdf).toContain('Jamaican dollars (JMD)');
    expect(jmd.pdf).toContain('Balance due (JMD)');
    expect(jmd.pdf.replaceAll('JMD', 'USD').replace('Jamaican', 'US')).toBe(usd.pdf);
    expect((await as().getCourierBill({ bill_id: draft }).ok()).data.currency).toBe('JMD');
    const [listed] = (await as().listCourierBills({ limit: 1 }).ok()).data;
    expect(listed?.currency).toBe('JMD');
    // The headings are those of the released contract.
    expect(jmd.csv).toBe(usd.csv);
  });

  test('cannot change after the first publication, and the time zone can', async () => {
    const { message } = await api
      .as('admin')
      .updateTenantSettings({ currency: 'JMD' })
      .refused(409, 'currency_in_use');
    expect(message).toBe(
      'Nothing was changed. Bills were published in USD, so the currency cannot change. Leave currency out.',
    );
    const both = { currency: 'JMD', time_zone: 'America/Jamaica' };
    await api.as('admin').updateTenantSettings(both).refused(409, 'currency_in_use');
    const { data } = await api
      .as('admin')
      .updateTenantSettings({ currency: 'USD', time_zone: 'America/Jamaica' })
      .ok();
    expect(data).toMatchObject({ currency: 'USD', time_zone: 'America/Jamaica' });
  });

  test('does not change while a publication is on its way', async () => {
    const { owner } = service();
    await as().updateTenantSettings({ currency: 'JMD' }).ok();
    // Another publication has the counter, and commits while the change waits for it.
    const counted = {
      text: 'update bill_counters set last_number = 1 where tenant_id = $1',
      values: [DEMO.tenants.two],
    };
    const change = () => as().updateTenantSettings({ currency: 'TTD' }).answer();
    const { status, body } = await changeMeanwhile(owner, counted, change);
    expect([status, body['code']]).toEqual([409, 'currency_in_use']);
    expect(await currencyOf()).toBe('JMD');
    await owner.query('update bill_counters set last_number = 0 where tenant_id = $1', [DEMO.tenants.two]);
  });

  test('the first publication follows a change, gets number 1 and ends changes', async () => {
    await as().updateTenantSettings({ currency: 'TTD' }).ok();
    const { data } = await publish(draft).ok();
    expect(data.invoice_number).toBe('INV-000001');
    await as().updateTenantSettings({ currency: 'USD' }).refused(409, 'currency_in_use');
    expect(await currencyOf()).toBe('TTD');
    expect((await documents()).pdf).toContain('(TTD)');
  });
});
