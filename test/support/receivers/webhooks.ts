import type pg from 'pg';
import type { Secrets } from '../../../src/platform/access/secrets.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { until } from '../service/processes.js';

/** Returns a signing secret in the format of Standard Webhooks, the same for the same letter. */
export const webhookSecret = (letter: string): string =>
  `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

export type Endpoints = {
  courierId?: string;
  tenantId?: string;
  add?: string | null;
  update?: string | null;
  /** Null for no token. */
  token?: string | null;
  secret?: string;
  addFormat?: 'event' | 'flat' | 'flat_array';
  updateFormat?: 'event' | 'flat' | 'flat_array';
};

/** Sets a courier's URLs, token and signing secret like its settings do. */
export async function setEndpoints(
  { owner, secrets }: { owner: pg.Pool; secrets: Secrets },
  { courierId = DEMO.couriers.IEX, tenantId = DEMO.tenants.demo, ...given }: Endpoints,
): Promise<void> {
  const encrypt = (secret: string, field: 'api_token' | 'webhook_secret') =>
    secrets.encrypt(secret, { tenantId, rowId: courierId, field });
  await owner.query(
    `update couriers set api_url_add_package = $2, api_url_update_package = $3, api_token_cipher = $4,
       webhook_secret_cipher = $5, add_package_format = $6, update_package_format = $7 where id = $1`,
    [
      courierId,
      given.add ?? null,
      given.update ?? null,
      given.token === null ? null : encrypt(given.token ?? 'token-of-a-courier', 'api_token'),
      encrypt(given.secret ?? webhookSecret('s'), 'webhook_secret'),
      given.addFormat ?? 'event',
      given.updateFormat ?? 'event',
    ],
  );
  await owner.query('delete from webhook_endpoints where courier_id = $1', [courierId]);
}

/** Waits up to half a minute until a condition is true. */
export const eventually = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  until(async () => condition(), 30_000);
