import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { makeTokenCalls } from './token-calls.js';
import { withService } from '../../support/fixture/with-service.js';

// The forms of an address that are not those of the addresses it is compared with.

// The trusted proxy is an IPv4-mapped network too: otherwise no forwarded address would count.
const { api, db } = withService({ env: { TRUST_PROXY: '::ffff:127.0.0.0/104, fe80::2%eth1' } });
const { create, packages } = makeTokenCalls(api);

test('IPv4-mapped addresses and networks are stored as IPv4, and match', async () => {
  const { secret, record } = await create('iex', {
    addresses: ['::ffff:203.0.113.9/120', '::ffff:0:0/96', '::FFFF:198.51.100.7'],
  });
  expect(record.addresses).toEqual(['203.0.113.0/24', '0.0.0.0/0', '198.51.100.7']);
  await packages(secret, { 'x-forwarded-for': '192.0.2.1' }).ok();
  await packages(secret, { 'x-forwarded-for': '2001:db8::1' }).refused(403, 'address_not_allowed');
});

test('a migration removes the zones that were stored, so that the token works again from its addresses alone', async () => {
  const { id, secret } = await create('iex', { addresses: ['10.0.0.1'] });
  const other = await create('admin', { addresses: ['10.0.0.0/8'] });
  await db.query('alter table service_tokens drop constraint addresses_are_networks');
  await db.query("update service_tokens set addresses = '{10.0.0.1,fe80::1%eth0,fe80::2%1}' where id = $1", [
    id,
  ]);
  const from = (address: string) => packages(secret, { 'x-forwarded-for': address });
  expect(await from('10.0.0.9').status()).toBe(500);
  const script = await readFile(join(MIGRATIONS, '20261222000140_token_addresses', 'migration.sql'), 'utf8');
  await db.query(script);
  const addressesOf = async (token: string) => (await db.one('service_tokens', { id: token })).addresses;
  expect(await addressesOf(id)).toEqual(['10.0.0.1', 'fe80::1', 'fe80::2']);
  expect(await addressesOf(other.id)).toEqual(['10.0.0.0/8']);
  for (const address of ['10.0.0.1', 'fe80::1', 'fe80::1%eth7']) await from(address).ok();
  for (const address of ['10.0.0.9', 'fe80::3%eth0']) await from(address).refused(403, 'address_not_allowed');
  for (const address of ['fe80::1%eth0', 'example.com'])
    await expect(
      db.query('update service_tokens set addresses = array[$2] where id = $1', [id, address]),
    ).rejects.toThrow('invalid input syntax for type inet');
});

test('a migration makes IPv4-mapped addresses that were stored before IPv4, so that the token works from them', async () => {
  const { id, secret } = await create('iex', { addresses: ['10.0.0.1'] });
  const stored = '{::ffff:7f00:0/104,::ffff:203.0.113.9,::ffff:0:0/120,::/0,2001:db8::/32,10.0.0.0/8}';
  await db.query('update service_tokens set addresses = $2 where id = $1', [id, stored]);
  const from = (address: string) => packages(secret, { 'x-forwarded-for': address });
  await from('127.0.0.1').refused(403, 'address_not_allowed');
  const path = join(MIGRATIONS, '20261222000200_mapped_token_addresses', 'migration.sql');
  await db.query(await readFile(path, 'utf8'));
  expect((await db.one('service_tokens', { id })).addresses).toEqual([
    '127.0.0.0/8',
    '203.0.113.9',
    '0.0.0.0/24',
    '::/0',
    '2001:db8::/32',
    '10.0.0.0/8',
  ]);
  for (const address of ['127.0.0.1', '203.0.113.9', '10.0.0.1']) await from(address).ok();
  await from('203.0.113.10').refused(403, 'address_not_allowed');
});
