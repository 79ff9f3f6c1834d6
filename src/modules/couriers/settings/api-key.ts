import { auditLater } from '../../../platform/audit/audit.js';
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { encryptionContext } from '../shared/encryption.js';
import { replaceApiKey } from './queries.js';

const KEY_BYTES = 32;

export type NewApiKey = {
  key: string;
  /** What is stored: the hash for lookups, and the encrypted key. */
  columns: { [Name in keyof Pick<Courier, 'apiKeyHash' | 'apiKeyCipher'>]: string };
};

export function newApiKey(secrets: Secrets, tenantId: string, courierId: string): NewApiKey {
  const key = randomBytes(KEY_BYTES).toString('hex');
  const apiKeyCipher = secrets.encrypt(key, encryptionContext(tenantId, courierId, 'api_key'));
  return { key, columns: { apiKeyHash: secrets.lookupHash(key, 'api_key'), apiKeyCipher } };
}

/**
 * Replaces the API key and returns the new one. The old key is invalid at once.
 * @throws ApiError courier_not_found
 */
export async function regenerateKey(ctx: UserContext, secrets: Secrets, courierId: string): Promise<string> {
  return ctx.write(async (tx) => {
    const { key, columns } = newApiKey(secrets, ctx.tenantId, courierId);
    const count = await tx.count(replaceApiKey(ctx, courierId, columns));
    if (count !== 1) throw new ApiError('courier_not_found');
    auditLater(tx, 'courier.key_regenerated', courierId);
    return key;
  });
}
