import { audit } from '../../../platform/audit/audit.js';
import { insertUser, newOneTimePassword } from '../../auth/public.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { assertUsable, textOrNull, validateEmail } from '../../../platform/values/contact.js';
import { newId } from '../../../platform/values/ids.js';
import type { Tx, UserTx } from '../../../platform/db/scope.js';
import { newApiKey, type NewApiKey } from '../settings/api-key.js';
import { contactColumns, problemsOf, type ContactFields } from '../shared/profile.js';
import { takenNames, type RecordRow } from './queries.js';
import { readRecord } from './records.js';
import { pickProfile } from './sent-profile.js';

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
 * @throws ApiError validation_failed, duplicate_courier_code, duplicate_username, overloaded
 */
export async function createCourier(
  ctx: UserContext,
  deps: Deps,
  body: NewCourier,
): Promise<{ row: RecordRow; credentials: Credentials }> {
  assertFieldsUsable(body, deps);
  const { full_name, email } = body.login;
  const user = { id: newId(), username: body.login.username.toLowerCase(), full_name };
  const oneTimePassword = newOneTimePassword();
  const passwordHash = await deps.loginLimiter.withLimit(ctx.tenantId, user.username, async () => {
    // The database enforces uniqueness. This check avoids a useless hash.
    await assertNamesAvailable(ctx, body.courier_code, user.username);
    return deps.passwords.hash(oneTimePassword);
  });
  const courierId = newId();
  const apiKey = newApiKey(deps.secrets, ctx.tenantId, courierId);
  return ctx.write(async (tx) => {
    await insertCourier(tx, { courierId, apiKey, body });
    const account = { passwordHash, email: textOrNull(email) };
    const passwordExpiresAt = await insertFirstUser(tx, courierId, { ...user, ...account });
    return {
      row: await readRecord(tx, courierId),
      credentials: { apiKey: apiKey.key, user, oneTimePassword, passwordExpiresAt },
    };
  });
}

/** @throws ApiError validation_failed */
function assertFieldsUsable(body: NewCourier, { outbound }: Pick<Deps, 'outbound'>): void {
  const { email } = body.login;
  assertUsable({
    ...problemsOf(pickProfile(body), outbound),
    'login.email': email ? validateEmail(email) : undefined,
  });
}

/** @throws ApiError duplicate_courier_code, duplicate_username */
async function assertNamesAvailable(ctx: UserContext, code: string, username: string): Promise<void> {
  const [[taken]] = await ctx.read([takenNames(ctx, code, username)]);
  if (taken?.isCodeTaken) throw new ApiError('duplicate_courier_code');
  if (taken?.isUsernameTaken) throw new ApiError('duplicate_username');
}

async function insertCourier(
  tx: Tx,
  { courierId: id, apiKey, body }: { courierId: string; apiKey: NewApiKey; body: NewCourier },
): Promise<void> {
  const contact = contactOf(body);
  const { courier_code: code } = body;
  const columns = { ...contactColumns(contact), ...apiKey.columns };
  await tx.models.courier.create({ data: { tenantId: tx.tenantId, id, code, ...columns } });
  const after = { courier_code: code, ...contact };
  tx.later(audit(tx, { action: 'courier.created', entity: 'courier', entityId: id, after }));
}

/** Returns when the one-time password expires. */
async function insertFirstUser(
  tx: UserTx,
  courierId: string,
  { full_name, ...account }: FirstUser & { passwordHash: string; email: string | null },
): Promise<Date> {
  const user = { ...account, fullName: full_name, role: 'courier', courierId } as const;
  const passwordExpiresAt = await insertUser(tx, user);
  const after = { username: user.username, full_name, role: user.role, courier_id: courierId };
  tx.later(audit(tx, { action: 'user.created', entity: 'user', entityId: user.id, after }));
  return passwordExpiresAt;
}

const contactOf = (body: NewCourier): ContactFields => ({
  courier_name: body.courier_name,
  house_color: body.house_color,
  company_name: textOrNull(body.company_name),
  email: textOrNull(body.email),
  phone_number1: textOrNull(body.phone_number1),
  phone_number2: textOrNull(body.phone_number2),
  address1: textOrNull(body.address1),
  address2: textOrNull(body.address2),
  city_town: textOrNull(body.city_town),
  parish_province: textOrNull(body.parish_province),
});
