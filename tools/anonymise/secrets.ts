import { createHmac } from 'node:crypto';
import { SECRET_COLUMNS } from '../../src/modules/tenants/secret-columns.js';
import type { EncryptionContext, Secrets } from '../../src/platform/access/secrets.js';

type NewSecrets = {
  /** Encrypts with the keys of this deployment. */
  secrets: Secrets;
  /** Random, and not stored. */
  seed: Buffer;
  /** The second factor of every user who has one. */
  totpSecret: string;
};

/** A row with the values of the columns that decide about a secret. */
type SecretRow = { tenantId: string; rowId: string; column: string; table: string; value: string };

/** Returns a new secret for a column, of the same kind and encrypted for the same row. The old one is not needed. */
export function replaceSecret(
  made: NewSecrets,
  { tenantId, rowId, column, table, value }: SecretRow,
): string {
  const { secrets, seed } = made;
  const random = (purpose: string) => createHmac('sha256', seed).update(`${purpose} ${rowId}`).digest();
  const apiKey = random('api_key').toString('hex');
  if (column === 'api_key_hash') return secrets.lookupHash(apiKey, 'api_key');
  const found = SECRET_COLUMNS.find((each) => `public.${each.table}` === table && each.column === column);
  if (!found) throw new Error(`${table}.${column} is not among the encrypted columns.`);
  const { field } = found;
  const plain = newSecret(field, random(field), { apiKey, totpSecret: made.totpSecret, value });
  return secrets.encrypt(plain, { tenantId, rowId, field });
}

function newSecret(
  field: EncryptionContext['field'],
  random: Buffer,
  { apiKey, totpSecret, value }: { apiKey: string; totpSecret: string; value: string },
): string {
  switch (field) {
    case 'api_key':
      return apiKey;
    case 'api_token':
      return random.toString('hex').repeat(64).slice(0, plainLength(value));
    case 'webhook_secret':
    case 'webhook_previous_secret':
      return `whsec_${random.toString('base64')}`;
    case 'feed_secret':
    case 'previous_feed_secret':
      return random.toString('base64url');
    case 'service_token':
    case 'previous_service_token':
      return random.toString('hex');
    case 'totp_secret':
    case 'totp_pending_secret':
      return totpSecret;
    case 'mail_secret':
    case 'tracking_key':
      return random.toString('base64url');
    case 'idempotent_answer':
      // In the format of stored-response.ts.
      return JSON.stringify({ statusCode: 200, headers: {}, payload: Buffer.from('{}').toString('base64') });
  }
}

/** The ciphertext contains 28 bytes of nonce and tag in addition. */
const plainLength = (cipher: string) =>
  Math.max(1, Buffer.from(cipher.slice(cipher.indexOf('.') + 1), 'base64url').length - 28);
