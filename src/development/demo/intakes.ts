import { type CourierCode, DEMO } from './demo.js';
import type { Intake } from './packages.js';

const DEMO_PACKAGES = 500;
const PACKAGES_OF_TWO = 8;

/** The demo tenant's packages, newest first. */
export function demoIntakes(): Intake[] {
  return count(DEMO_PACKAGES).map((n) => ({
    tenant: 'demo',
    n,
    warehouseId: n % 25 === 0 ? DEMO.warehouses.second : DEMO.warehouses.primary,
    courier: courierOf(n),
    isCustomerKnown: isCustomerKnown(n),
    daysAgo: 1 + Math.floor(((n - 1) * 59) / DEMO_PACKAGES),
    manifest: manifestOf(n),
    isAnnounced: isAnnounced(n),
  }));
}

export function intakesOfTwo(): Intake[] {
  return count(PACKAGES_OF_TWO).map((n) => ({
    tenant: 'two',
    n,
    warehouseId: DEMO.warehouses.two,
    courier: 'TWO',
    isCustomerKnown: true,
    daysAgo: n * 7,
    manifest: null,
    isAnnounced: n === 3,
  }));
}

const count = (total: number) => Array.from({ length: total }, (_, index) => index + 1);

// Every twentieth package has no customer (2, 22, 42 ...), and every other one of those has no courier either.
const isCustomerKnown = (n: number) => n % 20 !== 2;

function courierOf(n: number): CourierCode | null {
  if (n % 40 === 2) return null;
  if (n % 40 === 22) return n % 80 === 22 ? 'IEX' : 'HRB';
  return n % 3 === 2 ? 'HRB' : 'IEX';
}

// The draft manifest has packages of the last three days, the shipped one has packages of the second week.
function manifestOf(n: number): Intake['manifest'] {
  if (!isCustomerKnown(n)) return null;
  if (n >= 5 && n <= 24) return 'draft';
  return n >= 60 && n <= 119 ? 'shipped' : null;
}

const isAnnounced = (n: number) => n >= 121 && n <= 150 && isCustomerKnown(n);
