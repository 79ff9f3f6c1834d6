import type { TextKey } from './texts/en.js';

export type PageId =
  | 'receive'
  | 'load'
  | 'find'
  | 'manifests'
  | 'flagged'
  | 'today'
  | 'parcels'
  | 'announce'
  | 'webhooks'
  | 'tokens'
  | 'bills';

type Role = 'admin' | 'manager' | 'warehouse' | 'courier';

export type PageInfo = {
  id: PageId;
  title: TextKey;
  roles: readonly Role[];
  /** The operations without which the page is of no use. A test compares them with the permissions of the roles. */
  operations: readonly string[];
};

const STAFF = ['admin', 'manager', 'warehouse'] as const;
const COURIER = ['courier'] as const;

// oxfmt-ignore
/** The menu, in its order. The service enforces the permissions. */
export const PAGES: PageInfo[] = [
  { id: 'receive', title: 'receive.title', roles: STAFF, operations: ['resolveScan', 'listPrealerts', 'sendScans', 'updatePackage', 'listWarehouses', 'getPackageLabel', 'createLabelJobs', 'listLabelJobs', 'reprintLabelJob', 'searchCustomers'] },
  { id: 'load', title: 'load.title', roles: STAFF, operations: ['listManifests', 'getManifestLoading', 'manageManifest', 'sendScans'] },
  { id: 'find', title: 'find.title', roles: STAFF, operations: ['resolveScan', 'listPackages', 'listPackageEvents', 'getPackageLabel', 'updatePackage', 'searchCustomers'] },
  { id: 'manifests', title: 'manifests.title', roles: STAFF, operations: ['listManifests', 'getManifest', 'createManifest', 'manageManifest', 'listPackages', 'resolveScan', 'listPrealerts'] },
  { id: 'flagged', title: 'flagged.title', roles: STAFF, operations: ['listPrealerts', 'reviewPrealert', 'resolveScan', 'listPackages', 'updatePackage', 'searchCustomers'] },
  { id: 'today', title: 'today.title', roles: STAFF, operations: ['listPackages', 'listPrealerts'] },
  { id: 'parcels', title: 'parcels.title', roles: COURIER, operations: ['listPackages', 'listPackageEvents'] },
  { id: 'announce', title: 'announce.title', roles: COURIER, operations: ['createPrealert', 'listPrealerts', 'searchCustomers'] },
  { id: 'webhooks', title: 'webhooks.title', roles: COURIER, operations: ['getCourierSettings', 'updateCourierSettings', 'listWebhookDeliveries', 'manageWebhookDeliveries'] },
  { id: 'tokens', title: 'tokens.title', roles: COURIER, operations: ['listServiceTokens', 'manageServiceTokens'] },
  { id: 'bills', title: 'bills.title', roles: COURIER, operations: ['listCourierBills', 'downloadCourierBill'] },
];

/** Returns the pages of a role. A role that a later version adds has none. */
export const pagesOf = (role: string): PageInfo[] =>
  PAGES.filter(({ roles }) => (roles as readonly string[]).includes(role));
