import type { EncryptionContext, Secrets } from '../../../platform/access/secrets.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { decryptOrNull, encryptionContext } from '../shared/encryption.js';
import { selectCourier, type CourierRow } from './queries.js';
import { previousSecretId } from './webhook-secret.js';

/** A courier's settings with decrypted secrets. */
export type Settings = Omit<
  CourierRow,
  'apiKeyCipher' | 'apiTokenCipher' | 'urlsOfTokens' | 'webhookSecretCipher' | 'webhookPreviousSecretCipher'
> & {
  apiKey: string | null;
  api_token: string | null;
  webhookSecret: string | null;
  /** Null if only the current secret signs. */
  webhookPreviousSecretId: string | null;
};

/** @throws ApiError courier_not_found */
export async function readSettings(ctx: UserContext, secrets: Secrets, courierId: string): Promise<Settings> {
  const [[row]] = await ctx.read([selectCourier(ctx, courierId)]);
  return decryptSettings(ctx, secrets, row);
}

/** @throws ApiError courier_not_found if there is no row */
export function decryptSettings(ctx: UserScope, secrets: Secrets, row: CourierRow | undefined): Settings {
  if (!row) throw new ApiError('courier_not_found');
  const {
    apiKeyCipher,
    apiTokenCipher,
    urlsOfTokens: _,
    webhookSecretCipher,
    webhookPreviousSecretCipher,
    ...rest
  } = row;
  const { courier_id: id } = row;
  const decrypt = (cipher: string | null, field: EncryptionContext['field']) =>
    cipher === null ? null : decryptOrNull(secrets, cipher, encryptionContext(ctx.tenantId, id, field));
  return {
    ...rest,
    apiKey: decrypt(apiKeyCipher, 'api_key'),
    api_token: decrypt(apiTokenCipher, 'api_token'),
    webhookSecret: decrypt(webhookSecretCipher, 'webhook_secret'),
    webhookPreviousSecretId: previousSecretId(
      secrets,
      { ...rest, webhookPreviousSecretCipher, tenantId: ctx.tenantId, id },
      row.now,
    ),
  };
}
