import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Returns a link of the audit log's hash chain (HMAC-SHA-256, hex). Write access to the database is not enough to forge one. */
export type ChainHash = (previous: string, digest: string) => string;

/** The key of the audit chains. It is derived from LOOKUP_KEY, and does not reveal it. */
export type ChainKeys = {
  /** In hexadecimal. Never print it. */
  key: string;
  hash: ChainHash;
  /** Encrypts the keys of older links for a tenant. Only the holder of this LOOKUP_KEY can make or read the result. */
  wrap(plain: string, tenantId: string): string;
  /** Returns undefined if another key has wrapped the text, or for another tenant, or if it was altered. */
  unwrap(text: string, tenantId: string): string | undefined;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const derive = (lookupKey: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', lookupKey, '', purpose, 32));

/** @param key in hexadecimal, as in ChainKeys */
export function chainHashOf(key: string): ChainHash {
  const bytes = Buffer.from(key, 'hex');
  return (previous, digest) => createHmac('sha256', bytes).update(`${previous}.${digest}`).digest('hex');
}

export function openChainKeys(lookupKey: Buffer): ChainKeys {
  const key = derive(lookupKey, 'audit chain').toString('hex');
  const wrapping = derive(lookupKey, 'replaced audit chain keys');
  return {
    key,
    hash: chainHashOf(key),

    wrap(plain, tenantId) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', wrapping, nonce).setAAD(Buffer.from(tenantId));
      const encrypted = [nonce, cipher.update(plain, 'utf8'), cipher.final()];
      return Buffer.concat([...encrypted, cipher.getAuthTag()]).toString('base64url');
    },

    unwrap(text, tenantId) {
      const bytes = Buffer.from(text, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', wrapping, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(tenantId))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
        return plain + decipher.final('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
