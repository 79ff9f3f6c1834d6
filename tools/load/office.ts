import type { Row } from '../../fixtures/demo/values/rows.js';
import type { Flight } from './flights.js';
import type { Parcel, Traffic } from './parcels.js';
import type { TenantPlan } from './tenant-plan.js';
import { DAY_MS, dateOf, HOUR_MS, iso, weekdayOf } from './values/time.js';

/** Retention deletes older rows. */
const SESSION_DAYS = 30;
const SYNC_DAYS = 30;
/** In percent. */
const FAILED_MAILS = 1;
const FAILED_SYNCS = 6;

/** Logins of the staff on working days, and the networks that they came from. */
export function sessionRows(plan: TenantPlan): { sessions: Row[]; networks: Row[] } {
  const { random, staff, startMs, endMs } = plan;
  const sessions: Row[] = [];
  const users = Object.values(staff);
  for (let dayMs = Math.max(startMs, endMs - SESSION_DAYS * DAY_MS); dayMs < endMs; dayMs += DAY_MS) {
    if (weekdayOf(dayMs) === 0) continue;
    users.forEach((userId, n) => {
      const atMs = dayMs + 7 * HOUR_MS + random.whole(0, 3_600) * 1_000;
      const isEnded = random.isOne(70);
      const lastMs = atMs + random.whole(2, 7) * HOUR_MS;
      sessions.push({
        ...{ tenant_id: plan.id, id: random.id(atMs), user_id: userId, started_by: 'login' },
        ...{ address: addressOf(n), user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/131.0' },
        created_at: iso(atMs),
        last_seen_at: iso(lastMs),
        expires_at: iso(atMs + 8 * HOUR_MS),
        ended_at: isEnded ? iso(lastMs) : null,
        end_reason: isEnded ? 'logout' : null,
      });
    });
  }
  const networks = users.map((userId, n) => ({
    ...{ tenant_id: plan.id, user_id: userId, network: addressOf(n), last_seen_at: iso(endMs - 9 * HOUR_MS) },
  }));
  return { sessions, networks };
}

/** Addresses for documentation (RFC 5737). */
const addressOf = (n: number) => `203.0.113.${10 + n}`;

/** The mails about each step of a flight, to the couriers aboard. */
export function mailRows(plan: TenantPlan, flights: Flight[], { parcels }: Traffic): Row[] {
  const aboard = new Map<Flight, Set<NonNullable<Parcel['courier']>>>();
  for (const { flight, courier } of parcels) {
    if (!flight || !courier) continue;
    const couriers = aboard.get(flight) ?? new Set();
    aboard.set(flight, couriers.add(courier));
  }
  return flights.flatMap((flight) =>
    flight.transitions.flatMap(({ status, atMs }) =>
      [...(aboard.get(flight) ?? [])].map((courier) => {
        const isFailed = plan.random.isOne(FAILED_MAILS);
        return {
          ...{ tenant_id: plan.id, id: plan.random.id(atMs), courier_id: courier.id, manifest_id: flight.id },
          ...{
            manifest_number: flight.number,
            manifest_status: status,
            status: isFailed ? 'failed' : 'sent',
          },
          recipient: `accounts@${courier.code.toLowerCase()}.example`,
          attempt_count: isFailed ? 12 : 1,
          last_error: isFailed ? 'MessageRejected (HTTP 400)' : null,
          created_at: iso(atMs),
          settled_at: iso(atMs + 2_000),
        };
      }),
    ),
  );
}

/** The nightly synchronisations of the couriers that have an address for it. */
export function syncRunRows(plan: TenantPlan): Row[] {
  const { random, couriers, startMs, endMs } = plan;
  const rows: Row[] = [];
  for (const courier of couriers.filter(({ webhooks }) => webhooks === 'flat')) {
    for (let dayMs = Math.max(startMs, endMs - SYNC_DAYS * DAY_MS); dayMs < endMs; dayMs += DAY_MS) {
      const atMs = dayMs + 4 * HOUR_MS + random.whole(0, 600) * 1_000;
      const isFailed = random.isOne(FAILED_SYNCS);
      const counts = { received: courier.customers.length, created: 0, updated: 0, skipped: 0 };
      rows.push({
        ...{ tenant_id: plan.id, id: random.id(atMs), courier_id: courier.id, origin: 'schedule' },
        ...(isFailed
          ? { received: null, created: null, updated: null, skipped: null, unchanged: null }
          : { ...counts, unchanged: courier.customers.length }),
        status: isFailed ? 'failed' : 'succeeded',
        http_status: isFailed ? null : 200,
        problems: [],
        error: isFailed ? 'no response within 30 s' : null,
        created_at: iso(atMs),
        started_at: iso(atMs + 1_000),
        finished_at: iso(atMs + 9_000),
      });
    }
  }
  return rows;
}

/** A day of failed logins, and one locked name. */
export function throttleRows({ id, endMs }: TenantPlan): Row[] {
  return [
    { subject: 'warehouse', failures: 2, locked_until: null },
    { subject: 'root', failures: 5, locked_until: iso(endMs - 2 * HOUR_MS) },
  ].map((row) => ({ tenant_id: id, kind: 'password', ...row, updated_at: iso(endMs - 3 * HOUR_MS) }));
}

/** One dispatch per week by the manager, with the packages that it sent. */
export function dispatchRows(plan: TenantPlan, { parcels }: Traffic): { dispatches: Row[]; syncs: Row[] } {
  const { random, staff } = plan;
  const dispatches: Row[] = [];
  const syncs: Row[] = [];
  const byWeek = new Map<string, Parcel[]>();
  for (const parcel of parcels) {
    if (!parcel.courier?.webhooks || !parcel.customer) continue;
    const week = dateOf(parcel.receivedMs - weekdayOf(parcel.receivedMs) * DAY_MS);
    byWeek.set(week, [...(byWeek.get(week) ?? []), parcel].slice(-SYNCED));
  }
  for (const chosen of byWeek.values()) {
    const atMs = (chosen.at(-1)?.receivedMs ?? 0) + HOUR_MS;
    const id = random.id(atMs);
    const counts = { selected: chosen.length, queued: chosen.length };
    dispatches.push({
      tenant_id: plan.id,
      id,
      requested_by: staff.manager,
      ...counts,
      requested_at: iso(atMs),
    });
    for (const { id: packageId, courier } of chosen)
      syncs.push({
        ...{ tenant_id: plan.id, package_id: packageId, courier_id: courier?.id ?? null, status: 'sent' },
        ...{
          job_id: random.id(atMs),
          dispatch_id: id,
          requested_at: iso(atMs),
          settled_at: iso(atMs + 4_000),
        },
      });
  }
  return { dispatches, syncs };
}

const SYNCED = 20;
