import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM. Returns nonce, ciphertext and tag as base64url.
 *
 * @param context additional authenticated data: the result cannot be opened with another one
 */
export function seal(plain: string, key: Buffer, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const encrypted = [nonce, cipher.update(plain, 'utf8'), cipher.final()];
  return Buffer.concat([...encrypted, cipher.getAuthTag()]).toString('base64url');
}

/** Returns undefined if the text was altered, or sealed with another key or context. */
export function open(text: string, key: Buffer, context: string): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const options = { authTagLength: TAG_BYTES };
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options)
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
    return plain + decipher.final('utf8');
  } catch {
    return undefined;
  }
}
