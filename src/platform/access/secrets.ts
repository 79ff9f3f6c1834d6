import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretConfig } from '../../config/config.js';

/** Where a secret is kept. It is bound into the ciphertext, so that one copied elsewhere does not open. */
export type EncryptionContext = {
  tenantId: string;
  rowId: string;
  field:
    | 'totp_secret'
    | 'totp_pending_secret'
    | 'api_key'
    | 'api_token'
    | 'webhook_secret'
    | 'webhook_previous_secret'
    | 'idempotent_answer'
    | 'mail_secret';
};

type LookupPurpose =
  | 'api_key'
  | 'preauth_token'
  | 'backup_code'
  | 'password_reset'
  | 'idempotency_key'
  | 'idempotent_request'
  | 'user_name';

export type Secrets = {
  /** `v<version>.<base64url of nonce, ciphertext and tag>`, AES-256-GCM. */
  encrypt(plain: string, place: EncryptionContext): string;
  /**
   * Also opens what was encrypted for the same row with its id in upper case, as earlier versions did when a request
   * spelt the id so.
   *
   * @throws UnopenedSecret when the text was altered or belongs to another place; Error when its key version is not configured
   */
  decrypt(cipher: string, place: EncryptionContext): string;
  /** Whether a text opens in exactly this place, and not only with the row's id in upper case. */
  isBoundTo(cipher: string, place: EncryptionContext): boolean;
  /** Whether a text was encrypted with the newest key, which encrypts now. */
  isNewest(cipher: string): boolean;
  /** A keyed hash (HMAC-SHA-256, hex) to look a secret up by; `purpose` keeps the uses apart. */
  lookupHash(secret: string, purpose: LookupPurpose): string;
  /** A link of the audit log's chain, a keyed hash (HMAC-SHA-256, hex): who can only write to the database forges none. */
  chainHash(previous: string, digest: string): string;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A ciphertext that was altered, or that belongs to another place. */
export class UnopenedSecret extends Error {}

/** @param onUnopened told of each secret that does not open, for the log */
export function openSecrets(
  config: SecretConfig,
  onUnopened: (place: EncryptionContext) => void = () => {},
): Secrets {
  const [newest] = config.encryptionKeys;
  if (!newest) throw new Error('No encryption key is configured.');
  const keys = new Map(config.encryptionKeys.map(({ version, key }) => [version, key]));
  const chainKey = Buffer.from(hkdfSync('sha256', config.lookupKey, '', 'audit chain', 32));

  /** Undefined when it does not open in the place. @throws Error when its key version is not configured */
  function open(text: string, place: EncryptionContext): string | undefined {
    const [, version = '', sealed = ''] = /^v(\d+)\.([\w-]+)$/.exec(text) ?? [];
    const key = keys.get(version);
    if (!key) throw new Error(`No encryption key of version ${version || '(none)'} is configured.`);
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(placeBytes(place))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
      return plain + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }

  return {
    encrypt(plain, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(placeBytes(place));
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plain, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `v${newest.version}.${sealed.toString('base64url')}`;
    },

    decrypt(text, place) {
      const plain = open(text, place) ?? open(text, { ...place, rowId: place.rowId.toUpperCase() });
      if (plain !== undefined) return plain;
      onUnopened(place);
      throw new UnopenedSecret('It was altered, or it belongs to another place.');
    },

    isBoundTo: (text, place) => open(text, place) !== undefined,

    isNewest: (text) => text.startsWith(`v${newest.version}.`),

    lookupHash(secret, purpose) {
      return createHmac('sha256', config.lookupKey).update(`${purpose}\0${secret}`).digest('hex');
    },

    chainHash(previous, digest) {
      return createHmac('sha256', chainKey).update(`${previous}.${digest}`).digest('hex');
    },
  };
}

function placeBytes({ tenantId, rowId, field }: EncryptionContext): Buffer {
  return Buffer.from(`${tenantId}/${rowId}/${field}`);
}
