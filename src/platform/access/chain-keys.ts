import { createHmac, hkdfSync } from 'node:crypto';
import { open, seal } from './seal.js';

/** Returns a link of the audit log's hash chain (HMAC-SHA-256, hex). Write access to the database is not enough to forge one. */
export type ChainHash = (previous: string, digest: string) => string;

/** The key of the audit chains. It is derived from LOOKUP_KEY, and does not reveal it. */
export type ChainKeys = ReturnType<typeof openChainKeys>;

const derive = (lookupKey: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', lookupKey, '', purpose, 32));

/** @param key in hexadecimal, as in ChainKeys */
export function chainHashOf(key: string): ChainHash {
  const bytes = Buffer.from(key, 'hex');
  return (previous, digest) => createHmac('sha256', bytes).update(`${previous}.${digest}`).digest('hex');
}

export function openChainKeys(lookupKey: Buffer) {
  const key = derive(lookupKey, 'audit chain').toString('hex');
  const wrapping = derive(lookupKey, 'replaced audit chain keys');
  return {
    /** In hexadecimal. Never print it. */
    key,
    hash: chainHashOf(key),

    /** Encrypts the keys of older links for a tenant. Only the holder of this LOOKUP_KEY can make or read the result. */
    wrap: (plain: string, tenantId: string): string => seal(plain, wrapping, tenantId),
    /** Returns undefined if another key has wrapped the text, or for another tenant, or if it was altered. */
    unwrap: (text: string, tenantId: string): string | undefined => open(text, wrapping, tenantId),
  };
}
