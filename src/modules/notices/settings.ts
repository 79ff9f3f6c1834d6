import { auditLater } from '../../platform/audit/audit.js';
import { differenceOf } from '../../platform/audit/difference.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lock } from '../../platform/db/columns.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import { targetCourierId } from '../couriers/public.js';
import { assertZone } from '../tenant-settings/public.js';
import {
  endHolds,
  findSettings,
  storeSettings,
  type NoticeState,
  type SettingsRow,
  type StoredSettings,
} from './settings-queries.js';

export type Settings = SettingsRow & { courierId: string; mailsToday: number; failedMails: number };

type Sent = BodyOf<'updateNoticeSettings'>;

/** Those of a courier that has never changed them. */
const DEFAULTS = {
  isEnabled: false,
  sendsMail: true,
  states: ['received', 'shipped', 'delivered'],
  language: 'en',
} as const satisfies Partial<SettingsRow>;

/** @throws ApiError validation_failed, courier_not_found */
export async function readSettings(ctx: UserContext, requestedId: string | undefined): Promise<Settings> {
  const [[stored]] = await ctx.read([findSettings(ctx, targetCourierId(ctx.caller, requestedId))]);
  return completed(stored);
}

/**
 * Changes the given settings.
 *
 * @param isAvailable whether mails can have a link to the service
 * @throws ApiError validation_failed, courier_not_found, notices_unavailable
 */
export function changeSettings(
  ctx: UserContext,
  sent: Sent,
  isAvailable: boolean,
): Promise<{ settings: Settings; isChanged: boolean }> {
  const courierId = targetCourierId(ctx.caller, sent.courier_id);
  assertUsable({ reply_to: sent.reply_to ? validateEmail(sent.reply_to) : undefined });
  if (sent.quiet_hours && sent.quiet_hours.from === sent.quiet_hours.to)
    throw invalidFieldError('quiet_hours', 'same_times');
  return ctx.write(async (tx) => {
    await lock(tx, 'Courier', courierId, ['id'], 'no key update');
    const [stored] = await tx.query(findSettings(tx, courierId));
    const before = completed(stored);
    const after = merged(before, sent);
    if (after.timeZone !== null && after.timeZone !== before.timeZone) await assertZone(tx, after.timeZone);
    const difference = differenceOf(comparable(before), comparable(after), NAMES);
    if (!difference) return { settings: before, isChanged: false };
    if (!before.isEnabled && after.isEnabled && !isAvailable) throw new ApiError('notices_unavailable');
    tx.later(storeSettings(tx, courierId, { settings: after, isBeginning: isBeginning(before, after) }));
    if (HOLDING.some((name) => before[name] !== after[name])) tx.later(endHolds(tx, courierId));
    auditLater(tx, 'courier.notice_settings_changed', courierId, { ...difference });
    const [changed] = await tx.query(findSettings(tx, courierId));
    return { settings: completed(changed), isChanged: true };
  });
}

const HOLDING = ['quietFrom', 'quietTo', 'timeZone'] as const;

/** A status that is added is told from now on, and everything is if notices are switched on. */
const isBeginning = (before: Settings, after: Settings): boolean =>
  (after.isEnabled && !before.isEnabled) || after.states.some((state) => !before.states.includes(state));

/** @throws ApiError courier_not_found */
function completed(stored: StoredSettings | undefined): Settings {
  if (!stored) throw new ApiError('courier_not_found');
  return {
    ...stored,
    isEnabled: stored.isEnabled ?? DEFAULTS.isEnabled,
    sendsMail: stored.sendsMail ?? DEFAULTS.sendsMail,
    states: stored.states ?? [...DEFAULTS.states],
    language: stored.language ?? DEFAULTS.language,
  };
}

const merged = (before: Settings, sent: Sent): Settings => ({
  ...before,
  isEnabled: sent.is_enabled ?? before.isEnabled,
  sendsMail: sent.sends_mail ?? before.sendsMail,
  states: sent.states ? inOrder(sent.states) : before.states,
  language: sent.language ?? before.language,
  quietFrom: sent.quiet_hours === undefined ? before.quietFrom : (sent.quiet_hours?.from ?? null),
  quietTo: sent.quiet_hours === undefined ? before.quietTo : (sent.quiet_hours?.to ?? null),
  timeZone: sentOr(sent.time_zone, before.timeZone),
  replyTo: sentOr(sent.reply_to, before.replyTo),
  signature: sentOr(sent.signature, before.signature),
});

/** Null is a value. */
const sentOr = <Value>(sent: Value | null | undefined, stored: Value | null): Value | null =>
  sent === undefined ? stored : sent;

/** In the order of a parcel's way, so that another order is no difference. */
const WAY: NoticeState[] = [
  'received',
  'shipped',
  'in_transit',
  'delivered',
  'on_hold',
  'customs_hold',
  'returned',
  'lost',
];

const inOrder = (states: NoticeState[]): NoticeState[] => WAY.filter((state) => states.includes(state));

const comparable = ({ states, ...settings }: Settings) => ({ ...settings, states: states.join(' ') });

const NAMES = [
  'isEnabled',
  'sendsMail',
  'states',
  'language',
  'quietFrom',
  'quietTo',
  'timeZone',
  'replyTo',
  'signature',
] as const;
