import { BACKGROUND } from '../../../platform/audit/audit.js';
import { forEachTenant } from '../../../platform/context/each-tenant.js';
import type { Db } from '../../../platform/db/database.js';
import { queueOwnerMails } from '../../mail/public.js';
import { noteTold } from './tell-queries.js';

/**
 * Mails the owners of couriers whose URLs fail: at the first failures, before a URL is paused, and when it is paused (decision 0144). Each
 * is noted in the transaction that queues its mails, so that nobody is told twice.
 */
export const tellOwnersOfFailures = ({ db }: { db: Db }): Promise<void> =>
  forEachTenant(db, BACKGROUND, (ctx) =>
    ctx.write(async (tx) => {
      for (const { courierId, email, atMost, ...mail } of await tx.query(noteTold(tx)))
        await queueOwnerMails(tx, courierId, mail, { alsoTo: email, disabledDays: 0, atMost });
    }),
  );
