import { ownRows, type FilterScope } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';

/** Of a courier per UTC day. What is above is told on the next. */
export const MAILS_OF_COURIER = 20_000;

/** Of a courier to an address within 24 hours. What is above is told later, in one mail. */
export const MAILS_OF_ADDRESS = 10;

const TODAY = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

/** The start of the next UTC day, and up to an hour more, so that couriers do not all begin at once. */
export const TOMORROW = sql`(${TODAY} + interval '1 day' + random() * interval '1 hour')`;

type Reader = FilterScope<{ tenantId: string; courierId: string | null }>;

/** How many mails a courier has sent today, as a column. */
export const mailsSentToday = (ctx: Reader, courierId: Sql): Sql =>
  sql`coalesce((select q.used::int from courier_quotas q where ${ownRows(ctx, 'q')} and q.courier_id = ${courierId}
    and q.kind = 'notice_mails' and q.period_start = ${TODAY}), 0)`;

/** Counts mails that a statement has made. @param total selects their number */
export const countMails = (tenantId: string, courierId: string, total: Sql): Sql =>
  sql`insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
    select ${tenantId}::uuid, ${courierId}::uuid, 'notice_mails', ${TODAY}, made.total from (${total}) made where made.total > 0
    on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used`;
