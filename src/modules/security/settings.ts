import { auditStatement } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockSecuritySettings } from '../../platform/db/locks.js';
import { transaction, snapshot, type Db } from '../../platform/db/transaction.js';
import { selectSettings, storeSettings, type SettingsRow } from './queries.js';

/** The settings of a tenant that has never changed them. */
const DEFAULTS: SettingsRow = { require_two_factor: [], idle_timeout_minutes: null, updated_at: null };

export async function readSettings(db: Db, caller: UserCaller): Promise<SettingsRow> {
  const [rows] = await snapshot(db, caller, [selectSettings(db, caller)]);
  // The statement selects exactly these columns.
  return (rows?.[0] as SettingsRow | undefined) ?? DEFAULTS;
}

type Change = { db: Db; caller: UserCaller; requestId: string };

/**
 * Changes the given settings. The database function enter_as_user applies them to every token as soon as the
 * transaction commits.
 */
export function changeSettings(
  { db, caller, requestId }: Change,
  sent: BodyOf<'updateSecuritySettings'>,
): Promise<{ settings: SettingsRow; isChanged: boolean }> {
  return transaction(db, caller, async (tx) => {
    await tx.execute(lockSecuritySettings(caller.tenantId));
    const [before = DEFAULTS] = await tx.query<SettingsRow>(selectSettings(db, caller));
    const next = mergeSettings(before, sent);
    const { updated_at: _, ...old } = before;
    if (JSON.stringify(next) === JSON.stringify(old)) return { settings: before, isChanged: false };
    const [settings] = await tx.query<SettingsRow>(storeSettings(caller, next));
    if (!settings) throw new Error('The settings were not stored.');
    const fact = {
      action: 'tenant.security_settings_changed',
      entity: 'tenant' as const,
      entityId: caller.tenantId,
      before: old,
      after: next,
    };
    await tx.execute(auditStatement(caller, requestId, [fact]));
    return { settings, isChanged: true };
  });
}

function mergeSettings(
  before: SettingsRow,
  { require_two_factor: roles, idle_timeout_minutes: minutes }: BodyOf<'updateSecuritySettings'>,
): Omit<SettingsRow, 'updated_at'> {
  return {
    require_two_factor: [...(roles ?? before.require_two_factor)].sort(),
    // null is a value: it disables the timeout.
    idle_timeout_minutes: minutes === undefined ? before.idle_timeout_minutes : minutes,
  };
}
