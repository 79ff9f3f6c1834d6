import { MISSING_KEY } from '../errors/outside-errors.js';
import { createHmac } from 'node:crypto';
import type { SecretConfig } from '../../config/config.js';
import { open, seal } from './seal.js';
import { openChainKeys } from './chain-keys.js';

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
    | 'service_token'
    | 'previous_service_token'
    | 'webhook_secret'
    | 'webhook_previous_secret'
    | 'feed_secret'
    | 'previous_feed_secret'
    | 'tracking_key'
    | 'idempotent_answer'
    | 'mail_secret';
};

type LookupPurpose =
  | 'api_key'
  | 'service_token'
  | 'tracking_link'
  | 'preauth_token'
  | 'notice_link'
  | 'backup_code'
  | 'station'
  | 'station_name'
  | 'password_reset'
  | 'idempotency_key'
  | 'idempotent_request'
  | 'user_name';

export type Secrets = ReturnType<typeof openSecrets>;

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
) {
  const [newest] = config.encryptionKeys;
  if (!newest) throw new Error('No encryption key is configured.');
  const keys = new Map(config.encryptionKeys.map(({ version, key }) => [version, key]));

  /** Returns undefined when authentication fails. @throws Error when the key of its version is not configured */
  function tryDecrypt(text: string, context: EncryptionContext): string | undefined {
    const [, version = '', encrypted = ''] = /^v(\d+)\.([\w-]+)$/.exec(text) ?? [];
    const key = keys.get(version);
    if (!key) throw new MissingKeyError(version);
    return open(encrypted, key, textOf(context));
  }

  return {
    /** Encrypts with AES-256-GCM. Returns `v<key version>.<base64url of nonce, ciphertext and tag>`. */
    encrypt: (plain: string, context: EncryptionContext): string =>
      `v${newest.version}.${seal(plain, newest.key, textOf(context))}`,

    /**
     * Returns the plain text. Also accepts the row's id in upper case in the context: earlier versions encrypted with the id
     * as the request had spelled it.
     *
     * @throws DecryptionError when the text was altered or belongs to another context
     * @throws Error when the key of its version is not configured
     */
    decrypt(text: string, context: EncryptionContext): string {
      const plain =
        tryDecrypt(text, context) ?? tryDecrypt(text, { ...context, rowId: context.rowId.toUpperCase() });
      if (plain !== undefined) return plain;
      onDecryptionFailure(context);
      throw new DecryptionError('The ciphertext was altered, or it belongs to another context.');
    },

    /** Returns whether a text can be decrypted in exactly this context, and not only with the row's id in upper case. */
    isBoundTo: (text: string, context: EncryptionContext): boolean => tryDecrypt(text, context) !== undefined,

    /** Returns whether a text was encrypted with the newest key. `encrypt` always uses that key. */
    isNewest: (text: string): boolean => text.startsWith(`v${newest.version}.`),

    /** Returns the keyed hash (HMAC-SHA-256, hex) by which a secret is looked up; hashes of two purposes never match. */
    lookupHash(secret: string, purpose: LookupPurpose): string {
      return createHmac('sha256', config.lookupKey).update(`${purpose}\0${secret}`).digest('hex');
    },

    /** The key of the audit log's hash chains. */
    auditChain: openChainKeys(config.lookupKey),
  };
}

/** Returns undefined for a text that cannot be decrypted, for whatever reason. For checks of what is stored. */
export function decryptIfPossible(
  secrets: Pick<Secrets, 'decrypt'>,
  cipher: string,
  context: EncryptionContext,
): string | undefined {
  try {
    return secrets.decrypt(cipher, context);
  } catch {
    return undefined;
  }
}

const textOf = ({ tenantId, rowId, field }: EncryptionContext): string => `${tenantId}/${rowId}/${field}`;
