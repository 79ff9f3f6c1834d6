import type { components } from '../../../generated/contract.js';
import { columns } from '../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { UserScope } from '../../platform/db/scope.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import { hasJustFailed } from './failed-mails.js';
import { mailsSentToday } from './telling/quota.js';

type Schemas = components['schemas'];
export type NoticeState = Schemas['NoticeState'];
export type NoticeLanguage = Schemas['NoticeLanguage'];

const SETTINGS = columns('NoticeSettings', 's', [
  'isEnabled',
  'sendsMail',
  'states',
  'language',
  'quietFrom',
  'quietTo',
  'timeZone',
  'replyTo',
  'signature',
  'updatedAt',
]);

/** The settings of a courier. `updatedAt` is null if it has never changed them. */
export type SettingsRow = Omit<RowOf<typeof SETTINGS>, 'states' | 'language' | 'updatedAt'> & {
  states: NoticeState[];
  language: NoticeLanguage;
  updatedAt: Date | null;
};

/** A courier, and its settings, which are null if it has never changed them. */
export type StoredSettings = { courierId: string; mailsToday: number; failedMails: number } & {
  [Name in keyof SettingsRow]: SettingsRow[Name] | null;
};

export const findSettings = (ctx: UserScope, courierId: string): Sql<StoredSettings> =>
  once`select c.id as "courierId", ${SETTINGS}, ${mailsSentToday(ctx, sql`c.id`)} as "mailsToday",
      (select count(*)::int from notice_mails m where ${ownRows(ctx, 'm')} and m.tenant_id = c.tenant_id and m.courier_id = c.id
        and ${hasJustFailed('m')}) as "failedMails"
    from couriers c
    left join notice_settings s on ${ownRows(ctx, 's')} and s.tenant_id = c.tenant_id and s.courier_id = c.id
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

export type Change = {
  settings: Omit<SettingsRow, 'updatedAt'>;
  /** Whether only what happens from now on is told. */
  isBeginning: boolean;
};

/** The clock of the database dates the change. What has happened before notices are switched on is not examined. */
export const storeSettings = (
  { tenantId }: UserScope,
  courierId: string,
  { settings: s, isBeginning }: Change,
): Sql => once`
  insert into notice_settings as stored (tenant_id, courier_id, is_enabled, sends_mail, states, language, quiet_from, quiet_to, time_zone,
    reply_to, signature, last_sequence)
  values (${tenantId}::uuid, ${courierId}::uuid, ${s.isEnabled}::boolean, ${s.sendsMail}::boolean, ${s.states}::text[], ${s.language},
    ${s.quietFrom}, ${s.quietTo}, ${s.timeZone}, ${s.replyTo}, ${s.signature},
    coalesce((select k.last_sequence from event_counters k where k.tenant_id = ${tenantId}::uuid and k.courier_id = ${courierId}::uuid), 0))
  on conflict (tenant_id, courier_id) do update set is_enabled = excluded.is_enabled, sends_mail = excluded.sends_mail,
    states = excluded.states, language = excluded.language, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
    time_zone = excluded.time_zone, reply_to = excluded.reply_to, signature = excluded.signature, updated_at = now(),
    last_sequence = case when ${isBeginning}::boolean and not stored.is_enabled then excluded.last_sequence else stored.last_sequence end,
    told_since = case when ${isBeginning}::boolean then now() else stored.told_since end`;

/** Decides again about what the quiet hours hold. */
export const endHolds = (ctx: UserScope, courierId: string): Sql =>
  sql`update notices n set due_at = now()
    where ${ownRows(ctx, 'n')} and n.courier_id = ${courierId}::uuid and n.status = 'held' and n.due_at > now()`;
