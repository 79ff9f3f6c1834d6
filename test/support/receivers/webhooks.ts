import type pg from 'pg';
import type { Secrets } from '../../../src/platform/access/secrets.js';
import { DEMO } from '../../../src/development/demo/seed.js';
import { until } from '../service/processes.js';

/** A signing secret in the form of Standard Webhooks, the same for the same letter. */
export const webhookSecret = (letter: string): string =>
  `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

export type Endpoints = {
  courierId?: string;
  tenantId?: string;
  add?: string | null;
  update?: string | null;
  token?: string;
  secret?: string;
};

/** Gives a courier URLs, a token and a signing secret, as its settings would. */
export async function setEndpoints(
  { owner, secrets }: { owner: pg.Pool; secrets: Secrets },
  { courierId = DEMO.couriers.IEX, tenantId = DEMO.tenants.demo, ...given }: Endpoints,
): Promise<void> {
  const seal = (secret: string, field: 'api_token' | 'webhook_secret') =>
    secrets.encrypt(secret, { tenantId, rowId: courierId, field });
  await owner.query(
    `update couriers set api_url_add_package = $2, api_url_update_package = $3, api_token_cipher = $4,
       webhook_secret_cipher = $5 where id = $1`,
    [
      courierId,
      given.add ?? null,
      given.update ?? null,
      seal(given.token ?? 'token-of-a-courier', 'api_token'),
      seal(given.secret ?? webhookSecret('s'), 'webhook_secret'),
    ],
  );
  await owner.query('delete from webhook_endpoints where courier_id = $1', [courierId]);
}

/** Waits until a condition holds, for half a minute at most. */
export const eventually = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  until(async () => condition(), 30_000);
