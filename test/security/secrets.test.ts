import { expect, test } from '@jest/globals';
import { openSecrets, type EncryptionContext } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';

const secrets = openSecrets(developmentConfig({}).secrets);

const CONTEXT: EncryptionContext = { tenantId: 'tenant', rowId: 'row', field: 'api_key' };

test('a ciphertext can be decrypted only for its own tenant, row and field', () => {
  const cipher = secrets.encrypt('secret', CONTEXT);
  expect(secrets.decrypt(cipher, CONTEXT)).toBe('secret');
  const otherContexts: EncryptionContext[] = [
    { ...CONTEXT, tenantId: 'another' },
    { ...CONTEXT, rowId: 'another' },
    { ...CONTEXT, field: 'api_token' },
  ];
  for (const context of otherContexts)
    expect(() => secrets.decrypt(cipher, context)).toThrow('ciphertext was altered');
});

test('a ciphertext with any altered byte cannot be decrypted', () => {
  const [version, encoded = ''] = secrets.encrypt('secret', CONTEXT).split('.');
  const bytes = Buffer.from(encoded, 'base64url');
  for (const index of bytes.keys()) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    expect(() => secrets.decrypt(`${version}.${altered.toString('base64url')}`, CONTEXT)).toThrow(
      'ciphertext was altered',
    );
  }
});

test('the same text is encrypted differently each time', () => {
  const ciphers = Array.from({ length: 100 }, () => secrets.encrypt('secret', CONTEXT));
  expect(new Set(ciphers).size).toBe(100);
});

test('the lookup hash of a secret differs per purpose, so that one kind of secret is never accepted as another', () => {
  const purposes = [
    'api_key',
    'preauth_token',
    'backup_code',
    'idempotency_key',
    'idempotent_request',
  ] as const;
  const hashes = purposes.map((purpose) => secrets.lookupHash('the same', purpose));
  expect(new Set(hashes).size).toBe(purposes.length);
});

test("the lookup hash depends on the installation's lookup key", () => {
  const { secrets: config } = developmentConfig({});
  const other = openSecrets({ ...config, lookupKey: Buffer.alloc(32, 7) });
  expect(other.lookupHash('the same', 'api_key')).not.toBe(secrets.lookupHash('the same', 'api_key'));
});
