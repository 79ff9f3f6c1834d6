import { auditStatement } from '../../../platform/audit/audit.js';
import { insertUser, newOneTimePassword, hashPassword } from '../../auth/public.js';
import { assertUsable, validateEmail, validateLine, textOrNull } from '../../../platform/values/contact.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { transaction, snapshot } from '../../../platform/db/transaction.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { record, type Change, type Ctx } from '../shared/context.js';
import { newKey } from '../settings/courier.js';
import { faultsOf } from '../shared/fields.js';
import { readRecord } from '../shared/read-record.js';
import { pickProfile } from './fields.js';
import {
  insertCourier,
  takenNames,
  type NewProfile,
  type RecordRow,
} from '../shared/administration-queries.js';

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
  deps: Deps,
  change: Change,
  body: NewCourier,
): Promise<{ row: RecordRow; credentials: Credentials }> {
  const { full_name, email } = body.login;
  const username = body.login.username.toLowerCase();
  assertUsable({
    ...faultsOf(pickProfile(body), deps.outbound),
    'login.full_name': validateLine(full_name),
    'login.email': email ? validateEmail(email) : undefined,
  });
  const oneTimePassword = newOneTimePassword();
  const passwordHash = await deps.loginLimiter.withLimit(change.caller.tenantId, username, async () => {
    // The database enforces uniqueness. This check avoids a useless hash.
    await assertNamesAvailable(change, body.courier_code, username);
    return hashPassword(oneTimePassword);
  });
  const user = { id: newId(), username, full_name };
  const { key: apiKey, ...storedKey } = newKey(deps.secrets, change.caller.tenantId, change.courierId);
  const profile = profileOf(body);
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    await insertCourier(ctx, profile, storedKey);
    const names = { id: user.id, username, fullName: full_name, email: textOrNull(email) };
    const passwordExpiresAt = await insertUser(makeContext(change.db, change.caller, change.requestId), tx, {
      ...names,
      role: 'courier',
      courierId: change.courierId,
      passwordHash,
    });
    await record(ctx, { action: 'courier.created', after: profile });
    await recordUser(ctx, user);
    return {
      row: await readRecord(ctx),
      credentials: { apiKey, user, oneTimePassword, passwordExpiresAt },
    };
  });
}

async function assertNamesAvailable({ db, caller }: Change, code: string, username: string): Promise<void> {
  const [rows] = await snapshot(db, caller, [takenNames(db, caller, code, username)]);
  if (rows?.[0]?.['is_code_taken']) throw new ApiError('duplicate_courier_code');
  if (rows?.[0]?.['is_username_taken']) throw new ApiError('duplicate_username');
}

const profileOf = (body: NewCourier): NewProfile => ({
  courier_code: body.courier_code,
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

async function recordUser(ctx: Ctx, { id, username, full_name }: FirstUser): Promise<void> {
  const after = { username, full_name, role: 'courier', courier_id: ctx.courierId };
  const fact = { action: 'user.created', entity: 'user' as const, entityId: id, after };
  await ctx.tx.execute(auditStatement(ctx.caller, ctx.requestId, [fact]));
}
