import { randomBytes } from 'node:crypto';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { EncryptionContext, Secrets } from '../../../platform/access/secrets.js';
import { takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { transaction, snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { OutboundRules } from '../../../platform/outbound/urls.js';
import { found, openOrNull, placeOf, record, type Change, type Ctx } from '../shared/context.js';
import {
  assertAcceptable,
  differenceOf,
  mergeFields,
  type ProfileFields,
  type SentFields,
} from '../shared/fields.js';
import {
  forgetEndpoints,
  lockCourier,
  selectCourier,
  updateCourier,
  updateKey,
  type CourierRow,
} from '../shared/queries.js';
import { ensureWebhookSecret } from './webhook-secret.js';

/** A courier's profile with its secrets in clear. */
export type Settings = ProfileFields &
  Omit<CourierRow, 'api_key_cipher' | 'api_token_cipher' | 'webhook_secret_cipher'> & {
    api_key: string | null;
    webhook_secret: string | null;
  };

/** The courier that a caller means: a courier always itself, staff the one that they name. */
export function courierMeant(caller: UserCaller, named: string | undefined): string {
  const courierId = caller.courierId ?? named;
  if (!courierId) throw invalidFieldError('id', 'required_for_staff');
  return courierId;
}

/** @throws ApiError courier_not_found */
export async function readSettings(
  { db, secrets }: { db: Db; secrets: Secrets },
  caller: UserCaller,
  courierId: string,
): Promise<Settings> {
  const [rows] = await snapshot(db, caller, [selectCourier(db, caller, courierId)]);
  // as: the shape that the statement selects
  return openSettings(secrets, caller.tenantId, found(rows?.[0] as CourierRow | undefined));
}

/** Changes what is sent and differs. No difference writes nothing. @throws ApiError courier_not_found, quota_exceeded, 400 */
export async function updateSettings(
  change: Change,
  sent: SentFields,
  rules: OutboundRules,
): Promise<{ settings: Settings; isChanged: boolean }> {
  assertAcceptable(sent, rules);
  return transaction(change.db, change.caller, async (tx) => {
    const isChanged = await changeFields({ ...change, tx }, sent);
    const [saved] = await tx.query<CourierRow>(selectCourier(change.db, change.caller, change.courierId));
    return { settings: openSettings(change.secrets, change.caller.tenantId, found(saved)), isChanged };
  });
}

/** The same inside a transaction, for fields that assertAcceptable has let pass. Answers whether any differs. */
export async function changeFields(ctx: Ctx, sent: SentFields): Promise<boolean> {
  const row = found(await lockCourier(ctx));
  const before = openSettings(ctx.secrets, ctx.caller.tenantId, row);
  const after = { ...before, ...mergeFields(before, sent) };
  const difference = differenceOf(before, after);
  if (!difference) return false;
  await saveFields(ctx, before, after, row.api_token_cipher);
  await record(ctx, { action: 'courier.updated', ...difference });
  await followUrls(ctx, before, after);
  const asker = { tenantId: ctx.caller.tenantId, courierId: ctx.courierId };
  await takeQuota(ctx.tx, TARGET_CHANGES, asker, newTargets(before, after));
  return true;
}

/** So that nobody tries out the ports of others by naming one after another. Stated in the contract. */
const TARGET_CHANGES: Quota = {
  kind: 'target_changes',
  period: 'hour',
  limit: 30,
};

const URLS = ['api_url_get_customers', 'api_url_add_package', 'api_url_update_package'] as const;

/** How many URLs lead to another host or port than any did before. */
function newTargets(before: ProfileFields, after: ProfileFields): number {
  const hostOf = (url: string | null) => (url === null ? null : new URL(url).origin);
  const known = new Set(URLS.map((name) => hostOf(before[name])));
  return new Set(URLS.map((name) => hostOf(after[name])).filter((host) => host !== null && !known.has(host)))
    .size;
}

const KEY_BYTES = 32;

/** A new key for a courier: to be shown once, to be looked up by and to be kept. */
export function newKey(secrets: Secrets, tenantId: string, courierId: string) {
  const key = randomBytes(KEY_BYTES).toString('hex');
  const cipher = secrets.encrypt(key, placeOf(tenantId, courierId, 'api_key'));
  return { key, hash: secrets.lookupHash(key, 'api_key'), cipher };
}

/** Puts a new key in the place of the old one, which opens nothing from then on. @throws courier_not_found */
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
  const seal = (token: string) => secrets.encrypt(token, placeOf(caller.tenantId, courierId, 'api_token'));
  const cipher = isSameToken ? storedCipher : after.api_token && seal(after.api_token);
  const written = await updateCourier(ctx, after, cipher);
  if (written !== 1) throw new Error(`${written} couriers were updated under one lock.`);
}

/** What other URLs for webhooks bring about: an end of what the old ones did, and a secret to sign with. */
async function followUrls(ctx: Ctx, before: ProfileFields, after: ProfileFields): Promise<void> {
  const changed = (['add_package', 'update_package'] as const).filter(
    (name) => before[`api_url_${name}`] !== after[`api_url_${name}`],
  );
  if (changed.length === 0) return;
  await forgetEndpoints(ctx, changed);
  if (changed.some((name) => after[`api_url_${name}`] !== null)) await ensureWebhookSecret(ctx);
}

function openSettings(secrets: Secrets, tenantId: string, row: CourierRow): Settings {
  const { api_key_cipher, api_token_cipher, webhook_secret_cipher, ...rest } = row;
  const open = (cipher: string | null, field: EncryptionContext['field']) =>
    cipher === null ? null : openOrNull(secrets, cipher, placeOf(tenantId, row.courier_id, field));
  return {
    ...rest,
    api_key: open(api_key_cipher, 'api_key'),
    api_token: open(api_token_cipher, 'api_token'),
    webhook_secret: open(webhook_secret_cipher, 'webhook_secret'),
  };
}
