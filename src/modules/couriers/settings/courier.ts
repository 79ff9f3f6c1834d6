import { randomBytes } from 'node:crypto';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { EncryptionContext, Secrets } from '../../../platform/access/secrets.js';
import { takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { transaction, snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { OutboundRules } from '../../../platform/outbound/urls.js';
import { found, decryptOrNull, encryptionContext, record, type Change, type Ctx } from '../shared/context.js';
import {
  assertAcceptable,
  differenceOf,
  mergeFields,
  type ProfileFields,
  type SentFields,
} from '../shared/fields.js';
import {
  deleteEndpointHealth,
  lockCourier,
  selectCourier,
  updateCourier,
  updateKey,
  type CourierRow,
} from '../shared/queries.js';
import { ensureWebhookSecret } from './webhook-secret.js';

/** A courier's profile with decrypted secrets. */
export type Settings = ProfileFields &
  Omit<CourierRow, 'api_key_cipher' | 'api_token_cipher' | 'webhook_secret_cipher'> & {
    api_key: string | null;
    webhook_secret: string | null;
  };

/**
 * Returns the courier id of a request: a courier's own, or the one that staff have given.
 * @throws ApiError validation_failed
 */
export function targetCourierId(caller: UserCaller, named: string | undefined): string {
  const courierId = caller.courierId ?? named;
  if (!courierId) throw invalidFieldError('id', 'required_for_staff');
  return courierId;
}

/**
 * Returns a courier's settings.
 * @throws ApiError courier_not_found
 */
export async function readSettings(
  { db, secrets }: { db: Db; secrets: Secrets },
  caller: UserCaller,
  courierId: string,
): Promise<Settings> {
  const [rows] = await snapshot(db, caller, [selectCourier(db, caller, courierId)]);
  // The statement selects exactly these columns.
  return decryptSettings(secrets, caller.tenantId, found(rows?.[0] as CourierRow | undefined));
}

/**
 * Changes the given fields that differ. Without a difference it writes nothing.
 * @throws ApiError courier_not_found, quota_exceeded, 400
 */
export async function updateSettings(
  change: Change,
  sent: SentFields,
  rules: OutboundRules,
): Promise<{ settings: Settings; isChanged: boolean }> {
  assertAcceptable(sent, rules);
  return transaction(change.db, change.caller, async (tx) => {
    const isChanged = await changeFields({ ...change, tx }, sent);
    const [saved] = await tx.query<CourierRow>(selectCourier(change.db, change.caller, change.courierId));
    return { settings: decryptSettings(change.secrets, change.caller.tenantId, found(saved)), isChanged };
  });
}

/**
 * As updateSettings, inside a transaction and for fields that assertAcceptable has accepted. Returns whether
 * any field differs.
 */
export async function changeFields(ctx: Ctx, sent: SentFields): Promise<boolean> {
  const row = found(await lockCourier(ctx));
  const before = decryptSettings(ctx.secrets, ctx.caller.tenantId, row);
  const after = { ...before, ...mergeFields(before, sent) };
  const difference = differenceOf(before, after);
  if (!difference) return false;
  await saveFields(ctx, before, after, row.api_token_cipher);
  await record(ctx, { action: 'courier.updated', ...difference });
  await applyUrlChanges(ctx, before, after);
  const quotaKey = { tenantId: ctx.caller.tenantId, courierId: ctx.courierId };
  await takeQuota(ctx.tx, TARGET_CHANGES, quotaKey, newTargets(before, after));
  return true;
}

/** Limits port scans through changed URLs. The contract states the limit. */
const TARGET_CHANGES: Quota = {
  kind: 'target_changes',
  period: 'hour',
  limit: 30,
};

const URLS = ['api_url_get_customers', 'api_url_add_package', 'api_url_update_package'] as const;

/** Returns the number of URLs with a new origin. */
function newTargets(before: ProfileFields, after: ProfileFields): number {
  const hostOf = (url: string | null) => (url === null ? null : new URL(url).origin);
  const known = new Set(URLS.map((name) => hostOf(before[name])));
  return new Set(URLS.map((name) => hostOf(after[name])).filter((host) => host !== null && !known.has(host)))
    .size;
}

const KEY_BYTES = 32;

/** Returns a new API key with its lookup hash and its ciphertext. */
export function newKey(secrets: Secrets, tenantId: string, courierId: string) {
  const key = randomBytes(KEY_BYTES).toString('hex');
  const cipher = secrets.encrypt(key, encryptionContext(tenantId, courierId, 'api_key'));
  return { key, hash: secrets.lookupHash(key, 'api_key'), cipher };
}

/**
 * Replaces the API key. The old key is invalid at once.
 * @throws ApiError courier_not_found
 */
export async function regenerateKey(change: Change): Promise<string> {
  const { db, secrets, caller, courierId } = change;
  return transaction(db, caller, async (tx) => {
    const ctx = { ...change, tx };
    const { key, hash, cipher } = newKey(secrets, caller.tenantId, courierId);
    if ((await updateKey(ctx, hash, cipher)) !== 1) throw new ApiError('courier_not_found');
    await record(ctx, { action: 'courier.key_regenerated' });
    return key;
  });
}

async function saveFields(
  ctx: Ctx,
  before: Settings,
  after: Settings,
  storedCipher: string | null,
): Promise<void> {
  const { secrets, caller, courierId } = ctx;
  const isSameToken = after.api_token === before.api_token;
  const encrypt = (token: string) =>
    secrets.encrypt(token, encryptionContext(caller.tenantId, courierId, 'api_token'));
  const cipher = isSameToken ? storedCipher : after.api_token && encrypt(after.api_token);
  const written = await updateCourier(ctx, after, cipher);
  if (written !== 1) throw new Error(`${written} couriers were updated under one lock.`);
}

/**
 * Handles changed webhook URLs: deletes the health of the old ones and ensures that there is a signing
 * secret.
 */
async function applyUrlChanges(ctx: Ctx, before: ProfileFields, after: ProfileFields): Promise<void> {
  const changed = (['add_package', 'update_package'] as const).filter(
    (name) => before[`api_url_${name}`] !== after[`api_url_${name}`],
  );
  if (changed.length === 0) return;
  await deleteEndpointHealth(ctx, changed);
  if (changed.some((name) => after[`api_url_${name}`] !== null)) await ensureWebhookSecret(ctx);
}

function decryptSettings(secrets: Secrets, tenantId: string, row: CourierRow): Settings {
  const { api_key_cipher, api_token_cipher, webhook_secret_cipher, ...rest } = row;
  const open = (cipher: string | null, field: EncryptionContext['field']) =>
    cipher === null
      ? null
      : decryptOrNull(secrets, cipher, encryptionContext(tenantId, row.courier_id, field));
  return {
    ...rest,
    api_key: open(api_key_cipher, 'api_key'),
    api_token: open(api_token_cipher, 'api_token'),
    webhook_secret: open(webhook_secret_cipher, 'webhook_secret'),
  };
}
