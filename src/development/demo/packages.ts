import { checkCharacter } from '../../modules/packages/intake/house-number.js';
import { trackingKey } from '../../modules/tracking-numbers/tracking-key.js';
import { daysBefore } from './values/calendar.js';
import { activeCount, customer } from './customers.js';
import { type CourierCode, DEMO } from './demo.js';
import { type SeededRandom, seededRandom } from './values/seeded-random.js';
import { goods, parcel } from './values/goods.js';
import { demoId, type TenantSlug } from './values/ids.js';
import { FLIGHT_DAYS } from './manifests.js';
import { CARRIERS } from '../reference/companies.js';
import { scannedNumber, shortNumber } from '../reference/tracking-numbers.js';

/** The fixed properties of the n-th package. The seeded random generator chooses the others. */
export type Intake = {
  tenant: TenantSlug;
  n: number;
  warehouseId: string;
  courier: CourierCode | null;
  isCustomerKnown: boolean;
  /** 1 to 59, so that at any hour no package is from today or older than 60 days. */
  daysAgo: number;
  manifest: 'draft' | 'shipped' | null;
  isAnnounced: boolean;
};

export type PackageRow = ReturnType<typeof packageRow>;

export function packageRow(intake: Intake, now: Date) {
  const { tenant, n, courier, manifest } = intake;
  const random = seededRandom(tenant === 'demo' ? n : 50_000 + n);
  const carrierNumber = random.whole(0, CARRIERS.length - 1);
  const carrier = CARRIERS[carrierNumber] ?? 'USPS';
  const trackingNumber = scannedNumber(carrier, shortNumber(carrier, random), random);
  const { weightLb, lengthIn, widthIn, heightIn, packageType } = parcel(random);
  const owner =
    courier && intake.isCustomerKnown ? customer(courier, random.whole(1, activeCount(courier))) : null;
  const receivedAt = daysBefore(now, intake.daysAgo, random.whole(780, 1319));
  return {
    tenant_id: DEMO.tenants[tenant],
    id: demoId(tenant, 'package', n),
    courier_id: courier && DEMO.couriers[courier],
    user_code: owner?.userCode ?? null,
    first_name: owner?.firstName ?? null,
    last_name: owner?.lastName ?? null,
    tracking_number: trackingNumber,
    tracking_key: trackingKey(trackingNumber),
    house_number: houseNumber(random),
    weight_lb: weightLb,
    length_in: lengthIn,
    width_in: widthIn,
    height_in: heightIn,
    package_type: packageType,
    ...goods(random),
    status: manifest === 'shipped' ? 'shipped' : 'received',
    carrier_id: demoId(tenant, 'carrier', carrierNumber + 1),
    warehouse_id: intake.warehouseId,
    manifest_id: manifest && DEMO.manifests[manifest],
    prealert_id: intake.isAnnounced ? demoId(tenant, 'prealert', n) : null,
    received_at: receivedAt,
    updated_at: manifest ? daysBefore(now, ...FLIGHT_DAYS[manifest].changed) : receivedAt,
  };
}

// Uses the seeded generator instead of newHouseNumber. A test validates the result with isHouseNumber.
function houseNumber(random: SeededRandom): string {
  const serial = Array.from({ length: 6 }, () => random.pick([...'23456789ABCDEFGHJKMNPQRSTUVWXYZ'])).join(
    '',
  );
  return serial + checkCharacter(serial);
}
