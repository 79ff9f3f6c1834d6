import { beforeEach } from '@jest/globals';
import { signingSecrets, type SigningRow } from '../../../../src/modules/couriers/settings/webhook-secret.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { type Call, type Reply } from '../../../support/service/service.js';

const { IEX } = DEMO.couriers;
export const URL = 'https://partner.example/hooks';
export const DAY_MS = 24 * 60 * 60 * 1000;

export const secretIn = ({ body }: Reply) => String(body['data'].webhook_secret);

/** A service in which IEX sets and rotates the secret that signs its webhooks. */
export function withSigningSecrets() {
  const fixture = withService({ poolSize: 20 });
  const { api, service } = fixture;

  // Each test starts with a courier that never had a webhook.
  beforeEach(async () => {
    await service().owner.query(
      `update couriers set api_url_add_package = null, api_url_update_package = null, api_url_get_customers = null,
         webhook_secret_cipher = null, webhook_previous_secret_cipher = null, webhook_secret_rotated_at = null`,
    );
    await service().owner.query('delete from webhook_endpoints');
  });

  const update = (call: Call) => api.with(call).updateCourierSettings();
  const set = (body: Record<string, string>) => update({ as: 'iex', body });
  const rotate = () => update({ as: 'iex', urlencoded: { action: 'rotate_webhook_secret' } });
  const settings = async (as = 'iex') =>
    (await api.as(as).getCourierSettings().ok()).data as Record<string, unknown>;

  async function rowOf(courierId: string): Promise<SigningRow> {
    const { rows } = await service().owner.query(
      `select tenant_id as "tenantId", id, webhook_secret_cipher as "webhookSecretCipher",
         webhook_previous_secret_cipher as "webhookPreviousSecretCipher",
         webhook_secret_rotated_at as "webhookSecretRotatedAt"
       from couriers where id = $1`,
      [courierId],
    );
    return rows[0];
  }

  /** Returns the secrets that sign a webhook sent this long after the rotation. */
  async function signersAfter(ms: number): Promise<string[]> {
    const row = await rowOf(IEX);
    const now = new Date((row.webhookSecretRotatedAt?.getTime() ?? 0) + ms);
    return signingSecrets(service().app.secrets, row, now);
  }

  async function auditOf(action: string): Promise<{ text: string }[]> {
    const { rows } = await service().owner.query<{ text: string }>(
      `select row_to_json(a)::text as text from audit_entries a where action = $1 and entity_id = $2`,
      [action, IEX],
    );
    return rows;
  }

  return { ...fixture, update, set, rotate, settings, rowOf, signersAfter, auditOf };
}
