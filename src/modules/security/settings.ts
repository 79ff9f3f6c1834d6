import { auditLater } from '../../platform/audit/audit.js';
import type { PersonContext, UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockSecuritySettings } from '../../platform/db/locks.js';
import { assertRecentLogin, type Settle } from '../auth/public.js';
import { selectSettings, storeSettings, type SettingsRow } from './queries.js';

type SentSettings = Omit<BodyOf<'updateSecuritySettings'>, 'current_password'>;

/** The settings of a tenant that has never changed them. */
const DEFAULTS: SettingsRow = { requireTwoFactor: [], idleTimeoutMinutes: null, updatedAt: null };

export async function readSettings(ctx: UserContext): Promise<SettingsRow> {
  const [[settings = DEFAULTS]] = await ctx.read([selectSettings(ctx)]);
  return settings;
}

/**
 * Changes the given settings. The database function enter_with_token applies them to every token as soon as the
 * transaction commits.
 */
export function changeSettings(
  ctx: PersonContext,
  sent: SentSettings,
  settle?: Settle,
): Promise<{ settings: SettingsRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    await settle?.(tx);
    await tx.count(lockSecuritySettings(ctx.tenantId));
    const [stored = DEFAULTS] = await tx.query(selectSettings(ctx));
    const merged = merge(stored, sent);
    const [before, after] = [auditedFields(stored), auditedFields(merged)];
    if (JSON.stringify(before) === JSON.stringify(after)) return { settings: stored, isChanged: false };
    if (!settle && loosens(stored, merged)) await assertRecentLogin(tx, ctx.caller);
    const [settings] = await tx.query(storeSettings(ctx, merged));
    if (!settings) throw new Error('The settings were not stored.');
    auditLater(tx, 'tenant.security_settings_changed', ctx.tenantId, { before, after });
    return { settings, isChanged: true };
  });
}

/** Whether a change requires less: no second factor of a role that needs one, or a later end of idle sessions, or none. */
function loosens(before: Settings, after: Settings): boolean {
  const isDropped = before.requireTwoFactor.some((role) => !after.requireTwoFactor.includes(role));
  return isDropped || (after.idleTimeoutMinutes ?? Infinity) > (before.idleTimeoutMinutes ?? Infinity);
}

type Settings = Omit<SettingsRow, 'updatedAt'>;

function merge(
  stored: SettingsRow,
  { require_two_factor: roles, idle_timeout_minutes: minutes }: SentSettings,
): Settings {
  return {
    requireTwoFactor: [...(roles ?? stored.requireTwoFactor)].sort(),
    // null is a value: it disables the timeout.
    idleTimeoutMinutes: minutes === undefined ? stored.idleTimeoutMinutes : minutes,
  };
}

const auditedFields = ({ requireTwoFactor, idleTimeoutMinutes }: Settings) => ({
  require_two_factor: requireTwoFactor,
  idle_timeout_minutes: idleTimeoutMinutes,
});
