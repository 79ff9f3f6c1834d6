import { expect, test } from '@jest/globals';
import { openSecrets, type EncryptionContext } from '../../src/platform/access/secrets.js';
import { readConfig } from '../../src/config/config.js';

const secrets = openSecrets(readConfig({}).secrets);

const PLACE: EncryptionContext = { tenantId: 'tenant', rowId: 'row', field: 'api_key' };

test('a ciphertext opens in its own tenant, row and field, and nowhere else', () => {
  const cipher = secrets.encrypt('secret', PLACE);
  expect(secrets.decrypt(cipher, PLACE)).toBe('secret');
  const elsewhere: EncryptionContext[] = [
    { ...PLACE, tenantId: 'another' },
    { ...PLACE, rowId: 'another' },
    { ...PLACE, field: 'api_token' },
  ];
  for (const place of elsewhere) expect(() => secrets.decrypt(cipher, place)).toThrow();
});

test('a ciphertext that was altered anywhere does not open', () => {
  const [version, sealed = ''] = secrets.encrypt('secret', PLACE).split('.');
  const bytes = Buffer.from(sealed, 'base64url');
  for (const index of bytes.keys()) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    expect(() => secrets.decrypt(`${version}.${altered.toString('base64url')}`, PLACE)).toThrow();
  }
});

test('the same text is encrypted differently each time', () => {
  const ciphers = Array.from({ length: 100 }, () => secrets.encrypt('secret', PLACE));
  expect(new Set(ciphers).size).toBe(100);
});

test('a secret has another lookup hash for each purpose, so that one kind of secret never passes for another', () => {
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

test('a lookup hash is keyed: another installation’s is another', () => {
  const { secrets: config } = readConfig({});
  const other = openSecrets({ ...config, lookupKey: Buffer.alloc(32, 7) });
  expect(other.lookupHash('the same', 'api_key')).not.toBe(secrets.lookupHash('the same', 'api_key'));
});
