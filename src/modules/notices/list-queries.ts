import type { DataOf, QueryOf } from '../../platform/contract/types.js';
import { allOf, ownRows } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import type { UserScope } from '../../platform/db/scope.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import { OPTED_OUT } from './mails/send-notice-mail.js';

type Query = QueryOf<'listNotices'>;
type Shown = DataOf<'listNotices'>[number];

/** A notice as the log shows it. `address` is that of the mail, or else the customer's. */
export type NoticeRow = {
  id: string;
  courierId: string;
  packageId: string;
  trackingNumber: string;
  userCode: string;
  state: Shown['state'];
  status: Shown['status'];
  mailId: string | null;
  address: string | null;
  reason: string | null;
  webhookStatus: Shown['webhook_status'];
  dueAt: Date | null;
  createdAt: Date;
  settledAt: Date | null;
};

/** What became of notice `n`, whose mail is `m`. */
const STATUS = sql`case when n.status <> 'told' then n.status
  when m.status = 'skipped' then case when m.last_error = ${OPTED_OUT} then 'opted_out' else 'cancelled' end
  else m.status end`;

const notices = (ctx: UserScope, query: Query): Sql => sql`
  notices n
  join customers cu on ${ownRows(ctx, 'cu')} and cu.tenant_id = n.tenant_id and cu.id = n.customer_id
  left join notice_mails m on ${ownRows(ctx, 'm')} and m.tenant_id = n.tenant_id and m.id = n.mail_id
  where ${matching(ctx, query)}`;

/** A courier only ever sees its own, whatever courier_id says. */
const matching = (
  ctx: UserScope,
  { courier_id: courierId, package_id: packageId, user_code: userCode, status }: Query,
): Sql =>
  allOf(
    ownRows(ctx, 'n'),
    ctx.caller.courierId === null && courierId && sql`n.courier_id = ${courierId}::uuid`,
    packageId && sql`n.package_id = ${packageId}::uuid`,
    userCode && sql`cu.user_code = ${userCode}`,
    status && sql`(${STATUS}) = ${status}`,
  );

export const pageOfNotices = (ctx: UserScope, query: Query): Sql<NoticeRow> => sql`
  select n.id, n.courier_id as "courierId", n.package_id as "packageId", n.tracking_number as "trackingNumber",
    cu.user_code as "userCode", n.state, ${STATUS} as status, n.mail_id as "mailId", coalesce(m.recipient, cu.email) as address,
    case when n.status = 'told' then m.last_error else n.reason end as reason,
    case when n.event_id is not null then coalesce((select d.status from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.tenant_id = n.tenant_id and d.event_id = n.event_id order by d.created_at desc, d.id desc limit 1), 'stored') end
      as "webhookStatus", n.due_at as "dueAt", n.created_at as "createdAt",
    coalesce(m.settled_at, case when n.mail_id is null then n.settled_at end) as "settledAt"
  from ${notices(ctx, query)}
  order by n.created_at desc, n.sequence desc, n.id desc ${limitTo(query)}`;

export const countNotices = (ctx: UserScope, query: Query): Sql<{ total: number }> =>
  sql`select count(*)::int as total from ${notices(ctx, query)}`;
