import type { UserContext, PersonContext } from '../../../platform/context/request-context.js';
import { textOr } from '../../../platform/values/contact.js';
import type { SentFields } from '../shared/profile.js';
import { selectCourier } from './queries.js';
import { URLS, type ProfileChange } from './url-origins.js';

/** Of the staff, who can redirect the data of each courier. A courier that redirects its own is told by mail. */
export const isStaffPerson = (ctx: UserContext): ctx is PersonContext =>
  ctx.caller.kind === 'user' && ctx.caller.courierId === null;

/**
 * Whether a change sends the data of a courier to somebody else: to a URL that is none of its present ones, or to another e-mail
 * address. Whoever does that with a stolen session reads on after its end (decision 0135).
 */
export async function redirectsData(ctx: UserContext, courierId: string, sent: SentFields): Promise<boolean> {
  const [[stored]] = await ctx.read([selectCourier(ctx, courierId)]);
  if (!stored) return false;
  const known = new Set([null, ...URLS.map((name) => stored[name])]);
  const email = textOr(stored.email, sent.email);
  const hasNewUrl = URLS.some((name) => !known.has(textOr(stored[name], sent[name])));
  return hasNewUrl || (email !== null && email !== stored.email);
}

/** Whether a change of a courier's profile sends its data elsewhere, or nowhere. */
export const isRedirected = ({ before, after }: Omit<ProfileChange, 'row'>): boolean =>
  [...URLS, 'email' as const].some((name) => before[name] !== after[name]);
