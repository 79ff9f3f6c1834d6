import { auditLater } from '../../../platform/audit/audit.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import { confirmOwnPassword } from '../credentials/own-password.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { removePinOf, type Client } from '../../sessions/public.js';
import { forgetOldStations, ownPin, rememberLogin, type OwnPin } from './queries.js';

/** A row with it does not let the user in: tokens have versions from 0 on. */
const NO_VERSION = -1;

/** @throws ApiError permission_denied if the caller is not a warehouse worker */
export function assertWorker({ caller }: PersonContext): void {
  if (caller.role !== 'warehouse') throw new ApiError('permission_denied', { variant: 'workers_only' });
}

/**
 * Sets or replaces the caller's PIN.
 * @throws ApiError validation_failed, password_wrong, too_many_attempts, overloaded
 */
export async function setPin(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  { password, pin, deviceHash }: { password: string; pin: string; deviceHash: string },
): Promise<OwnPin> {
  if (isEasy(pin)) throw invalidFieldError('pin', 'easy_pin');
  return confirmOwnPassword(ctx, { deps, client, password }, async (settle) => {
    const pinHash = await deps.passwords.hash(pin);
    return ctx.asTenant().write(async (tx) => {
      await settle(tx);
      await tx.models.user.updateMany({ where: { id: ctx.caller.userId }, data: { pinHash } });
      // The password is right, as after a login.
      await tx.models.stationWorker.updateMany({
        where: { userId: ctx.caller.userId },
        data: { failures: 0 },
      });
      auditLater(tx, 'user.pin_set', ctx.caller.userId);
      return rememberIn(ctx, tx, deviceHash);
    });
  });
}

/** Lets the caller's PIN work at the station, if it has one and has logged in with the password. */
export const remember = (ctx: PersonContext, deviceHash: string): Promise<OwnPin> =>
  ctx.asTenant().write((tx) => rememberIn(ctx, tx, deviceHash));

async function rememberIn(ctx: PersonContext, tx: Tx, deviceHash: string): Promise<OwnPin> {
  const { sessionId } = ctx.caller;
  if (sessionId !== undefined) {
    const remembered = await tx.query(rememberLogin(ctx, deviceHash, sessionId));
    if (remembered.length > 0) await tx.count(forgetOldStations(ctx));
  }
  return readOwnPin(ctx, tx, deviceHash);
}

/** Ends it at one station. */
export const forget = (ctx: PersonContext, deviceHash: string): Promise<OwnPin> =>
  ctx.asTenant().write(async (tx) => {
    const place = { deviceHash, userId: ctx.caller.userId };
    // Wrong PINs count until the next login with the password, whatever the user does meanwhile.
    await tx.models.stationWorker.updateMany({
      where: { ...place, failures: { gt: 0 } },
      data: { tokenVersion: NO_VERSION },
    });
    await tx.models.stationWorker.deleteMany({ where: { ...place, failures: 0 } });
    return readOwnPin(ctx, tx, deviceHash);
  });

export const removePin = (ctx: PersonContext): Promise<OwnPin> =>
  ctx.asTenant().write(async (tx) => {
    await removePinOf(tx, ctx.caller.userId);
    return { hasPin: false, rememberedUntil: null };
  });

async function readOwnPin(ctx: PersonContext, tx: Tx, deviceHash: string): Promise<OwnPin> {
  const [own] = await tx.query(ownPin(ctx, deviceHash));
  return own ?? { hasPin: false, rememberedUntil: null };
}

/** The first that anybody tries: a repetition of a shorter number, or digits in a row. */
function isEasy(pin: string): boolean {
  const units = [...pin].slice(pin.length / 2).map((_, at) => pin.slice(0, at + 1));
  const steps = [...pin].slice(1).map((digit, at) => (Number(digit) - Number(pin[at]) + 10) % 10);
  const isRow = steps.every((step) => step === 1) || steps.every((step) => step === 9);
  return isRow || units.some((unit) => unit.repeat(pin.length / unit.length) === pin);
}
