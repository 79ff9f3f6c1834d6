import { describe, expect, test } from '@jest/globals';
import { UNKNOWN_ID, withBilling } from '../billing-calls.js';
import { makeMailCalls } from '../mails/mail-calls.js';
import { makeRunCalls, type RunResult } from './run-calls.js';

const fixture = withBilling();
const { service, billing, auditOf, expectNothingWritten } = fixture;
const { send, publish, untilDone, insertDrafts } = makeRunCalls(fixture);
const { send: sendOne, listed, newRecipient } = makeMailCalls(fixture);

const ADDRESS = 'billing@quay.example';

/** Creates a courier with published bills of May 2024. Returns its id and those of the bills. */
async function courierWith(many: number, email: string | null = ADDRESS) {
  const courierId = await newRecipient(email);
  const billIds = await insertDrafts(courierId, many);
  await untilDone((extra) => publish({ courier_ids: [courierId], ...extra }));
  return { courierId, billIds };
}

const idsOf = (result: RunResult | undefined) => result?.bills.map(({ bill_id: id }) => id).toSorted();

const mailsOf = (billIds: string[]) =>
  billing.rows(
    `select m.bill_id, m.language, m.recipient from bill_mails m
     join graphile_worker._private_jobs j on j.payload ->> 'mailId' = m.id::text
     where m.bill_id = any($1) order by m.bill_id`,
    [billIds],
  );

describe('sending a month', () => {
  test('queues a mail, an audit entry and a job per published bill of the chosen couriers', async () => {
    const [{ courierId, billIds }, other] = [await courierWith(2), await courierWith(1)];
    const [draft = ''] = await insertDrafts(courierId, 1);
    const [april = ''] = await insertDrafts(courierId, 1, '2024-04-30');
    await billing.publish(april);
    const paid = billIds[0] ?? '';
    await service().owner.query(
      `update bills set status = 'paid', paid_amount = total_amount where id = $1`,
      [paid],
    );
    const { message, data } = await send({ courier_ids: [courierId] }).ok();
    expect([message, data.next_after]).toEqual(['2 bills queued.', null]);
    expect(data.results).toMatchObject([
      {
        courier_id: courierId,
        outcome: 'queued',
        code: null,
        message: `2 bills will be sent to ${ADDRESS}.`,
        warnings: [],
      },
    ]);
    expect(idsOf(data.results[0])).toEqual(billIds.toSorted());
    expect(await mailsOf([...billIds, ...other.billIds, draft, april])).toEqual(
      billIds.toSorted().map((id) => ({ bill_id: id, language: 'en', recipient: ADDRESS })),
    );
    for (const billId of billIds) {
      const [mail] = await listed(billId);
      expect(mail).toMatchObject({ status: 'queued', requested_by: 'Demo Manager' });
      expect((await auditOf(billId)).at(-1)).toMatchObject({
        action: 'bill.mail_queued',
        after: { mail_id: mail?.mail_id, recipient: ADDRESS, language: 'en' },
      });
    }
  });

  test('sends nothing a second time, and everything once more with again', async () => {
    const { courierId, billIds } = await courierWith(2);
    const run = (extra: object = {}) => send({ courier_ids: [courierId], ...extra }).ok();
    await sendOne(billIds[0] ?? '').ok();
    const first = await run();
    expect(first.data.results).toMatchObject([{ outcome: 'queued', bills: [{ bill_id: billIds[1] }] }]);
    expect(first.data.results[0]?.message).toMatch(
      /^Bill INV-\d+ will be sent to billing@quay\.example\. 1 other bill of the month had been sent already\.$/,
    );
    await service().owner.query(
      `update bill_mails set status = 'sent', settled_at = now() where bill_id = $1`,
      [billIds[0]],
    );
    for (const again of [undefined, false])
      await expectNothingWritten(async () => {
        const { message, data } = await run(again === undefined ? {} : { again });
        expect(message).toBe('0 bills queued.');
        expect(data.results).toMatchObject([{ outcome: 'unchanged', code: 'bill_already_sent' }]);
        expect(idsOf(data.results[0])).toEqual(billIds.toSorted());
      });
    expect((await run({ again: true, language: 'es' })).data.results).toMatchObject([{ outcome: 'queued' }]);
    const mails = await Promise.all(billIds.map(listed));
    expect(mails.map((own) => own.map(({ language }) => language))).toEqual([
      ['es', 'en'],
      ['es', 'en'],
    ]);
  });

  test.each(['failed', 'skipped'])('sends a bill again whose mail %s', async (status) => {
    const { courierId, billIds } = await courierWith(1);
    await send({ courier_ids: [courierId] }).ok();
    await service().owner.query('update bill_mails set status = $2, settled_at = now() where bill_id = $1', [
      billIds[0],
      status,
    ]);
    const { results } = (await send({ courier_ids: [courierId] }).ok()).data;
    expect(results).toMatchObject([{ outcome: 'queued', bills: [{ bill_id: billIds[0] }] }]);
  });

  test('writes to each courier in the language of its latest mail', async () => {
    const { courierId, billIds } = await courierWith(2);
    await sendOne(billIds[0] ?? '', { language: 'es' }).ok();
    await send({ courier_ids: [courierId] }).ok();
    expect((await listed(billIds[1] ?? ''))[0]?.language).toBe('es');
  });

  test('mails a bill as often as a single sending may, and no more', async () => {
    const { courierId, billIds } = await courierWith(1);
    const once = async () => (await send({ courier_ids: [courierId], again: true }).ok()).data.results;
    for (let sent = 0; sent < 5; sent += 1) expect(await once()).toMatchObject([{ outcome: 'queued' }]);
    expect(await once()).toMatchObject([
      {
        outcome: 'unchanged',
        code: 'bill_already_sent',
        message: expect.stringMatching(/^Bill INV-\d+ was mailed 5 times within 24 hours\./),
      },
    ]);
    expect(await listed(billIds[0] ?? '')).toHaveLength(5);
  });

  test('has a result for each chosen courier, and sends the others if one is refused', async () => {
    const [good, bad] = [await courierWith(1), await courierWith(1, 'nobody')];
    const idle = await newRecipient(ADDRESS);
    const ids = [idle, UNKNOWN_ID, bad.courierId, good.courierId];
    const { message, data } = await send({ courier_ids: [...ids, good.courierId.toUpperCase()] }).ok();
    expect(message).toBe('1 bill queued.');
    expect(data.results.map(({ courier_id: id }) => id)).toEqual(ids.toSorted());
    const of = (id: string) => data.results.find(({ courier_id: each }) => each === id);
    expect(of(UNKNOWN_ID)).toMatchObject({
      outcome: 'refused',
      code: 'courier_not_found',
      courier_name: null,
    });
    expect(of(idle)).toMatchObject({ outcome: 'unchanged', code: 'nothing_to_send', bills: [] });
    expect(of(bad.courierId)).toMatchObject({
      outcome: 'refused',
      code: 'courier_address_missing',
      bills: [],
    });
    expect(of(bad.courierId)?.message).toMatch(/^The courier .+ has no usable e-mail address\. Set email in/);
    expect(of(good.courierId)).toMatchObject({ outcome: 'queued' });
    expect(await listed(bad.billIds[0] ?? '')).toEqual([]);
  });

  test('goes on after 100 bills, and never within a courier, until each bill was sent once more', async () => {
    const made = [
      await courierWith(60),
      await courierWith(120),
      await courierWith(50),
      await courierWith(40),
    ];
    const requests = await untilDone((extra) => send({ again: true, ...extra }));
    expect(requests.length).toBeGreaterThan(2);
    const sizes = requests.map((results) => results.flatMap(({ bills }) => bills).length);
    const large = sizes.filter((size, index) => size > 100 && (requests[index]?.length ?? 0) > 1);
    expect(large).toEqual([]);
    const couriers = requests.flat().map(({ courier_id: id }) => id);
    expect(couriers).toEqual([...new Set(couriers)].toSorted());
    const billIds = made.flatMap((each) => each.billIds);
    const sent = (await mailsOf(billIds)).map(({ bill_id: id }) => id);
    expect(sent).toEqual(billIds.toSorted());
    const own = await untilDone((extra) =>
      send({ courier_ids: made.map(({ courierId }) => courierId), ...extra }),
    );
    expect(own.flat().map(({ code }) => code)).toEqual(made.map(() => 'bill_already_sent'));
  }, 60_000);
});
