import { PUBLISHED } from '../../config/published.js';
import { demoId } from './values/ids.js';

const packages = (...numbers: number[]) => numbers.map((n) => demoId('demo', 'package', n));
const prealerts = (...numbers: number[]) => numbers.map((n) => demoId('demo', 'prealert', n));

/** Stable ids and credentials of the demo data, for tests and examples. */
export const DEMO = {
  /** The password of every user. */
  password: PUBLISHED.password,
  /** The tracking number of the first pre-alert, which `npm start` prints. */
  announcedNumber: '5870824153',
  /** The authenticator secret of the user `guarded`, in base 32. */
  totpSecret: PUBLISHED.totpSecret,
  hosts: { demo: '*', two: 'two.localhost' },
  tenants: PUBLISHED.tenantIds,
  users: {
    admin: demoId('demo', 'user', 1),
    manager: demoId('demo', 'user', 2),
    warehouse: demoId('demo', 'user', 3),
    iex: demoId('demo', 'user', 4),
    hrb: demoId('demo', 'user', 5),
    disabled: demoId('demo', 'user', 6),
    guarded: demoId('demo', 'user', 7),
  },
  usersOfTwo: { admin: demoId('two', 'user', 1), two: demoId('two', 'user', 2) },
  couriers: {
    IEX: demoId('demo', 'courier', 1),
    HRB: demoId('demo', 'courier', 2),
    TWO: demoId('two', 'courier', 1),
  },
  apiKeys: PUBLISHED.apiKeys,
  warehouses: {
    primary: demoId('demo', 'warehouse', 1),
    second: demoId('demo', 'warehouse', 2),
    two: demoId('two', 'warehouse', 1),
  },
  manifests: { draft: demoId('demo', 'manifest', 1), shipped: demoId('demo', 'manifest', 2) },
  /** All of them belong to courier IEX. */
  bills: {
    paid: demoId('demo', 'bill', 1),
    published: demoId('demo', 'bill', 2),
    draft: demoId('demo', 'bill', 3),
  },
  packages: {
    /** Received, on no manifest, with a known customer. */
    available: { IEX: packages(1, 3, 4, 25, 27, 28), HRB: packages(26, 29, 32, 35, 38, 41) },
    aboardDraft: { IEX: packages(6, 7, 9), HRB: packages(5, 8, 11) },
    shipped: { IEX: packages(60, 61, 63), HRB: packages(65, 68, 71) },
    /** Received, on no manifest, with a known courier and an unknown customer. */
    customerUnknown: { IEX: packages(22, 182), HRB: packages(142, 222) },
    /** Received, on no manifest, without courier and customer. */
    ownerUnknown: packages(2, 42, 122),
    two: [1, 2, 3].map((n) => demoId('two', 'package', n)),
  },
  prealerts: {
    pending: { IEX: prealerts(1, 2, 3, 4, 5), HRB: prealerts(15, 16, 17) },
    received: { IEX: prealerts(121, 123, 124), HRB: prealerts(125, 128, 131) },
    flagged: { IEX: prealerts(201, 203, 205), HRB: prealerts(202, 204, 206) },
    two: [1, 2, 3].map((n) => demoId('two', 'prealert', n)),
  },
} as const;

export type CourierCode = keyof typeof DEMO.couriers;

/** The backup codes of the user `guarded`. Each is valid for one login. */
export const DEMO_BACKUP_CODES = [
  ...['7KQ2-M9XT', 'H4VW-3PRC', 'N8BD-6JYF', 'T2GX-W5KA', 'Q9CM-4HZE'],
  ...['B6RP-8VND', 'X3TJ-Y7QG', 'F5WK-2CMB', 'Z8HA-9DTR', 'J4NE-6XVP'],
];
