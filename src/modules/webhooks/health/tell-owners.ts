import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import { systemCallers, type Db } from '../../../platform/db/database.js';
import { queueOwnerMails } from '../../mail/public.js';
import { noteTold } from './tell-queries.js';

/**
 * Mails the owners of couriers whose URLs fail: at the first failures, before a URL is paused, and when it is paused (decision 0144). Each
 * is noted in the transaction that queues its mails, so that nobody is told twice.
 */
export async function tellOwnersOfFailures({ db }: { db: Db }): Promise<void> {
  for (const caller of await systemCallers(db)) {
    const ctx = makeContext(db, caller, BACKGROUND);
    await ctx.write(async (tx) => {
      for (const { courierId, email, ...mail } of await tx.query(noteTold(tx)))
        await queueOwnerMails(tx, courierId, mail, { alsoTo: email, disabledDays: 0 });
    });
  }
}
