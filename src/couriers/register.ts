import { auditStatement } from '../audit.js';
import type { UserCaller } from '../auth/callers.js';
import { newOneTimePassword } from '../auth/one-time-password.js';
import { hashPassword } from '../auth/passwords.js';
import { assertUsable, faultOfLine, textOrNull } from '../contact.js';
import type { BodyOf, QueryOf } from '../contract/types.js';
import { inScope, readInScope, type Db } from '../db/transaction.js';
import type { Deps } from '../deps.js';
import { Fault } from '../errors.js';
import { newId } from '../ids.js';
import { found, record, type Change, type Ctx } from './context.js';
import { changeFields, newKey } from './courier.js';
import { assertAcceptable, faultsOf, type SentFields } from './fields.js';
import {
  countOfCouriers,
  insertCourier,
  insertFirstUser,
  oneCourier,
  pageOfCouriers,
  takenNames,
  updateActivity,
  type FirstUser,
  type NewProfile,
  type RecordRow,
} from './register-queries.js';

export async function listCouriers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listCouriers'>,
): Promise<{ rows: RecordRow[]; total: number }> {
  const [rows, counted] = await readInScope(db, caller, [
    pageOfCouriers(db, caller, query),
    countOfCouriers(db, caller, query),
  ]);
  // as: the shape that the statement selects
  return { rows: (rows ?? []) as RecordRow[], total: Number(counted?.[0]?.['total']) };
}

export type NewCourier = Extract<BodyOf<'manageCouriers'>, { action: 'create' }>;

/** What is shown once, beside the courier. */
export type Credentials = {
  apiKey: string;
  user: FirstUser;
  oneTimePassword: string;
  passwordExpiresAt: Date;
};

/**
 * A new courier with its key and its first user, all or nothing.
 *
 * @throws Fault validation_failed, duplicate_courier_code, duplicate_username, overloaded
 */
export async function createCourier(
  deps: Deps,
  change: Change,
  body: NewCourier,
): Promise<{ row: RecordRow; credentials: Credentials }> {
  const { username, full_name } = body.login;
  assertUsable({ ...faultsOf(takeProfile(body), deps.outbound), 'login.full_name': faultOfLine(full_name) });
  const oneTimePassword = newOneTimePassword();
  const passwordHash = await deps.loginGate.inTurn(change.caller.tenantId, username, async () => {
    // the database has the last word; asked beforehand too, so that no core is kept busy in vain
    await assertFree(change, body.courier_code, username);
    return hashPassword(oneTimePassword);
  });
  const user = { id: newId(), username, full_name };
  const { key: apiKey, ...kept } = newKey(deps.secrets, change.caller.tenantId, change.courierId);
  const profile = profileOf(body);
  return inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    await insertCourier(ctx, profile, kept);
    const passwordExpiresAt = await insertFirstUser(ctx, user, passwordHash);
    await record(ctx, { action: 'courier.created', after: profile });
    await recordUser(ctx, user);
    return {
      row: await readRecord(ctx),
      credentials: { apiKey, user, oneTimePassword, passwordExpiresAt },
    };
  });
}

async function assertFree({ db, caller }: Change, code: string, username: string): Promise<void> {
  const [rows] = await readInScope(db, caller, [takenNames(db, caller, code, username)]);
  if (rows?.[0]?.['is_code_taken']) throw new Fault('duplicate_courier_code');
  if (rows?.[0]?.['is_username_taken']) throw new Fault('duplicate_username');
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

type Profile = Omit<CourierUpdate, 'action' | 'courier_id'>;

// every one of the schema's fields, or it does not compile; as: the keys of the literal
const PROFILE = Object.keys({
  courier_name: 0,
  house_color: 0,
  company_name: 0,
  email: 0,
  phone_number1: 0,
  phone_number2: 0,
  address1: 0,
  address2: 0,
  city_town: 0,
  parish_province: 0,
} satisfies Record<keyof Profile, 0>) as (keyof Profile)[];

/** What a body sends of a profile, and nothing else of it: its webhooks are the courier's own affair. */
function takeProfile(body: Profile): SentFields {
  const given = PROFILE.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}

export type CourierUpdate = Extract<BodyOf<'manageCouriers'>, { action: 'update' }>;

/** Changes what is sent and differs. @throws Fault validation_failed, courier_not_found */
export async function updateCourier(
  { outbound }: Deps,
  change: Change,
  body: CourierUpdate,
): Promise<{ row: RecordRow; isChanged: boolean }> {
  const sent = takeProfile(body);
  assertAcceptable(sent, outbound);
  return inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const isChanged = await changeFields(ctx, sent);
    return { row: await readRecord(ctx), isChanged };
  });
}

/**
 * Lets a courier in, or stops it: whoever enters a scope after the commit, on whatever replica, is asked for it in
 * the same round trip.
 *
 * @throws Fault courier_not_found
 */
export async function setActivity(
  change: Change,
  isActive: boolean,
): Promise<{ row: RecordRow; isChanged: boolean }> {
  return inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const isChanged = (await updateActivity(ctx, isActive)) === 1;
    if (isChanged) {
      const action = isActive ? 'courier.activated' : 'courier.deactivated';
      const states = { before: { is_active: !isActive }, after: { is_active: isActive } };
      await record(ctx, { action, ...states });
    }
    return { row: await readRecord(ctx), isChanged };
  });
}

async function readRecord({ db, tx, caller, courierId }: Ctx): Promise<RecordRow> {
  const [row] = await tx.query<RecordRow>(oneCourier(db, caller, courierId));
  return found(row);
}
