import { sql } from '../../platform/db/statements.js';

/** The calls of a courier and day that were not kept, in `courier_quotas`. */
export const LEFT_OUT = 'api_calls_left_out';

export const START_OF_DAY = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;
