import { auditLater } from '../../platform/audit/audit.js';
import { differenceOf } from '../../platform/audit/difference.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lock } from '../../platform/db/columns.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { targetCourierId } from '../couriers/public.js';
import { assertZone, isCurrency } from '../tenant-settings/public.js';
import { findSettings, storeSettings, type SettingsRow, type StoredSettings } from './queries.js';

export type Settings = SettingsRow & { courierId: string; code: string };

/** The settings of a courier that has never changed them. */
const DEFAULTS: SettingsRow = {
  isEnabled: false,
  isSearchEnabled: false,
  showsAmountDue: false,
  currency: null,
  timeZone: null,
  transitDays: null,
  noteEn: null,
  noteEs: null,
  updatedAt: null,
};

/** @throws ApiError validation_failed, courier_not_found */
export async function readSettings(ctx: UserContext, requestedId: string | undefined): Promise<Settings> {
  const [[stored]] = await ctx.read([findSettings(ctx, targetCourierId(ctx.caller, requestedId))]);
  return completed(stored);
}

/**
 * Changes the given settings.
 * @throws ApiError validation_failed, courier_not_found
 */
export function changeSettings(
  ctx: UserContext,
  sent: BodyOf<'updateTrackingSettings'>,
): Promise<{ settings: Settings; isChanged: boolean }> {
  const courierId = targetCourierId(ctx.caller, sent.courier_id);
  const { currency } = sent;
  if (typeof currency === 'string' && !isCurrency(currency))
    throw invalidFieldError('currency', 'unknown_currency');
  return ctx.write(async (tx) => {
    await lock(tx, 'Courier', courierId, ['id'], 'no key update');
    const [stored] = await tx.query(findSettings(tx, courierId));
    const before = completed(stored);
    const after = merged(before, sent);
    if (after.timeZone !== null && after.timeZone !== before.timeZone) await assertZone(tx, after.timeZone);
    const difference = differenceOf(before, after, NAMES);
    if (!difference) return { settings: before, isChanged: false };
    tx.later(storeSettings(tx, courierId, after));
    auditLater(tx, 'courier.tracking_settings_changed', courierId, { ...difference });
    const [changed] = await tx.query(findSettings(tx, courierId));
    return { settings: completed(changed), isChanged: true };
  });
}

/** @throws ApiError courier_not_found */
function completed(stored: StoredSettings | undefined): Settings {
  if (!stored) throw new ApiError('courier_not_found');
  const { courierId, code, isEnabled, isSearchEnabled, showsAmountDue, ...others } = stored;
  return {
    courierId,
    code,
    ...others,
    isEnabled: isEnabled ?? DEFAULTS.isEnabled,
    isSearchEnabled: isSearchEnabled ?? DEFAULTS.isSearchEnabled,
    showsAmountDue: showsAmountDue ?? DEFAULTS.showsAmountDue,
  };
}

const merged = (before: Settings, sent: BodyOf<'updateTrackingSettings'>): Settings => ({
  ...before,
  isEnabled: sent.is_enabled ?? before.isEnabled,
  isSearchEnabled: sent.is_search_enabled ?? before.isSearchEnabled,
  showsAmountDue: sent.shows_amount_due ?? before.showsAmountDue,
  currency: sentOr(sent.currency, before.currency),
  timeZone: sentOr(sent.time_zone, before.timeZone),
  transitDays: sentOr(sent.transit_days, before.transitDays),
  noteEn: sentOr(sent.note_en, before.noteEn),
  noteEs: sentOr(sent.note_es, before.noteEs),
});

/** Null is a value. */
const sentOr = <Value>(sent: Value | null | undefined, stored: Value | null): Value | null =>
  sent === undefined ? stored : sent;

const NAMES = [
  'isEnabled',
  'isSearchEnabled',
  'showsAmountDue',
  'currency',
  'timeZone',
  'transitDays',
  'noteEn',
  'noteEs',
] as const;
