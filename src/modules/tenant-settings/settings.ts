import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockTenantSettings } from '../../platform/db/locks.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import type { UserTx } from '../../platform/db/scope.js';
import {
  DEFAULTS,
  isZoneOfDatabase,
  lockBillCounter,
  selectSettings,
  storeSettings,
  type SettingsRow,
} from './queries.js';

export type { SettingsRow };

type SentSettings = BodyOf<'updateTenantSettings'>;
type Settings = Omit<SettingsRow, 'updatedAt'>;

export async function readSettings(ctx: UserContext): Promise<SettingsRow> {
  const [[settings = DEFAULTS]] = await ctx.read([selectSettings(ctx)]);
  return settings;
}

/**
 * Changes the given settings. Nothing that is stored is converted.
 * @throws ApiError validation_failed, currency_in_use
 */
export function changeSettings(
  ctx: UserContext,
  sent: SentSettings,
): Promise<{ settings: SettingsRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    await tx.count(lockTenantSettings(ctx.tenantId));
    const [stored = DEFAULTS] = await tx.query(selectSettings(ctx));
    const {
      timeZone = stored.timeZone,
      currency = stored.currency,
      missingAfterHours = stored.missingAfterHours,
    } = {
      timeZone: sent.time_zone,
      currency: sent.currency,
      missingAfterHours: sent.missing_after_hours,
    };
    if (timeZone !== stored.timeZone) await assertZone(tx, timeZone);
    if (currency !== stored.currency) await assertCurrency(tx, stored.currency, currency);
    const isSame = missingAfterHours === stored.missingAfterHours;
    if (isSame && timeZone === stored.timeZone && currency === stored.currency)
      return { settings: stored, isChanged: false };
    const [settings] = await tx.query(storeSettings(tx, { timeZone, currency, missingAfterHours }));
    if (!settings) throw new Error('The settings were not stored.');
    auditLater(tx, 'tenant.settings_changed', ctx.tenantId, {
      before: auditedFields(stored),
      after: auditedFields(settings),
    });
    return { settings, isChanged: true };
  });
}

/** Asserts that PostgreSQL, which filters by days, and JavaScript, which shows times, both know the time zone. */
export async function assertZone(tx: UserTx, name: string): Promise<void> {
  // Asked first, because it costs less.
  const [found] = isZoneOfPlatform(name) ? await tx.query(isZoneOfDatabase(name)) : [];
  if (!found?.isKnown) throw invalidFieldError('time_zone', 'unknown_time_zone');
}

/** As the constraint of the table has it: without old names such as EST5EDT, which are no place's. */
const NAME_OF_ZONE = /^[A-Z][A-Za-z]*(?:[/_+-][A-Za-z0-9]+)*$/;

function isZoneOfPlatform(name: string): boolean {
  if (!NAME_OF_ZONE.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Amounts are stored with two decimals. */
const DECIMALS = 2;

async function assertCurrency(tx: UserTx, before: string, currency: string): Promise<void> {
  if (!isCurrency(currency)) throw invalidFieldError('currency', 'unknown_currency');
  // A publication waits for this lock, and commits in the currency that it finds then.
  const [counter] = await tx.query(lockBillCounter(tx));
  if (!counter || counter.lastNumber > 0)
    throw new ApiError('currency_in_use', { args: { currency: before } });
}

/** Whether it is an ISO 4217 code of a currency with two decimals. */
export function isCurrency(code: string): boolean {
  if (!Intl.supportedValuesOf('currency').includes(code)) return false;
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
  }).resolvedOptions();
  return maximumFractionDigits === DECIMALS;
}

const auditedFields = ({ timeZone, currency, missingAfterHours }: Settings) => ({
  time_zone: timeZone,
  currency,
  missing_after_hours: missingAfterHours,
});
