import type { TextKey } from '../texts/en.js';
import type { OfficeKey } from './texts/en.js';

export type OfficePageId =
  | 'home'
  | 'parcels'
  | 'places'
  | 'manifests'
  | 'unknown'
  | 'customers'
  | 'couriers'
  | 'announcements'
  | 'bills'
  | 'rates'
  | 'webhooks'
  | 'reports'
  | 'team'
  | 'settings'
  | 'audit'
  | 'me';

type OfficeRole = 'admin' | 'manager' | 'warehouse';

export type OfficePage = {
  /** Also the first part of its address, `/console/<id>`. */
  id: OfficePageId;
  title: OfficeKey | TextKey;
  roles: readonly OfficeRole[];
  /** The operations without which the page is of no use. A test compares them with the permissions of the roles. */
  operations: readonly string[];
  /** Those of parts that only administrators see. */
  adminOperations?: readonly string[];
};

const OFFICE = ['admin', 'manager'] as const;
const ADMIN = ['admin'] as const;
const STAFF = ['admin', 'manager', 'warehouse'] as const;

// oxfmt-ignore
/** The menu of the office, in its order. The service enforces the permissions. */
export const OFFICE_PAGES: OfficePage[] = [
  { id: 'home', title: 'home.title', roles: OFFICE, operations: ['getPackageStatistics', 'getAttention', 'listManifests'] },
  { id: 'parcels', title: 'officeParcels.title', roles: OFFICE, operations: ['listPackages', 'getPackage', 'listPackageEvents', 'listPackageChanges', 'recordPackageEvent', 'updatePackage', 'voidReceipt', 'exportPackagesCsv', 'exportPackagesXlsx', 'queueDispatch', 'listManifests', 'manageManifest', 'createLabelJobs', 'listLabelJobs', 'getPackageLabel', 'listWebhookDeliveries', 'manageWebhookDeliveries', 'resolveScan', 'listCouriers', 'listCarriers', 'getTrackingLink', 'manageTrackingLinks'] },
  { id: 'places', title: 'places.title', roles: OFFICE, operations: ['listLocations', 'listWarehouses'] },
  { id: 'manifests', title: 'manifests.title', roles: OFFICE, operations: ['listManifests', 'getManifest', 'getManifestDocument'] },
  { id: 'unknown', title: 'unknown.title', roles: STAFF, operations: ['listUnknownParcels', 'listParcelClaims', 'getClaimDocument', 'reviewParcelClaim', 'searchCustomers', 'updatePackage'] },
  { id: 'customers', title: 'customers.title', roles: OFFICE, operations: ['listCustomers', 'createCustomer', 'updateCustomer', 'deleteCustomer', 'uploadCustomers', 'exportCustomersCsv', 'exportCustomersXlsx', 'syncCustomers', 'listCustomerSyncs', 'listCouriers'] },
  { id: 'couriers', title: 'couriers.title', roles: OFFICE, operations: ['listCouriers', 'manageCouriers', 'getCourierSettings', 'updateCourierSettings', 'uploadLogo', 'deleteLogo', 'regenerateApiKey', 'rotateWebhookSecret', 'endPreviousWebhookSecret', 'getCourierRates', 'manageCourierRates', 'previewRates', 'manageWebhookDeliveries', 'createIntegrationCheck', 'listIntegrationChecks', 'listApiCalls', 'listFeeds', 'manageFeeds', 'listFeedRefusals', 'listServiceTokens', 'manageServiceTokens', 'getSandbox', 'manageSandbox', 'listCourierBills', 'downloadCourierBill', 'getCourierStatement', 'getPaymentTerms', 'updatePaymentTerms', 'getTrackingSettings', 'updateTrackingSettings'] },
  { id: 'announcements', title: 'announcements.title', roles: OFFICE, operations: ['listPrealerts', 'listMissingPrealerts', 'createPrealert', 'replacePrealert', 'deletePrealert', 'uploadPrealerts', 'reviewPrealert', 'resolveScan', 'updatePackage', 'searchCustomers', 'listCouriers'] },
  { id: 'bills', title: 'bills.title', roles: OFFICE, operations: ['listCourierBills', 'getCourierBill', 'manageCourierBills', 'downloadCourierBill', 'previewCourierInvoice', 'getBillingReconciliation', 'listBillingRun', 'manageBillingRun', 'sendBill', 'listBillMails', 'listCourierStatements', 'listCouriers'] },
  { id: 'rates', title: 'rates.title', roles: OFFICE, operations: ['getCourierRates', 'manageCourierRates', 'previewRates'] },
  { id: 'webhooks', title: 'webhooks.title', roles: OFFICE, operations: ['listWebhookHealth', 'listDispatches', 'listWebhookDeliveries', 'getWebhookDelivery', 'manageWebhookDeliveries', 'listCouriers'] },
  { id: 'reports', title: 'reports.title', roles: OFFICE, operations: ['getPackageStatistics', 'getWorkStatistics', 'listCouriers'] },
  { id: 'team', title: 'team.title', roles: OFFICE, operations: ['listTeam', 'manageTeam', 'listCouriers'], adminOperations: ['listUsers', 'manageUsers', 'listSessions', 'manageSessions'] },
  { id: 'settings', title: 'settings.title', roles: OFFICE, operations: ['listWarehouses', 'manageWarehouses', 'listCarriers', 'manageCarriers', 'listStations', 'listLabelJobs', 'reprintLabelJob', 'getPaymentTerms', 'updatePaymentTerms'], adminOperations: ['getTenantSettings', 'updateTenantSettings', 'getSecuritySettings', 'updateSecuritySettings', 'listServiceTokens', 'manageServiceTokens'] },
  { id: 'audit', title: 'audit.title', roles: ADMIN, operations: ['listAuditEntries', 'verifyAuditLog'] },
  { id: 'me', title: 'me.title', roles: OFFICE, operations: ['changePassword', 'manageTwoFactor', 'listSessions', 'manageSessions'] },
];

/** Whether a role works in the office. It begins there, and can switch to the station. Warehouse users have single pages of it only. */
export const hasOffice = (role: string): boolean => role === 'admin' || role === 'manager';

/** Returns the pages of a role. */
export const officePagesOf = (role: string): OfficePage[] =>
  OFFICE_PAGES.filter(({ roles }) => (roles as readonly string[]).includes(role));
