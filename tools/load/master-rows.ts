import type { Secrets } from '../../src/platform/access/secrets.js';
import { AIRLINES, CARRIERS } from '../../fixtures/reference/companies.js';
import { globalTiers } from '../../fixtures/demo/tiers.js';
import type { Row } from '../../fixtures/demo/values/rows.js';
import type { PlannedCourier, TenantPlan } from './tenant-plan.js';
import { DAY_MS, iso } from './values/time.js';

/** What the rows of a load have in common besides the plan. */
export type Credentials = { passwordHash: string; secrets: Secrets };

export const carrierIds = ({ random, openedMs }: TenantPlan): string[] =>
  CARRIERS.map(() => random.id(openedMs));

export const hostRows = ({ id, slug }: TenantPlan, hostSuffix: string, isOnly: boolean): Row[] =>
  [`${slug}.${hostSuffix}`, ...(isOnly ? ['*'] : [])].map((host) => ({ tenant_id: id, host }));

export function warehouseRows({ id, operator, warehouses, openedMs }: TenantPlan): Row[] {
  const { name, city, dialling, slug } = operator;
  return warehouses.map((warehouse, n) => ({
    tenant_id: id,
    id: warehouse,
    name: n === 0 ? name : `${name} Annex`,
    is_primary: n === 0,
    address: `${7_800 + 450 * n} NW 25th Street`,
    city,
    country: 'United States',
    phone: `${dialling} 555 01${20 + n}`,
    email: `${n === 0 ? 'dock' : 'annex'}@${slug}.example`,
    created_at: iso(openedMs),
  }));
}

export const carrierRows = ({ id }: TenantPlan, ids: string[]): Row[] =>
  CARRIERS.map((name, n) => ({ tenant_id: id, id: ids[n] ?? null, name }));

export const airlineRows = ({ id }: TenantPlan): Row[] =>
  Object.entries(AIRLINES).map(([prefix, name]) => ({ tenant_id: id, prefix, name }));

export function courierRows(plan: TenantPlan, { secrets }: Credentials): Row[] {
  return plan.couriers.map((courier, n) => {
    const { id, name, code, country } = courier;
    const { random, openedMs } = plan;
    const encrypt = (text: string, field: 'api_key' | 'api_token' | 'webhook_secret') =>
      secrets.encrypt(text, { tenantId: plan.id, rowId: id, field });
    // Nobody knows the keys: a courier's user reads them in its settings.
    const key = secrets.lookupHash(`${plan.slug} ${code} ${random.digits(40)}`, 'api_key');
    const openedIso = iso(openedMs);
    return {
      ...{ tenant_id: plan.id, id, code, name, company_name: `${name} Limited`, is_active: true },
      email: `accounts@${code.toLowerCase()}.example`,
      phone_number1: `${country.dialling} 555 0${100 + n}`,
      address1: `${4 + n * 7} ${random.pick(country.streets)}`,
      city_town: random.pick(country.towns),
      parish_province: random.pick(country.parishes),
      house_color: `#${(0x0a7d5c + n * 0x152f31).toString(16).padStart(6, '0').slice(-6).toUpperCase()}`,
      api_key_hash: secrets.lookupHash(key, 'api_key'),
      api_key_cipher: encrypt(key, 'api_key'),
      ...systemOf(courier, encrypt),
      air_freight_rate: n % 3 === 0 ? '1.75' : '0',
      created_at: openedIso,
      updated_at: openedIso,
    };
  });
}

/** The courier's own system. Names under .invalid have no address, so nothing leaves the machine. */
function systemOf(
  { webhooks, code }: PlannedCourier,
  encrypt: (text: string, field: 'api_token' | 'webhook_secret') => string,
): Row {
  const urlOf = (path: string) => (webhooks ? `https://hooks.${code.toLowerCase()}.invalid/${path}` : null);
  return {
    api_url_add_package: urlOf('packages/add'),
    api_url_update_package: urlOf('packages/update'),
    api_url_get_customers: webhooks === 'flat' ? urlOf('customers') : null,
    add_package_format: webhooks ?? 'event',
    update_package_format: webhooks ?? 'event',
    api_token_cipher: webhooks ? encrypt(`token-of-${code.toLowerCase()}-system`, 'api_token') : null,
    webhook_secret_cipher: webhooks
      ? encrypt(`whsec_${Buffer.from(code.repeat(11).slice(0, 32)).toString('base64')}`, 'webhook_secret')
      : null,
  };
}

export function userRows(plan: TenantPlan, { passwordHash }: Credentials): Row[] {
  const { staff, couriers, operator, openedMs } = plan;
  const people = [
    { id: staff.admin, username: 'admin', full_name: 'Marguerite Baptiste', role: 'admin' },
    { id: staff.manager, username: 'manager', full_name: 'Delroy Whittingham', role: 'manager' },
    { id: staff.warehouse, username: 'warehouse', full_name: 'Keisha Ramlogan', role: 'warehouse' },
    { id: staff.evening, username: 'evening', full_name: 'Andre Cumberbatch', role: 'warehouse' },
  ].map((person) => ({ ...person, courier_id: null, email: `${person.username}@${operator.slug}.example` }));
  const ofCouriers = couriers.map(({ id, userId, code, name }) => ({
    ...{ id: userId, username: code.toLowerCase(), full_name: name, role: 'courier', courier_id: id },
    email: `desk@${code.toLowerCase()}.example`,
  }));
  return [...people, ...ofCouriers].map((person) => ({
    ...{ tenant_id: plan.id, ...person, password_hash: passwordHash, is_active: true },
    ...{ created_at: iso(openedMs), updated_at: iso(openedMs) },
  }));
}

/** The tenant's fees, and the higher ones of every fourth courier. */
export function tierRows({ id, couriers }: TenantPlan): Row[] {
  const rowsOf = (courierId: string | null, surcharge: number) =>
    globalTiers().map(({ startLb, endLb, feeUsd }) => ({
      tenant_id: id,
      courier_id: courierId,
      ...{ start_weight_lb: startLb, end_weight_lb: endLb, fee_usd: (Number(feeUsd) + surcharge).toFixed(2) },
    }));
  const own = couriers.filter((_, n) => n % 4 === 1).flatMap((courier) => rowsOf(courier.id, 1.5));
  return [...rowsOf(null, 0), ...own];
}

export function customerRows({ id, random, couriers, openedMs, startMs }: TenantPlan): Row[] {
  const days = Math.floor((startMs - openedMs) / DAY_MS);
  return couriers.flatMap((courier) =>
    courier.customers.map(({ userCode, firstName, lastName, email, branch }) => {
      const createdAt = iso(
        openedMs + random.whole(0, days - 1) * DAY_MS + random.whole(36_000, 72_000) * 1_000,
      );
      return {
        ...{
          tenant_id: id,
          id: random.id(Date.parse(createdAt)),
          courier_id: courier.id,
          user_code: userCode,
        },
        ...{ first_name: firstName, last_name: lastName, is_active: true },
        branch: random.isOne(94) ? branch : null,
        email: random.isOne(90) ? email : null,
        created_at: createdAt,
        updated_at: createdAt,
      };
    }),
  );
}
