import { auditLater } from '../../../platform/audit/audit.js';
import { createHash, randomBytes } from 'node:crypto';
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

/** Names a secret to its owner, who can compute it too, without revealing it. Source: the contract's `PreviousSecretId`. */
const idOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

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
  auditLater(tx, 'courier.webhook_secret_made', courierId);
  return secret;
}

export type Rotation = {
  secret: string;
  /** Null if there was no secret. */
  previousId: string | null;
};

/**
 * Replaces the signing secret. The old secret signs in parallel for a day.
 * @throws ApiError courier_not_found
 */
export async function rotateWebhookSecret(
  ctx: UserContext,
  secrets: Secrets,
  courierId: string,
): Promise<Rotation> {
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
    auditLater(tx, 'courier.webhook_secret_rotated', courierId);
    return { secret, previousId: old === null ? null : idOfSecret(old) };
  });
}

/**
 * Ends the previous secret before the overlap is over. Returns false if there is none.
 * @param meantId the secret that the caller means. Undefined for whatever secret is the previous one.
 * @throws ApiError courier_not_found, webhook_secret_changed
 */
export async function endPreviousSecret(
  ctx: UserContext,
  secrets: Secrets,
  { courierId, meantId }: { courierId: string; meantId: string | undefined },
): Promise<boolean> {
  return ctx.write(async (tx) => {
    const row = await lockWebhookSecret(tx, courierId);
    if (meantId !== undefined)
      assertMeant(secrets, { ...row, tenantId: tx.tenantId, id: courierId }, meantId);
    if (row.webhookPreviousSecretCipher === null) return false;
    const data = { webhookPreviousSecretCipher: null, webhookSecretRotatedAt: null, updatedAt: row.now };
    await tx.models.courier.updateMany({ where: { id: courierId }, data });
    const action = 'courier.webhook_secret_ended';
    auditLater(tx, action, courierId);
    return true;
  });
}

/**
 * Without a previous secret, the meant one may have been ended before, but it must not be the current one.
 * @throws ApiError webhook_secret_changed
 */
function assertMeant(
  secrets: Secrets,
  row: Omit<SigningRow, 'webhookSecretRotatedAt'>,
  meantId: string,
): void {
  const { webhookSecretCipher: current, webhookPreviousSecretCipher: previous } = row;
  const idOf = (cipher: string | null, field: 'webhook_secret' | 'webhook_previous_secret') => {
    const secret =
      cipher === null ? null : decryptOrNull(secrets, cipher, encryptionContext(row.tenantId, row.id, field));
    return secret === null ? null : idOfSecret(secret);
  };
  const isMeant =
    previous === null
      ? idOf(current, 'webhook_secret') !== meantId
      : idOf(previous, 'webhook_previous_secret') === meantId;
  if (!isMeant) throw new ApiError('webhook_secret_changed');
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

/** Returns the id of the previous secret, or null if it does not sign or cannot be decrypted. */
export function previousSecretId(secrets: Secrets, row: Omit<SigningRow, 'webhookSecretCipher'>, now: Date) {
  const { webhookPreviousSecretCipher: previous } = row;
  if (previous === null || !isOverlapping(row, now)) return null;
  const context = encryptionContext(row.tenantId, row.id, 'webhook_previous_secret');
  const secret = decryptOrNull(secrets, previous, context);
  return secret === null ? null : idOfSecret(secret);
}

const isOverlapping = ({ webhookSecretRotatedAt }: Pick<SigningRow, 'webhookSecretRotatedAt'>, now: Date) =>
  now.getTime() - (webhookSecretRotatedAt?.getTime() ?? -Infinity) < OVERLAP_MS;

/**
 * Returns the secrets that currently sign webhooks, newest first, or an empty array if there is none.
 * @param now the database's time, like the time of the rotation
 */
export function signingSecrets(secrets: Secrets, row: SigningRow, now: Date): string[] {
  const decrypt = (cipher: string, field: 'webhook_secret' | 'webhook_previous_secret') =>
    secrets.decrypt(cipher, encryptionContext(row.tenantId, row.id, field));
  const { webhookSecretCipher: cipher, webhookPreviousSecretCipher: previous } = row;
  return [
    ...(cipher === null ? [] : [decrypt(cipher, 'webhook_secret')]),
    ...(previous !== null && isOverlapping(row, now) ? [decrypt(previous, 'webhook_previous_secret')] : []),
  ];
}
