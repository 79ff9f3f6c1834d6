import { sql, type Sql } from '../../../platform/db/statements.js';

/** Quiet hours as columns or values: times of a clock in a time zone. */
type Quiet = { from: Sql; to: Sql; zone: Sql };

/**
 * When the quiet hours end in which a time is, as a column; null for a time outside of them. PostgreSQL knows when clocks are set: a time that
 * does not exist on a day is an hour later there, and of one that exists twice it takes the second.
 */
export const quietUntil = (at: Sql, { from, to, zone }: Quiet): Sql => sql`(
  select case
      when quiet."from" < quiet."to" and clock.at::time >= quiet."from" and clock.at::time < quiet."to" then (clock.at::date + quiet."to")
      when quiet."from" > quiet."to" and clock.at::time < quiet."to" then (clock.at::date + quiet."to")
      when quiet."from" > quiet."to" and clock.at::time >= quiet."from" then (clock.at::date + 1 + quiet."to")
    end at time zone clock.zone
  from (select ${at} at time zone ${zone} as at, ${zone} as zone) clock,
    (select (${from})::time as "from", (${to})::time as "to") quiet)`;
