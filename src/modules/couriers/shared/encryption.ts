import { DecryptionError, type EncryptionContext, type Secrets } from '../../../platform/access/secrets.js';

/** Returns the encryption context of a courier's secret. */
export const encryptionContext = (
  tenantId: string,
  courierId: string,
  field: EncryptionContext['field'],
): EncryptionContext => ({ tenantId, rowId: courierId, field });

/**
 * Decrypts a secret. Returns null if that fails, so that the courier can still read its other settings and
 * create a new secret.
 */
export function decryptOrNull(secrets: Secrets, cipher: string, context: EncryptionContext): string | null {
  try {
    return secrets.decrypt(cipher, context);
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
