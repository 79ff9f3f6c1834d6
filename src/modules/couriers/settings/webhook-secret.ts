import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';
import { transaction } from '../../../platform/db/transaction.js';
import {
  found,
  decryptOrNull,
  encryptionContext,
  record,
  type AnyCtx,
  type Change,
} from '../shared/context.js';
import { lockCourier, lockWebhookSecret, replaceWebhookSecret } from '../shared/queries.js';

const SECRET_BYTES = 32;

/** The time for which a rotated secret still signs. Source: the contract's `rotate_webhook_secret`. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** In the format of Standard Webhooks, which its libraries accept unchanged. */
const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * Returns the secret that signs the courier's webhooks. Creates one if there is none.
 * @throws ApiError courier_not_found
 */
export async function ensureWebhookSecret(ctx: AnyCtx): Promise<string> {
  const { secrets, caller, courierId } = ctx;
  const place = encryptionContext(caller.tenantId, courierId, 'webhook_secret');
  // Locked, because two concurrent callers would each create a secret.
  const { webhook_secret_cipher: cipher } = found(await lockWebhookSecret(ctx));
  if (cipher !== null) return secrets.decrypt(cipher, place);
  const secret = newSecret();
  await replaceWebhookSecret(ctx, secrets.encrypt(secret, place), null);
  await record(ctx, { action: 'courier.webhook_secret_made' });
  return secret;
}

/**
 * Replaces the signing secret and returns the new one. The old secret signs in parallel for a day.
 * @throws ApiError courier_not_found
 */
export async function rotateWebhookSecret(change: Change): Promise<string> {
  const { db, secrets, caller, courierId } = change;
  return transaction(db, caller, async (tx) => {
    const ctx = { ...change, tx };
    const place = encryptionContext(caller.tenantId, courierId, 'webhook_secret');
    const previousPlace = encryptionContext(caller.tenantId, courierId, 'webhook_previous_secret');
    const { webhook_secret_cipher: cipher } = found(await lockCourier(ctx));
    const old = cipher === null ? null : decryptOrNull(secrets, cipher, place);
    // A ciphertext is bound to its column, so the old secret must be encrypted again.
    const previous = old === null ? null : secrets.encrypt(old, previousPlace);
    const secret = newSecret();
    await replaceWebhookSecret(ctx, secrets.encrypt(secret, place), previous);
    await record(ctx, { action: 'courier.webhook_secret_rotated' });
    return secret;
  });
}

/** The columns of couriers that sign webhooks. */
export type SigningRow = {
  tenant_id: string;
  courier_id: string;
  webhook_secret_cipher: string | null;
  webhook_previous_secret_cipher: string | null;
  webhook_secret_rotated_at: Date | null;
};

/**
 * Returns the secrets that currently sign webhooks, newest first, or an empty array if there is none.
 * @param now the database's time, like the time of the rotation
 */
export function signingSecrets(secrets: Secrets, row: SigningRow, now: Date): string[] {
  const open = (cipher: string, field: 'webhook_secret' | 'webhook_previous_secret') =>
    secrets.decrypt(cipher, encryptionContext(row.tenant_id, row.courier_id, field));
  const { webhook_secret_cipher: cipher, webhook_previous_secret_cipher: previous } = row;
  const rotatedAt = row.webhook_secret_rotated_at?.getTime() ?? -Infinity;
  const isOverlapping = now.getTime() - rotatedAt < OVERLAP_MS;
  return [
    ...(cipher === null ? [] : [open(cipher, 'webhook_secret')]),
    ...(previous !== null && isOverlapping ? [open(previous, 'webhook_previous_secret')] : []),
  ];
}
