import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newBill, tally } from '../../../support/builders/billing.js';
import { UNKNOWN_ID, withBilling } from '../billing-calls.js';
import { makeMailCalls } from './mail-calls.js';

const fixture = withBilling();
const { api, service, billing, auditOf, expectNothingWritten } = fixture;
const { send, listed, newRecipient, published } = makeMailCalls(fixture);

const ADDRESS = 'billing@quay.example';

const jobsOf = (mailId: string) =>
  billing.rows(`select 1 from graphile_worker._private_jobs where payload ->> 'mailId' = $1`, [mailId]);

describe('sending a bill', () => {
  test('queues one mail to the address of the courier, with an audit entry and one job', async () => {
    const billId = await published(await newRecipient(ADDRESS));
    const { message, data } = await send(billId).ok();
    expect(message).toMatch(/^Bill INV-\d+ will be sent to billing@quay\.example\.$/);
    expect(data).toMatchObject({
      bill_id: billId,
      recipient: ADDRESS,
      language: 'en',
      status: 'queued',
      error: null,
      requested_by: 'Demo Manager',
      settled_at: null,
    });
    expect(await listed(billId)).toEqual([data]);
    expect(await jobsOf(data.mail_id)).toHaveLength(1);
    expect((await auditOf(billId)).at(-1)).toMatchObject({
      action: 'bill.mail_queued',
      after: { mail_id: data.mail_id, recipient: ADDRESS, language: 'en' },
    });
  });

  test('refuses a bill that was sent or waits, and sends it again only if asked', async () => {
    const billId = await published(await newRecipient(ADDRESS));
    const first = (await send(billId).ok()).data;
    await expectNothingWritten(async () => {
      const waiting = await send(billId).answer();
      expect([waiting.status, waiting.body.code]).toEqual([409, 'bill_already_sent']);
      expect(waiting.body.message).toMatch(
        /^Bill INV-\d+ waits since .+ UTC to be sent to billing@quay\.example\. Set again to true/,
      );
    });
    await service().owner.query(
      "update bill_mails set status = 'sent', settled_at = '2026-11-02T10:20:30Z' where id = $1",
      [first.mail_id],
    );
    const sent = await send(billId, { again: false }).answer();
    expect([sent.status, sent.body.code]).toEqual([409, 'bill_already_sent']);
    expect(sent.body.message).toContain('was sent on 2026-11-02 10:20:30 UTC to billing@quay.example.');
    const again = (await send(billId, { again: true }).ok()).data;
    expect((await listed(billId)).map(({ mail_id: id }) => id)).toEqual([again.mail_id, first.mail_id]);
  });

  test.each(['failed', 'skipped'])('a mail that %s does not count as sent', async (status) => {
    const billId = await published(await newRecipient(ADDRESS));
    const { mail_id: id } = (await send(billId).ok()).data;
    await service().owner.query('update bill_mails set status = $2, settled_at = now() where id = $1', [
      id,
      status,
    ]);
    expect((await send(billId).ok()).data.status).toBe('queued');
  });

  test('uses the language of the latest mail to the courier unless the request names one', async () => {
    const courierId = await newRecipient(ADDRESS);
    expect((await send(await published(courierId), { language: 'es' }).ok()).data.language).toBe('es');
    expect((await send(await published(courierId)).ok()).data.language).toBe('es');
    expect((await send(await published(courierId), { language: 'en' }).ok()).data.language).toBe('en');
  });

  test.each([null, '', 'nobody', 'a@b.example, c@d.example'])(
    'refuses a courier with the address %j, and names what to set',
    async (email) => {
      const billId = await published(await newRecipient(email));
      await expectNothingWritten(async () => {
        const { status, body } = await send(billId).answer();
        expect([status, body.code]).toEqual([409, 'courier_address_missing']);
        expect(body.message).toMatch(/^Courier .+ has no usable e-mail address\. Set email in the profile/);
      });
    },
  );

  test('refuses a draft and an unknown bill', async () => {
    const draft = await newBill(billing, await newRecipient(ADDRESS));
    await expectNothingWritten(async () => {
      const { status, body } = await send(draft).answer();
      expect([status, body.code, body.message]).toEqual([
        400,
        'bill_not_published',
        'The bill is a draft. Publish it before you send it.',
      ]);
      for (const reply of [
        await send(UNKNOWN_ID).answer(),
        await api.as('manager').listBillMails({ bill_id: UNKNOWN_ID }).answer(),
      ])
        expect([reply.status, reply.body.code]).toEqual([404, 'bill_not_found']);
    });
  });

  test('sends a bill once in 40 simultaneous requests', async () => {
    const billId = await published(await newRecipient(ADDRESS));
    const replies = await Promise.all(Array.from({ length: 40 }, () => send(billId).answer()));
    expect(tally(replies)).toEqual({ '200': 1, '409 bill_already_sent': 39 });
    expect(await listed(billId)).toHaveLength(1);
  });

  test('queues one mail for a request that is repeated with the same Idempotency-Key', async () => {
    const billId = await published(await newRecipient(ADDRESS));
    const headers = { 'idempotency-key': `send-${billId}` };
    const call = () => api.as('manager').sendBill({ bill_id: billId, again: true }, { headers }).ok();
    expect((await call()).data).toEqual((await call()).data);
    expect(await listed(billId)).toHaveLength(1);
  });
});

test('sends a bill at most five times within 24 hours, also if the mails fail', async () => {
  const billId = await published(await newRecipient(ADDRESS));
  for (let n = 0; n < 5; n += 1) {
    await send(billId, { again: true }).ok();
    await billing.rows("update bill_mails set status = 'failed', settled_at = now() where bill_id = $1", [
      billId,
    ]);
  }
  await expectNothingWritten(async () => {
    for (const extra of [{}, { again: true }]) {
      const refusal = await send(billId, extra).refused(409, 'bill_already_sent');
      expect(refusal.message).toMatch(/^Bill INV-\d+ was mailed 5 times within 24 hours\./);
    }
  });
  await billing.rows("update bill_mails set created_at = now() - interval '25 hours' where bill_id = $1", [
    billId,
  ]);
  await send(billId).ok();
});

test('a user of the staff sends at most 1,000 bills per day', async () => {
  const setUsed = (used: number) =>
    billing.rows(
      `insert into principal_quotas (tenant_id, principal_kind, principal_id, kind, period_start, used)
       values ($1, 'user', $2, 'bill_mails', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)
       on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = $3`,
      [DEMO.tenants.demo, DEMO.users.manager, used],
    );
  const billIds: string[] = [];
  for (let n = 0; n < 2; n += 1) billIds.push(await published(await newRecipient(ADDRESS)));
  const [first = '', second = ''] = billIds;
  await setUsed(999);
  await send(first).ok();
  await expectNothingWritten(async () => {
    const refusal = await send(second).refused(429, 'quota_exceeded');
    expect(refusal.message).toContain('1000 mails with bills per day');
  });
  await send(second, {}, 'admin').ok();
  await setUsed(0);
});

test('the log has pages', async () => {
  const billId = await published(await newRecipient(ADDRESS));
  for (let n = 0; n < 3; n += 1) await send(billId, { again: true }).ok();
  const page = await api.as('manager').listBillMails({ bill_id: billId, page: 2, limit: 2 }).ok();
  expect(page.meta).toMatchObject({ current_page: 2, total_records: 3, total_pages: 2 });
  expect(page.data).toEqual([(await listed(billId)).at(-1)]);
});
