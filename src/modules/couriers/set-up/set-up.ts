import type { UserContext } from '../../../platform/context/request-context.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { selectSetUp, type SetUpRow } from './queries.js';

type Step = DataOf<'getCourierSetUp'>['steps'][number];
type Missing = Step['missing'][number];

/** Without them, the warehouse cannot reach the courier, and bills have no address. */
const PROFILE = ['email', 'phone_number1', 'address1', 'city_town'] as const;

/**
 * Returns the steps of the set-up with what is missing, in the order of the contract.
 * @throws ApiError courier_not_found
 */
export async function readSetUp(ctx: UserContext, courierId: string): Promise<Step[]> {
  const [[row]] = await ctx.read([selectSetUp(ctx, courierId)]);
  if (!row) throw new ApiError('courier_not_found');
  return [
    { step: 'profile', missing: PROFILE.filter((name) => row[name] === null) },
    { step: 'customers', missing: unless(row.hasCustomer, 'customer') },
    { step: 'prealert', missing: unless(row.hasPrealert, 'prealert') },
    { step: 'webhook', missing: missingOfWebhook(row) },
    { step: 'logo', missing: unless(row.hasLogo, 'logo') },
    { step: 'team', missing: unless(row.hasColleague, 'member') },
  ];
}

const unless = (isDone: boolean, missing: Missing): Missing[] => (isDone ? [] : [missing]);

function missingOfWebhook({ urls, untriedUrls }: SetUpRow): Missing[] {
  if (urls === 0) return ['url'];
  return unless(untriedUrls === 0, 'success');
}
