import type { TextKey } from './texts/en.js';

export type StaffPageId = 'receive' | 'putaway' | 'load' | 'find' | 'manifests' | 'flagged' | 'today';

export type CourierPageId =
  | 'home'
  | 'parcels'
  | 'unknown'
  | 'claims'
  | 'announce'
  | 'customers'
  | 'syncs'
  | 'bills'
  | 'month'
  | 'statement'
  | 'developers'
  | 'webhooks'
  | 'tokens'
  | 'calls'
  | 'feeds'
  | 'events'
  | 'team'
  | 'profile';

export type PageId = StaffPageId | CourierPageId;

type Role = 'admin' | 'manager' | 'warehouse' | 'courier';

export type PageInfo = {
  id: PageId;
  title: TextKey;
  roles: readonly Role[];
  /** The page of the menu that this one is a part of. */
  under?: PageId;
  /** The operations without which the page is of no use. A test compares them with the permissions of the roles. */
  operations: readonly string[];
};

const STAFF = ['admin', 'manager', 'warehouse'] as const;
const COURIER = ['courier'] as const;

// oxfmt-ignore
/** The menu, in its order: Alt and the digit of a place open a page, so a new page comes last. The service enforces the permissions. */
export const PAGES: PageInfo[] = [
  { id: 'receive', title: 'receive.title', roles: STAFF, operations: ['resolveScan', 'listPrealerts', 'sendScans', 'updatePackage', 'listWarehouses', 'getPackageLabel', 'createLabelJobs', 'listLabelJobs', 'reprintLabelJob', 'searchCustomers'] },
  { id: 'load', title: 'load.title', roles: STAFF, operations: ['listManifests', 'getManifestLoading', 'manageManifest', 'sendScans'] },
  { id: 'find', title: 'find.title', roles: STAFF, operations: ['resolveScan', 'listPackages', 'listPackageEvents', 'getPackageLabel', 'updatePackage', 'voidReceipt', 'searchCustomers'] },
  { id: 'manifests', title: 'manifests.title', roles: STAFF, operations: ['listManifests', 'getManifest', 'getManifestDocument', 'createManifest', 'manageManifest', 'getManifestLoading', 'listManifestChanges', 'listPackages', 'resolveScan', 'listPrealerts'] },
  { id: 'flagged', title: 'flagged.title', roles: STAFF, operations: ['listPrealerts', 'reviewPrealert', 'resolveScan', 'listPackages', 'updatePackage', 'searchCustomers'] },
  { id: 'today', title: 'today.title', roles: STAFF, operations: ['listPackages', 'listPrealerts'] },
  { id: 'putaway', title: 'putaway.title', roles: STAFF, operations: ['listLocations', 'sendScans'] },
  { id: 'home', title: 'courierPage.home', roles: COURIER, operations: ['getCourierSetUp', 'getAttention', 'getPackageStatistics', 'previewCourierInvoice'] },
  { id: 'parcels', title: 'parcels.title', roles: COURIER, operations: ['listPackages', 'listPackageEvents', 'getPackage', 'exportPackagesCsv', 'exportPackagesXlsx', 'updatePackage', 'getTrackingLink', 'manageTrackingLinks'] },
  { id: 'unknown', title: 'courierPage.unknown', roles: COURIER, operations: ['listPackages', 'getPackage', 'updatePackage', 'searchCustomers'] },
  { id: 'claims', title: 'courierPage.claims', under: 'unknown', roles: COURIER, operations: ['claimParcel', 'addClaimDocument', 'getClaimDocument', 'listParcelClaims', 'searchCustomers'] },
  { id: 'announce', title: 'announce.title', roles: COURIER, operations: ['createPrealert', 'listPrealerts', 'listMissingPrealerts', 'replacePrealert', 'deletePrealert', 'setPrealertCarrier', 'uploadPrealerts', 'searchCustomers'] },
  { id: 'customers', title: 'courierPage.customers', roles: COURIER, operations: ['listCustomers', 'createCustomer', 'updateCustomer', 'deleteCustomer', 'uploadCustomers', 'exportCustomersCsv', 'exportCustomersXlsx'] },
  { id: 'syncs', title: 'courierPage.syncs', under: 'customers', roles: COURIER, operations: ['syncCustomers', 'listCustomerSyncs'] },
  { id: 'bills', title: 'bills.title', roles: COURIER, operations: ['listCourierBills', 'getCourierBill', 'downloadCourierBill'] },
  { id: 'month', title: 'courierPage.month', under: 'bills', roles: COURIER, operations: ['previewCourierInvoice'] },
  { id: 'statement', title: 'courierPage.statement', under: 'bills', roles: COURIER, operations: ['getCourierStatement'] },
  { id: 'developers', title: 'courierPage.developers', roles: COURIER, operations: ['getCourierSettings', 'regenerateApiKey', 'rotateWebhookSecret', 'endPreviousWebhookSecret', 'createIntegrationCheck', 'listIntegrationChecks', 'getSandbox', 'manageSandbox'] },
  { id: 'webhooks', title: 'webhooks.title', under: 'developers', roles: COURIER, operations: ['getCourierSettings', 'updateCourierSettings', 'listWebhookDeliveries', 'getWebhookDelivery', 'manageWebhookDeliveries', 'createIntegrationCheck', 'listIntegrationChecks'] },
  { id: 'tokens', title: 'tokens.title', under: 'developers', roles: COURIER, operations: ['listServiceTokens', 'manageServiceTokens'] },
  { id: 'calls', title: 'calls.title', under: 'developers', roles: COURIER, operations: ['listApiCalls'] },
  { id: 'feeds', title: 'feeds.title', under: 'developers', roles: COURIER, operations: ['listFeeds', 'manageFeeds', 'listFeedRefusals'] },
  { id: 'events', title: 'eventFeed.title', under: 'developers', roles: COURIER, operations: ['listEvents'] },
  { id: 'team', title: 'courierPage.team', roles: COURIER, operations: ['listTeam', 'manageTeam'] },
  { id: 'profile', title: 'courierPage.profile', roles: COURIER, operations: ['getCourierSettings', 'updateCourierSettings', 'uploadLogo', 'deleteLogo', 'getTrackingSettings', 'updateTrackingSettings'] },
];

/** Returns the pages of a role. A role that a later version adds has none. */
export const pagesOf = (role: string): PageInfo[] =>
  PAGES.filter(({ roles }) => (roles as readonly string[]).includes(role));

/** Returns those of the menu. */
export const inMenu = (pages: PageInfo[]): PageInfo[] => pages.filter(({ under }) => !under);
