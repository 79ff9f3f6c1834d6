import { audit } from '../../../platform/audit/audit.js';
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import { decryptOrNull, encryptionContext } from '../shared/encryption.js';
import { lockedWebhookSecret } from './queries.js';

const SECRET_BYTES = 32;

/** The time for which a rotated secret still signs. Source: the contract's `rotate_webhook_secret`. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** In the format of Standard Webhooks, which its libraries accept unchanged. */
const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * Returns the secret that signs the courier's webhooks. Creates one if there is none.
 * @throws ApiError courier_not_found
 */
export async function ensureWebhookSecret(tx: Tx, secrets: Secrets, courierId: string): Promise<string> {
  // Locked, because two concurrent callers would each create a secret.
  const { webhookSecretCipher: cipher, now } = await lockWebhookSecret(tx, courierId);
  const context = encryptionContext(tx.tenantId, courierId, 'webhook_secret');
  if (cipher !== null) return secrets.decrypt(cipher, context);
  const secret = newSecret();
  const data = {
    webhookSecretCipher: secrets.encrypt(secret, context),
    webhookPreviousSecretCipher: null,
    webhookSecretRotatedAt: null,
    updatedAt: now,
  };
  await tx.models.courier.updateMany({ where: { id: courierId }, data });
  tx.later(audit(tx, { action: 'courier.webhook_secret_made', entity: 'courier', entityId: courierId }));
  return secret;
}

/**
 * Replaces the signing secret and returns the new one. The old secret signs in parallel for a day.
 * @throws ApiError courier_not_found
 */
export async function rotateWebhookSecret(
  ctx: UserContext,
  secrets: Secrets,
  courierId: string,
): Promise<string> {
  return ctx.write(async (tx) => {
    const { webhookSecretCipher: cipher, now } = await lockWebhookSecret(tx, courierId);
    const contextOf = (field: 'webhook_secret' | 'webhook_previous_secret') =>
      encryptionContext(ctx.tenantId, courierId, field);
    const old = cipher === null ? null : decryptOrNull(secrets, cipher, contextOf('webhook_secret'));
    const secret = newSecret();
    const data = {
      webhookSecretCipher: secrets.encrypt(secret, contextOf('webhook_secret')),
      // A ciphertext is bound to its column, so the old secret must be encrypted again.
      webhookPreviousSecretCipher:
        old === null ? null : secrets.encrypt(old, contextOf('webhook_previous_secret')),
      webhookSecretRotatedAt: old === null ? null : now,
      updatedAt: now,
    };
    await tx.models.courier.updateMany({ where: { id: courierId }, data });
    tx.later(audit(tx, { action: 'courier.webhook_secret_rotated', entity: 'courier', entityId: courierId }));
    return secret;
  });
}

/**
 * Ends the previous secret before the overlap is over. Returns false if there is none.
 * @throws ApiError courier_not_found
 */
export async function endPreviousSecret(ctx: UserContext, courierId: string): Promise<boolean> {
  return ctx.write(async (tx) => {
    const { now } = await lockWebhookSecret(tx, courierId);
    const { count } = await tx.models.courier.updateMany({
      where: { id: courierId, webhookPreviousSecretCipher: { not: null } },
      data: { webhookPreviousSecretCipher: null, webhookSecretRotatedAt: null, updatedAt: now },
    });
    if (count === 0) return false;
    const action = 'courier.webhook_secret_ended';
    tx.later(audit(tx, { action, entity: 'courier', entityId: courierId }));
    return true;
  });
}

/** @throws ApiError courier_not_found */
async function lockWebhookSecret(tx: Tx, courierId: string) {
  const [row] = await tx.query(lockedWebhookSecret(tx, courierId));
  if (!row) throw new ApiError('courier_not_found');
  return row;
}

/** The columns of couriers that sign webhooks. */
export type SigningRow = Pick<
  Courier,
  'tenantId' | 'id' | 'webhookSecretCipher' | 'webhookPreviousSecretCipher' | 'webhookSecretRotatedAt'
>;

/**
 * Returns the secrets that currently sign webhooks, newest first, or an empty array if there is none.
 * @param now the database's time, like the time of the rotation
 */
export function signingSecrets(secrets: Secrets, row: SigningRow, now: Date): string[] {
  const decrypt = (cipher: string, field: 'webhook_secret' | 'webhook_previous_secret') =>
    secrets.decrypt(cipher, encryptionContext(row.tenantId, row.id, field));
  const { webhookSecretCipher: cipher, webhookPreviousSecretCipher: previous } = row;
  const rotatedAt = row.webhookSecretRotatedAt?.getTime() ?? -Infinity;
  const isOverlapping = now.getTime() - rotatedAt < OVERLAP_MS;
  return [
    ...(cipher === null ? [] : [decrypt(cipher, 'webhook_secret')]),
    ...(previous !== null && isOverlapping ? [decrypt(previous, 'webhook_previous_secret')] : []),
  ];
}
