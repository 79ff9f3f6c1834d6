import { ownRows, type FilterScope, type Reader } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';

const IS_EFFECTIVE = sql`m.status in ('queued', 'sent')`;

const mailsOfBill = (ctx: FilterScope<Reader>): Sql => sql`${ownRows(ctx, 'm')} and m.bill_id = b.id`;

/** Whether the bill `b` was sent by mail, or is queued. Mails that failed or were skipped do not count. */
export const isSent = (ctx: FilterScope<Reader>): Sql =>
  sql`exists (select from bill_mails m where ${mailsOfBill(ctx)} and ${IS_EFFECTIVE})`;

/** The status of the latest effective mail of the bill `b`, or of its latest mail. Null without mails, and for a courier. */
export const mailStatus = (ctx: FilterScope<Reader>): Sql =>
  ctx.caller.courierId !== null && ctx.applicationFilters
    ? sql`null::text`
    : sql`(select m.status from bill_mails m where ${mailsOfBill(ctx)}
        order by ${IS_EFFECTIVE} desc, m.created_at desc, m.id desc limit 1)`;
