import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockSecuritySettings } from '../../platform/db/locks.js';
import { selectSettings, storeSettings, type SettingsRow } from './queries.js';

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
  ctx: UserContext,
  sent: BodyOf<'updateSecuritySettings'>,
): Promise<{ settings: SettingsRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    await tx.count(lockSecuritySettings(ctx.tenantId));
    const [stored = DEFAULTS] = await tx.query(selectSettings(ctx));
    const merged = merge(stored, sent);
    const [before, after] = [auditedFields(stored), auditedFields(merged)];
    if (JSON.stringify(before) === JSON.stringify(after)) return { settings: stored, isChanged: false };
    const [settings] = await tx.query(storeSettings(ctx, merged));
    if (!settings) throw new Error('The settings were not stored.');
    auditLater(tx, 'tenant.security_settings_changed', ctx.tenantId, { before, after });
    return { settings, isChanged: true };
  });
}

type Settings = Omit<SettingsRow, 'updatedAt'>;

function merge(
  stored: SettingsRow,
  { require_two_factor: roles, idle_timeout_minutes: minutes }: BodyOf<'updateSecuritySettings'>,
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
