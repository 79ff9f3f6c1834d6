import bcrypt from 'bcrypt';
import type pg from 'pg';
import type { Secrets } from '../../../src/platform/access/secrets.js';
import { DEMO } from '../../../fixtures/demo/demo.js';

/** Staging refuses those of the demo data, because they are published. */
export const REHEARSAL = {
  password: 'a password of the rehearsals',
  apiKeys: { IEX: 'd'.repeat(64), HRB: 'e'.repeat(64), TWO: 'f'.repeat(64) },
};

/** Replaces the published credentials of the demo data, and forgets the deployment that loaded them, which staging would refuse. */
export async function replaceCredentials(owner: pg.Client, secrets: Secrets): Promise<void> {
  const hash = await bcrypt.hash(REHEARSAL.password, 4);
  await owner.query(
    `update users set password_hash = '${hash}', two_factor_enabled = false, totp_secret = null`,
  );
  for (const code of ['IEX', 'HRB', 'TWO'] as const)
    await owner.query(
      `update couriers set api_key_hash = '${secrets.lookupHash(REHEARSAL.apiKeys[code], 'api_key')}'
       where id = '${DEMO.couriers[code]}'`,
    );
  // Earlier releases do not have the table.
  await owner.query(`do $$ begin
    if to_regclass('installation.deployments') is not null then delete from installation.deployments; end if;
  end $$`);
}
