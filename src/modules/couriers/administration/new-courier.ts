import { auditLater } from '../../../platform/audit/audit.js';
import { insertUser, newOneTimePassword } from '../../auth/public.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { assertQuotaLeft, quotaOf, selectUsage, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { assertUsable, textOrNull, validateEmail } from '../../../platform/values/contact.js';
import { fieldsOf, renameFields } from '../../../platform/values/fields.js';
import { newId } from '../../../platform/values/ids.js';
import type { Tx, PersonTx } from '../../../platform/db/scope.js';
import { newApiKey, type NewApiKey } from '../settings/api-key.js';
import { CONTACT, CONTACT_NAMES, pickContact, problemsOf, type ContactFields } from '../shared/profile.js';
import { takenNames, type RecordRow } from './queries.js';
import { readRecord } from './change-courier.js';

export type NewCourier = Extract<BodyOf<'manageCouriers'>, { action: 'create' }>;

type FirstUser = { id: string; username: string; full_name: string };

/** The credentials that are shown only in the response of the creation. */
export type Credentials = {
  apiKey: string;
  user: FirstUser;
  oneTimePassword: string;
  passwordExpiresAt: Date;
};

/**
 * Creates a courier with its API key and its first user in one transaction.
 * @throws ApiError validation_failed, duplicate_courier_code, duplicate_username, quota_exceeded, overloaded
 */
export async function createCourier(
  ctx: PersonContext,
  deps: Deps,
  body: NewCourier,
): Promise<{ row: RecordRow; credentials: Credentials }> {
  assertFieldsUsable(body, deps);
  const { full_name, email } = body.login;
  const user = { id: newId(), username: body.login.username.toLowerCase(), full_name };
  const oneTimePassword = newOneTimePassword();
  const passwordHash = await deps.loginLimiter.hashFor(ctx.caller, async () => {
    // The database enforces uniqueness, and the transaction the quotas. This check avoids a useless hash.
    await assertMayCreate(ctx, body.courier_code, user.username);
    return deps.passwords.hash(oneTimePassword);
  });
  const courierId = newId();
  const apiKey = newApiKey(deps.secrets, ctx.tenantId, courierId);
  return ctx.write(async (tx) => {
    await insertCourier(tx, { courierId, apiKey, body });
    const account = { passwordHash, email: textOrNull(email) };
    const passwordExpiresAt = await insertFirstUser(tx, courierId, { ...user, ...account });
    const row = await readRecord(tx, courierId);
    await takeQuota(tx, OF_USER, ctx.caller, 1);
    await takeQuota(tx, OF_STAFF, STAFF, 1);
    return { row, credentials: { apiKey: apiKey.key, user, oneTimePassword, passwordExpiresAt } };
  });
}

/** @throws ApiError validation_failed */
function assertFieldsUsable(body: NewCourier, { outbound }: Pick<Deps, 'outbound'>): void {
  const { email } = body.login;
  assertUsable({
    ...problemsOf(pickContact(body), outbound),
    'login.email': email ? validateEmail(email) : undefined,
  });
}

/** A courier has an allowance and limits of its own. So who creates couriers, or users who do, must not have any number of them. */
const OF_USER = quotaOf('new_couriers');
const OF_STAFF = quotaOf('staff_new_couriers');
const STAFF = { kind: 'staff' } as const;

/** @throws ApiError duplicate_courier_code, duplicate_username, quota_exceeded */
async function assertMayCreate(ctx: PersonContext, code: string, username: string): Promise<void> {
  const [[taken], ofUser, ofStaff] = await ctx.read([
    takenNames(ctx, code, username),
    selectUsage(ctx, OF_USER, ctx.caller),
    selectUsage(ctx, OF_STAFF, STAFF),
  ]);
  if (taken?.isCodeTaken) throw new ApiError('duplicate_courier_code');
  if (taken?.isUsernameTaken) throw new ApiError('duplicate_username');
  assertQuotaLeft(ctx, OF_USER, ofUser);
  assertQuotaLeft(ctx, OF_STAFF, ofStaff);
}

async function insertCourier(
  tx: Tx,
  { courierId: id, apiKey, body }: { courierId: string; apiKey: NewApiKey; body: NewCourier },
): Promise<void> {
  const contact = contactOf(body);
  const { courier_code: code } = body;
  const columns = { ...renameFields(contact, CONTACT), ...apiKey.columns };
  await tx.models.courier.create({ data: { tenantId: tx.tenantId, id, code, ...columns } });
  auditLater(tx, 'courier.created', id, { after: { courier_code: code, ...contact } });
}

/** Returns when the one-time password expires. */
async function insertFirstUser(
  tx: PersonTx,
  courierId: string,
  { full_name, ...account }: FirstUser & { passwordHash: string; email: string | null },
): Promise<Date> {
  const user = { ...account, fullName: full_name, role: 'courier', courierId, isCourierOwner: true } as const;
  const passwordExpiresAt = await insertUser(tx, user);
  const after = { username: user.username, full_name, role: user.role, courier_id: courierId };
  auditLater(tx, 'user.created', user.id, { after });
  return passwordExpiresAt;
}

const contactOf = (body: NewCourier): ContactFields => ({
  ...fieldsOf(CONTACT_NAMES, (name) => textOrNull(body[name])),
  courier_name: body.courier_name,
});
