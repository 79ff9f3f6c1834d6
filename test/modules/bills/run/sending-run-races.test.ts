import { beforeAll, expect, test } from '@jest/globals';
import { makeBilling, tally } from '../../../support/builders/billing.js';
import { withService } from '../../../support/fixture/with-service.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { rounds } from '../../../support/harness/effort.js';
import { whileUnwritable } from '../../../support/harness/meanwhile.js';
import { makeMailCalls } from '../mails/mail-calls.js';
import { makeRunCalls } from './run-calls.js';

const CALLERS = rounds(20, 200);
const USERS = ['manager', 'admin'] as const;

const fixture = withService({ poolSize: 40 });
const { service } = fixture;
const { publish, send, insertDrafts } = makeRunCalls(fixture);
const { send: sendOne, newRecipient } = makeMailCalls(fixture);

beforeAll(async () => {
  // Sign the tokens beforehand, so that the callers contend in the database.
  for (const user of USERS) await service().tokenOf(user);
}, 60_000);

test(`of ${CALLERS} runs and single sendings at once, each bill is sent once, with one audit entry`, async () => {
  const couriers = [
    await newRecipient('one@quay.example'),
    await newRecipient('two@quay.example'),
    await newRecipient('three@quay.example'),
  ].toSorted();
  const billIds = (await Promise.all(couriers.map((id) => insertDrafts(id, 3)))).flat();
  await publish({ courier_ids: couriers }).ok();
  const run = () =>
    Promise.all(
      Array.from({ length: CALLERS }, (_, caller) =>
        // So many wait for a user's turn that the service refuses some. They try again.
        caller % 2 === 0
          ? untilAdmitted(() =>
              sendOne(billIds[(caller / 2) % billIds.length] ?? '', {}, USERS[(caller / 2) % 2]).answer(),
            )
          : untilAdmitted(() =>
              send(
                { courier_ids: caller % 4 === 1 ? couriers : couriers.toReversed() },
                USERS[((caller - 1) / 2) % 2],
              ).answer(),
            ),
      ),
    );
  const replies = await whileUnwritable(service().owner, { table: 'bill_mails', waiting: 4 }, run);
  expect(
    Object.keys(tally(replies)).filter((key) => !['200', '409 bill_already_sent'].includes(key)),
  ).toEqual([]);
  const { rows } = await service().owner.query<{ mails: number; entries: number }>(
    `select (select count(*)::int from bill_mails m where m.bill_id = b.id) as mails,
       (select count(*)::int from audit_entries a where a.entity_id = b.id and a.action = 'bill.mail_queued') as entries
     from bills b where b.id = any($1)`,
    [billIds],
  );
  expect(rows).toEqual(billIds.map(() => ({ mails: 1, entries: 1 })));
  const shown = await makeBilling(service()).read(billIds[0] ?? '');
  expect(shown.body['data'].mail_status).toBe('queued');
});
