import { auditLater } from '../../../platform/audit/audit.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { maskAddress } from '../address.js';
import { hashOfKey } from '../mails/send-notice-mail.js';
import type { ChoiceLimits } from './limits.js';
import { choiceOfKey, storeChoice, type ChoiceRow } from './queries.js';

type Parts = { limits: ChoiceLimits; address: string };

/**
 * Returns what the page of a key shows. One statement finds it or nothing, whatever the key is.
 * @throws ApiError notice_link_not_found, too_many_attempts
 */
export async function readChoice(
  ctx: SystemContext,
  key: string,
  { limits, address }: Parts,
): Promise<ChoiceRow> {
  await limits.countPage({ tenantId: ctx.tenantId, address });
  return find(ctx, hashOfKey(key));
}

/**
 * Stores what the owner of the address has chosen. It holds for mails that wait, because each looks again when it is sent.
 * @throws ApiError validation_failed, notice_link_not_found, too_many_attempts
 */
export async function choose(
  ctx: SystemContext,
  key: string,
  sent: BodyOf<'submitNoticeChoice'>,
  { limits, address }: Parts,
): Promise<ChoiceRow> {
  const who = { tenantId: ctx.tenantId, address };
  await limits.countChoice(who);
  const isOptedOut = sent['List-Unsubscribe'] !== undefined || sent.choice === 'stop';
  if (!isOptedOut && sent.choice === undefined) throw invalidFieldError('choice', 'required');
  const keyHash = hashOfKey(key);
  const row = await find(ctx, keyHash);
  if (!isOptedOut && row.isOptedOut) await limits.countResumed(keyHash, who);
  const chosen = { ...row, isOptedOut };
  if (row.isOptedOut === isOptedOut) return chosen;
  await ctx.write(async (tx) => {
    const [stored] = await tx.query(storeChoice(tx, row, isOptedOut));
    if (!stored) return;
    const values = { recipient: maskAddress(row.recipient), is_opted_out: isOptedOut };
    auditLater(tx, 'courier.notice_choice_changed', row.courierId, { after: values });
  });
  return chosen;
}

async function find(ctx: SystemContext, keyHash: string): Promise<ChoiceRow> {
  const [[row]] = await ctx.read([choiceOfKey(ctx, keyHash)]);
  if (!row) throw new ApiError('notice_link_not_found');
  return row;
}
