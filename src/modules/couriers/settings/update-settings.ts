import { lock } from '../../../platform/db/columns.js';
import { auditLater } from '../../../platform/audit/audit.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { quotaOf, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { renameFields } from '../../../platform/values/fields.js';
import type { Settle } from '../../auth/public.js';
import type { Deps } from '../../dependencies.js';
import { encryptionContext } from '../shared/encryption.js';
import {
  assertAcceptable,
  assertFlatTypes,
  CONTACT,
  profileDifference,
  mergeFields,
  SYSTEM,
  type SentFields,
} from '../shared/profile.js';
import { selectCourier } from './queries.js';
import { assertMayRedirect, assertMaySend, isRedirected } from './redirection.js';
import { decryptSettings, type Settings } from './settings.js';
import {
  assertConfirmed,
  assertKnownTargets,
  countNewTargets,
  urlsOfTokens,
  type ProfileChange,
} from './url-origins.js';
import { ensureWebhookSecret } from './webhook-secret.js';

/** Which courier is changed, and the fields that the caller sent. */
export type SettingsUpdate = { courierId: string; sent: SentFields };

/**
 * Changes the given fields that differ. Without a difference it writes nothing.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded, token_not_accepted, scope_missing
 */
export async function updateSettings(
  ctx: UserContext,
  { secrets, outbound }: Pick<Deps, 'secrets' | 'outbound'>,
  { courierId, sent }: SettingsUpdate,
  settle?: Settle,
): Promise<{ settings: Settings; isChanged: boolean }> {
  assertAcceptable(sent, outbound);
  return ctx.write(async (tx) => {
    const isChanged = await changeFields(tx, secrets, { courierId, sent }, settle);
    const [saved] = await tx.query(selectCourier(ctx, courierId));
    return { settings: decryptSettings(ctx, secrets, saved), isChanged };
  });
}

/**
 * As updateSettings, inside a transaction and for fields that assertAcceptable has accepted. Returns whether
 * any field differs.
 */
export async function changeFields(
  tx: UserTx,
  secrets: Secrets,
  { courierId, sent }: SettingsUpdate,
  settle: Settle | undefined,
): Promise<boolean> {
  await settle?.(tx);
  await lock(tx, 'Courier', courierId, ['id']);
  const [row] = await tx.query(selectCourier(tx, courierId));
  if (!row) throw new ApiError('courier_not_found');
  const before = decryptSettings(tx, secrets, row);
  const after = mergeFields(before, sent);
  assertFlatTypes(after, sent);
  const difference = profileDifference(before, after);
  const isToken = tx.caller.kind === 'token';
  const change = { row, before, after };
  const ofTokens = urlsOfTokens(change, sent, isToken);
  // A user confirms a URL of a token by sending it, although it stays the same.
  const isConfirmed = ofTokens.length < row.urlsOfTokens.length;
  if (!difference && !isConfirmed) return false;
  if (isToken) assertKnownTargets(change);
  assertConfirmed(change, ofTokens);
  await assertMaySend(tx, change);
  await assertMayRedirect(tx, change, settle);
  await saveFields(tx, secrets, change, ofTokens);
  auditLater(tx, 'courier.updated', courierId, withUrlsOfTokens(difference, row.urlsOfTokens, ofTokens));
  await applyEndpointChanges(tx, secrets, { courierId, before, after });
  const { tenantId, requestId } = tx;
  if (isRedirected(change)) tx.later(addJobs(tx, 'tellCourierOwners', [{ tenantId, courierId, requestId }]));
  await takeQuota(tx, TARGET_CHANGES, courierId, countNewTargets(change));
  return true;
}

/** Limits port scans through changed URLs. The contract states the limit. */
const TARGET_CHANGES = quotaOf('target_changes');

type Difference = NonNullable<ReturnType<typeof profileDifference>>;

/** Adds to a difference which URLs are those of service tokens, if that changes. */
function withUrlsOfTokens(difference: Difference | undefined, before: string[], after: string[]) {
  if (before.join() === after.join()) return { ...difference };
  return {
    before: { ...difference?.before, urls_of_tokens: before },
    after: { ...difference?.after, urls_of_tokens: after },
  };
}

async function saveFields(
  tx: UserTx,
  secrets: Secrets,
  { row, before, after }: ProfileChange,
  ofTokens: string[],
): Promise<void> {
  const { api_token: token } = after;
  const context = encryptionContext(tx.tenantId, row.courier_id, 'api_token');
  // A token that cannot be decrypted stays as it is until the courier sends another one.
  const apiTokenCipher =
    token === before.api_token ? row.apiTokenCipher : token && secrets.encrypt(token, context);
  const { count } = await tx.models.courier.updateMany({
    where: { id: row.courier_id },
    data: {
      ...renameFields(after, { ...CONTACT, ...SYSTEM }),
      apiTokenCipher,
      urlsOfTokens: ofTokens,
      updatedAt: row.now,
    },
  });
  if (count !== 1) throw new Error(`${count} couriers were updated under one lock.`);
}

/**
 * Handles changed webhook URLs and formats: deletes the health of the old ones, including pauses, ensures that there is a
 * signing secret, and sends what waits for a retry.
 */
async function applyEndpointChanges(
  tx: UserTx,
  secrets: Secrets,
  { courierId, before, after }: Omit<ProfileChange, 'row'> & { courierId: string },
): Promise<void> {
  const endpoints: Endpoint[] = ['add_package', 'update_package'];
  const changed = endpoints.filter((name) => {
    const hasNewUrl = before[`api_url_${name}`] !== after[`api_url_${name}`];
    return hasNewUrl || before[`${name}_format`] !== after[`${name}_format`];
  });
  if (changed.length === 0) return;
  await tx.models.webhookEndpoint.deleteMany({ where: { courierId, endpoint: { in: changed } } });
  const open = changed.filter((name) => after[`api_url_${name}`] !== null);
  if (open.length === 0) return;
  await ensureWebhookSecret(tx, secrets, courierId);
  const queues = open.map((endpoint) => ({ tenantId: tx.tenantId, courierId, endpoint }));
  await tx.query(addJobs(tx, 'sendPending', queues));
}
