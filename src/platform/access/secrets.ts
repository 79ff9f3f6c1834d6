import { MISSING_KEY } from '../errors/outside-errors.js';
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { SecretConfig } from '../../config/config.js';
import { openChainKeys, type ChainKeys } from './chain-keys.js';

/**
 * The row and field that store a secret. It is the ciphertext's additional authenticated data (AAD): a ciphertext that is
 * copied to another row or field cannot be decrypted.
 */
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
  /** Encrypts with AES-256-GCM. Returns `v<key version>.<base64url of nonce, ciphertext and tag>`. */
  encrypt(plain: string, context: EncryptionContext): string;
  /**
   * Returns the plain text. Also accepts the row's id in upper case in the context: earlier versions encrypted with the id
   * as the request had spelled it.
   *
   * @throws DecryptionError when the text was altered or belongs to another context
   * @throws Error when the key of its version is not configured
   */
  decrypt(cipher: string, context: EncryptionContext): string;
  /** Returns whether a text can be decrypted in exactly this context, and not only with the row's id in upper case. */
  isBoundTo(cipher: string, context: EncryptionContext): boolean;
  /** Returns whether a text was encrypted with the newest key. `encrypt` always uses that key. */
  isNewest(cipher: string): boolean;
  /** Returns the keyed hash (HMAC-SHA-256, hex) by which a secret is looked up; hashes of two purposes never match. */
  lookupHash(secret: string, purpose: LookupPurpose): string;
  /** The key of the audit log's hash chains. */
  auditChain: ChainKeys;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Thrown for a ciphertext that was altered, or that belongs to another context. */
export class DecryptionError extends Error {}

/**
 * Thrown for a ciphertext of a version that this process does not have: the setting was changed after its start. Its code makes a request
 * 503, and its message is in the log.
 */
export class MissingKeyError extends Error {
  readonly code: string | undefined;

  constructor(version: string) {
    super(
      `No encryption key of version ${version || '(none)'} is configured.` +
        (version === ''
          ? ''
          : ' If ENCRYPTION_KEYS was changed, restart every server and worker. If the key was removed too early, add it again: it is in the file replaced-encryption-keys.'),
    );
    this.code = version === '' ? undefined : MISSING_KEY;
  }
}

/** @param onDecryptionFailure called for each secret that cannot be decrypted, for the log */
export function openSecrets(
  config: SecretConfig,
  onDecryptionFailure: (context: EncryptionContext) => void = () => {},
): Secrets {
  const [newest] = config.encryptionKeys;
  if (!newest) throw new Error('No encryption key is configured.');
  const keys = new Map(config.encryptionKeys.map(({ version, key }) => [version, key]));

  /** Returns undefined when authentication fails. @throws Error when the key of its version is not configured */
  function tryDecrypt(text: string, context: EncryptionContext): string | undefined {
    const [, version = '', encrypted = ''] = /^v(\d+)\.([\w-]+)$/.exec(text) ?? [];
    const key = keys.get(version);
    if (!key) throw new MissingKeyError(version);
    const bytes = Buffer.from(encrypted, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(contextBytes(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
      return plain + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }

  return {
    encrypt(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(contextBytes(context));
      const encrypted = Buffer.concat([
        nonce,
        cipher.update(plain, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `v${newest.version}.${encrypted.toString('base64url')}`;
    },

    decrypt(text, context) {
      const plain =
        tryDecrypt(text, context) ?? tryDecrypt(text, { ...context, rowId: context.rowId.toUpperCase() });
      if (plain !== undefined) return plain;
      onDecryptionFailure(context);
      throw new DecryptionError('The ciphertext was altered, or it belongs to another context.');
    },

    isBoundTo: (text, context) => tryDecrypt(text, context) !== undefined,

    isNewest: (text) => text.startsWith(`v${newest.version}.`),

    lookupHash(secret, purpose) {
      return createHmac('sha256', config.lookupKey).update(`${purpose}\0${secret}`).digest('hex');
    },

    auditChain: openChainKeys(config.lookupKey),
  };
}

function contextBytes({ tenantId, rowId, field }: EncryptionContext): Buffer {
  return Buffer.from(`${tenantId}/${rowId}/${field}`);
}
