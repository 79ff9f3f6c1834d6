import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';
import { transaction } from '../../../platform/db/transaction.js';
import { found, openOrNull, placeOf, record, type AnyCtx, type Change } from '../shared/context.js';
import { lockCourier, lockWebhookSecret, replaceWebhookSecret } from '../shared/queries.js';

const SECRET_BYTES = 32;

/** How long a secret that was rotated out goes on signing. Source: the contract's `rotate_webhook_secret`. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** In the form of Standard Webhooks, whose libraries take it as it is. */
const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * The secret that signs the courier's webhooks, made now where there was none.
 *
 * @throws ApiError courier_not_found
 */
export async function ensureWebhookSecret(ctx: AnyCtx): Promise<string> {
  const { secrets, caller, courierId } = ctx;
  const place = placeOf(caller.tenantId, courierId, 'webhook_secret');
  // held, because two who find none would each make one
  const { webhook_secret_cipher: cipher } = found(await lockWebhookSecret(ctx));
  if (cipher !== null) return secrets.decrypt(cipher, place);
  const secret = newSecret();
  await replaceWebhookSecret(ctx, secrets.encrypt(secret, place), null);
  await record(ctx, { action: 'courier.webhook_secret_made' });
  return secret;
}

/** Puts a new secret in the place of the old one, which signs beside it for a day. @throws ApiError courier_not_found */
export async function rotateWebhookSecret(change: Change): Promise<string> {
  const { db, secrets, caller, courierId } = change;
  return transaction(db, caller, async (tx) => {
    const ctx = { ...change, tx };
    const place = placeOf(caller.tenantId, courierId, 'webhook_secret');
    const previousPlace = placeOf(caller.tenantId, courierId, 'webhook_previous_secret');
    const { webhook_secret_cipher: cipher } = found(await lockCourier(ctx));
    const old = cipher === null ? null : openOrNull(secrets, cipher, place);
    // a ciphertext opens in its own place only
    const previous = old === null ? null : secrets.encrypt(old, previousPlace);
    const secret = newSecret();
    await replaceWebhookSecret(ctx, secrets.encrypt(secret, place), previous);
    await record(ctx, { action: 'courier.webhook_secret_rotated' });
    return secret;
  });
}

/** What of a courier's row its webhooks are signed with. */
export type SigningRow = {
  tenant_id: string;
  courier_id: string;
  webhook_secret_cipher: string | null;
  webhook_previous_secret_cipher: string | null;
  webhook_secret_rotated_at: Date | null;
};

/**
 * The secrets that sign a webhook now, the newest first; none where the courier has no secret yet.
 *
 * @param now by the database's clock, as the time of the rotation is
 */
export function signingSecrets(secrets: Secrets, row: SigningRow, now: Date): string[] {
  const open = (cipher: string, field: 'webhook_secret' | 'webhook_previous_secret') =>
    secrets.decrypt(cipher, placeOf(row.tenant_id, row.courier_id, field));
  const { webhook_secret_cipher: cipher, webhook_previous_secret_cipher: previous } = row;
  const rotatedAt = row.webhook_secret_rotated_at?.getTime() ?? -Infinity;
  const isOverlapping = now.getTime() - rotatedAt < OVERLAP_MS;
  return [
    ...(cipher === null ? [] : [open(cipher, 'webhook_secret')]),
    ...(previous !== null && isOverlapping ? [open(previous, 'webhook_previous_secret')] : []),
  ];
}
