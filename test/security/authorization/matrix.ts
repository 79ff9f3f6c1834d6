import { operations } from '../../../generated/operations.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import type { Principal } from '../../support/service/principals.js';

/** Owner of the record that a call names, relative to the caller. */
export const KINDS = ['own', 'sibling', 'other', 'unknown', 'malformed'] as const;
export type Kind = (typeof KINDS)[number];

export const GROUPS = {
  anonymous: 'unauthenticated',
  'garbage token': 'unauthenticated',
  'expired token': 'unauthenticated',
  admin: 'admins',
  manager: 'managers',
  warehouse: 'warehouse',
  iex: 'couriers',
  hrb: 'couriers',
  disabled: 'disabled',
  'two/admin': 'admins',
  'two/two': 'couriers',
  'key IEX': 'keys',
  'key TWO': 'keys',
  'token IEX': 'courier tokens',
  'token staff': 'staff tokens',
} as const satisfies Record<Principal, string>;

type Group = (typeof GROUPS)[Principal];

/**
 * Statuses for own, sibling's, other tenant's, unknown and malformed ids; a single one if the call names no
 * record.
 */
type Statuses = `${number}` | `${number} ${number} ${number} ${number} ${number}`;

/**
 * Statuses for the groups with a user's token. The other groups are rejected for their credential and
 * administrators get the statuses of managers, unless `others` says otherwise.
 */
type Row = [
  managers: Statuses,
  warehouse: Statuses,
  couriers: Statuses,
  others?: Partial<Record<Group, Statuses>>,
];

/** A missing operation is a compile error. */
export type Matrix = Record<OperationId, Record<string, Row>>;

const ALL = '200 200 200 200 400';
const S401 = '401 401 401 401 401';
const S403 = '403 403 403 403 403';
const S422 = '422 422 422 422 422';

const KEYS_ONLY: Row = [S401, S401, S401, { disabled: S401, keys: '201 400 400 400 400' }];
const forEverybody = (statuses: Statuses): Row => [
  statuses,
  statuses,
  statuses,
  { disabled: statuses, keys: statuses, unauthenticated: statuses },
];

/** For what no scope permits: settings but webhook URLs, and dispatches by the operation that lists packages. */
const NO_TOKENS: Row[3] = {
  'courier tokens': '403 403 403 403 400',
  'staff tokens': '403 403 403 403 400',
};

const adminsOnly = (statuses: Statuses): Row => [S403, S403, S403, { admins: statuses }];
const OWN_ACCOUNT: Row = ['400', '400', '400', { disabled: '403', keys: '401', unauthenticated: '401' }];

/**
 * The status of each operation for each group and kind of id. An operation has one case for each place that
 * accepts an id.
 */
// oxfmt-ignore
export const MATRIX = {
  //                                     managers               warehouse              couriers
  submitPrealert: {
    'submitPrealert':                    KEYS_ONLY,
    'submitPrealert with a line':        [S401, S401, S401, { disabled: S401, keys: '200 200 200 200 200' }],
  },
  submitPrealertWithoutSuffix: {
    'submitPrealertWithoutSuffix':       KEYS_ONLY,
  },
  listPrealerts: {
    'listPrealerts of a courier':        [ALL,                   ALL,                   ALL],
  },
  createPrealert: {
    'createPrealert':                    ['201 201 404 404 400', '201 201 404 404 400', '201 400 400 400 400'],
  },
  replacePrealert: {
    'replacePrealert':                   ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  listMissingPrealerts: {
    'listMissingPrealerts of a courier': [ALL,                   ALL,                   ALL],
  },
  setPrealertCarrier: {
    'setPrealertCarrier':                ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  deletePrealert: {
    'deletePrealert':                    ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  listCustomers: {
    'listCustomers of a courier':        [ALL,                   ALL,                   ALL],
    'listCustomers, the branches of a courier': [ALL,            ALL,                   ALL],
  },
  searchCustomers: {
    'searchCustomers of a courier':      [ALL,                   ALL,                   ALL],
    'searchCustomers of a courier, advanced': [ALL,              ALL,                   ALL],
  },
  createCustomer: {
    // for couriers, the courier of the caller is used whatever id they send
    'createCustomer':                    ['200 200 404 404 400', S403,                  ALL],
  },
  updateCustomer: {
    'updateCustomer':                    ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  deleteCustomer: {
    'deleteCustomer by the query':       ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'deleteCustomer by the body':        ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  login: {
    'login':                             forEverybody(S422),
  },
  resetPassword: {
    'reset with an unknown token':       forEverybody('400'),
  },
  listUsers: {
    'listUsers of a courier':            adminsOnly(ALL),
  },
  // before manageUsers, which moves users to other couriers
  listTeam: {
    'listTeam of a courier':             [ALL,                   S403,                  ALL],
  },
  manageTeam: {
    // a courier's courier_id is ignored
    'create a user of the team':         ['200 200 404 404 400', S403,                  '200 200 200 200 400'],
    'update a user of the team':         ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'change_role of a user of the team': ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'change_role to a courier of the team': ['200 200 404 404 400', S403,               '200 200 200 200 400'],
    'disable a user of the team':        ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'enable a user of the team':         ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'reset_password of a user of the team': ['200 200 404 404 400', S403,               '200 404 404 404 400'],
  },
  manageUsers: {
    'create a user of a courier':        adminsOnly('200 200 404 404 400'),
    'update a user':                     adminsOnly('200 200 404 404 400'),
    'change_role of a user':             adminsOnly('200 200 404 404 400'),
    'change_role to a courier':          adminsOnly('200 200 404 404 400'),
    'disable a user':                    adminsOnly('200 200 404 404 400'),
    'enable a user':                     adminsOnly('200 200 404 404 400'),
    'reset_password of a user':          adminsOnly('200 200 404 404 400'),
    'reset_two_factor of a user':        adminsOnly('200 200 404 404 400'),
  },
  // the caller's own account: the request is rejected for its content
  changePassword: {
    'changePassword':                    OWN_ACCOUNT,
  },
  getDeviceSession: {
    'getDeviceSession':                  ['200', '200', '200', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  createDeviceSession: {
    'createDeviceSession':                ['200', '200', '200', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  listStationWorkers: {
    'listStationWorkers':                forEverybody('200'),
  },
  manageStationWorker: {
    'remember':                          ['403', '200', '403', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  switchWorker: {
    // without the cookie of a station
    'switchWorker':                      forEverybody('401 401 401 401 400'),
  },
  getTwoFactor: {
    'getTwoFactor':                      ['200', '200', '200', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  getPreferences: {
    'getPreferences':                    ['200', '200', '200', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  updatePreferences: {
    'updatePreferences':                 ['200', '200', '200', { disabled: '403', keys: '401', unauthenticated: '401' }],
  },
  manageTwoFactor: {
    'enable without a setup':            OWN_ACCOUNT,
  },
  // sessions of another user: administrators may list and end them
  listSessions: {
    'listSessions of a user':            ['403 403 403 403 400', '403 403 403 403 400', '403 403 403 403 400', { admins: '200 200 404 404 400' }],
  },
  manageSessions: {
    'end_all of a user':                 ['403 403 403 403 400', '403 403 403 403 400', '403 403 403 403 400', { admins: '200 200 404 404 400' }],
    'end an unknown session':            ['404 404 404 404 400', '404 404 404 404 400', '404 404 404 404 400'],
  },
  getSandbox: {
    'getSandbox of a courier':           ['200 200 404 404 400', S403,                  ALL],
  },
  manageSandbox: {
    // for couriers, the courier of the caller is used whatever id they send
    'create a sandbox':                  ['200 200 404 404 400', S403,                  ALL],
    'end a sandbox':                     ['200 200 404 404 400', S403,                  ALL],
  },
  // no sandbox here: test/modules/sandboxes/lives has those of sandboxes
  getSandboxLives: {
    'getSandboxLives':                   ['409',                 '403',                 '409'],
  },
  manageSandboxLives: {
    'stop a life of a parcel':           ['409 409 409 409 400', S403,                  '409 409 409 409 400'],
  },
  listServiceTokens: {
    'listServiceTokens of a courier':    ['200 200 404 404 400', S403,                  ALL],
  },
  manageServiceTokens: {
    // for couriers, the courier of the caller is used whatever id they send
    'create a service token':            ['200 200 404 404 400', S403,                  ALL],
    'update a service token':            ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'rotate a service token':            ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'revoke a service token':            ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  getSecuritySettings: {
    'getSecuritySettings':               adminsOnly('200'),
  },
  getTenantSettings: {
    'getTenantSettings':                 ['200',                 '200',                 '200'],
  },
  updateTenantSettings: {
    'updateTenantSettings':              adminsOnly('200'),
  },
  updateSecuritySettings: {
    'updateSecuritySettings':            adminsOnly('200'),
  },
  receivePackage: {
    'receivePackage for a courier':      ['201 201 404 404 400', '201 201 404 404 400', S403],
    'receivePackage for a customer':     ['201 201 400 400 400', '201 201 400 400 400', S403],
    'receivePackage from a carrier':     ['201 201 404 404 400', '201 201 404 404 400', S403],
    'receivePackage at a warehouse':     ['201 201 404 404 400', '201 201 404 404 400', S403],
  },
  listPackages: {
    'listPackages of a courier':     [ALL,                   ALL,                   ALL],
    'listPackages as a file':        [ALL,                   ALL,                   ALL],
    'queue_dispatch of packages':        [ALL,                   ALL,                   ALL, NO_TOKENS],
    'queue_dispatch of a courier':       [ALL,                   ALL,                   ALL, NO_TOKENS],
    'listPackages of a carrier':     [ALL,                   ALL,                   ALL],
  },
  resolveScan: {
    'resolveScan of a customer':        ['200 200 200 200 200', '200 200 200 200 200', '200 200 200 200 200'],
    'resolveScan of a package':         ['200 200 200 200 200', '200 200 200 200 200', '200 200 200 200 200'],
    'resolveScan of a pre-alert':       ['200 200 200 200 200', '200 200 200 200 200', '200 200 200 200 200'],
    'resolveScan of a manifest':        ['200 200 200 200 200', '200 200 200 200 200', '200 200 200 200 200'],
  },
  sendScans: {
    'sendScans':                         ['200 200 200 200 200', '200 200 200 200 200', S403],
    'sendScans for a courier':           ['200 200 200 200 200', '200 200 200 200 200', S403],
    'sendScans for a manifest':          ['200 200 200 200 200', '200 200 200 200 200', S403],
  },
  updatePackage: {
    'updatePackage':                     ['200 200 404 404 400', '200 200 404 404 400', '200 403 404 404 400'],
    'updatePackage to a number':         ['200 200 404 404 400', '200 200 404 404 400', '403 403 404 404 400'],
    'updatePackage for a customer':      ['200 400 400 400 400', '200 400 400 400 400', '200 400 400 400 400'],
  },
  voidReceipt: {
    'voidReceipt':                       ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  listPackageEvents: {
    'listPackageEvents':                     ['200 200 404 404 400', '200 200 404 404 400', '200 403 404 404 400'],
  },
  recordPackageEvent: {
    'recordPackageEvent':                ['200 200 404 404 400', '200 200 404 404 400', S403],
    'recordPackageEvent of several':     ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  getPackageLabel: {
    'getPackageLabel':                      ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  listLabelJobs: {
    'listLabelJobs before a job':        [ALL,                   ALL,                   S403],
  },
  createLabelJobs: {
    'createLabelJobs':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  claimLabelJobs: {
    'claimLabelJobs':                    ['200',                 '200',                 '403'],
  },
  reportLabelJob: {
    'reportLabelJob':                    ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  reprintLabelJob: {
    'reprintLabelJob':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  reviewPrealert: {
    'reviewPrealert':                    ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  createManifest: {
    'createManifest at a warehouse':     ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  manageManifest: {
    'create_manifest at a warehouse':    ['200 200 404 404 400', '200 200 404 404 400', S403],
    'update_meta':                       ['200 200 404 404 400', '200 200 404 404 400', S403],
    'add_packages to a manifest':        ['200 200 404 404 400', '200 200 404 404 400', S403],
    'add_packages of a courier':         ['200 200 404 404 400', '200 200 404 404 400', S403],
    'remove_packages from a manifest':   ['200 200 404 404 400', '200 200 404 404 400', S403],
    'reopen_manifest':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
    'delete_manifest':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  listManifests: {
    'listManifests':                     ['200',                 '200',                 '200'],
  },
  getManifest: {
    'getManifest':                       ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  getManifestDocument: {
    'getManifestDocument as a PDF':      ['200 200 404 404 400', '200 200 404 404 400', S403],
    'getManifestDocument as lines':      ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  getManifestLoading: {
    'getManifestLoading':                ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  listManifestChanges: {
    'listManifestChanges':               ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  previewCourierInvoice: {
    'previewCourierInvoice':            ['200 200 404 404 400', S403,                  '200 403 403 403 400'],
  },
  listCourierBills: {
    'listCourierBills of a courier':     [ALL,                   S403,                  ALL],
  },
  getCourierBill: {
    'getCourierBill':                    ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'getCourierBill of a draft':         ['200 200 404 404 400', S403,                  '404 404 404 404 400'],
  },
  manageCourierBills: {
    'create_draft of a courier':         ['200 200 404 404 400', S403,                  S403],
    'add_adjustment':                    ['200 200 404 404 400', S403,                  S403],
    'remove_adjustment':                 ['200 200 404 404 400', S403,                  S403],
    'publish':                           ['200 200 404 404 400', S403,                  S403],
    'record_payment':                    ['200 200 404 404 400', S403,                  S403],
    'void_payment':                      ['200 200 404 404 400', S403,                  S403],
    'delete_draft':                      ['200 200 404 404 400', S403,                  S403],
  },
  getCourierStatement: {
    'getCourierStatement':                  ['200 200 404 404 400', S403,                  ALL],
  },
  getBillingReconciliation: {
    'getBillingReconciliation of a courier': ['200 200 404 404 400', S403,                 S403],
  },
  downloadCourierBill: {
    'downloadCourierBill as a PDF':      ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'downloadCourierBill as lines':      ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  getPaymentTerms: {
    'getPaymentTerms of a courier':      ['200 200 404 404 400', S403,                  S403],
  },
  updatePaymentTerms: {
    'updatePaymentTerms of a courier':   ['200 200 404 404 400', S403,                  S403],
  },
  listCourierStatements: {
    'listCourierStatements':             ['200',                 '403',                 '403'],
  },
  listBillMails: {
    'listBillMails':                     ['200 200 404 404 400', S403,                  S403],
  },
  sendBill: {
    'sendBill':                          ['200 200 404 404 400', S403,                  S403],
  },
  listBillingRun: {
    'listBillingRun':                    ['200',                 '403',                 '403'],
  },
  manageBillingRun: {
    'draft of a courier':                [ALL,                   S403,                  S403],
    'publish of a courier':              [ALL,                   S403,                  S403],
    'send of a courier':                 [ALL,                   S403,                  S403],
  },
  getCourierRates: {
    'getCourierRates':                   ['200 200 404 404 400', S403,                  S403],
  },
  manageCourierRates: {
    'save_rates of a courier':           ['200 200 404 404 400', S403,                  S403],
    // the tier belongs to the caller's own courier only
    'save_rates with a tier':            ['200 404 404 404 400', S403,                  S403],
    'copy_default':                      ['200 200 404 404 400', S403,                  S403],
    'delete_rate':                       ['200 200 404 404 400', S403,                  S403],
    'update_air_freight':                ['200 200 404 404 400', S403,                  S403],
  },
  previewRates: {
    'previewRates':                      ['200 200 404 404 400', S403,                  S403],
  },
  getCourierSettings: {
    'getCourierSettings':                ['200 200 404 404 400', S403,                  ALL],
  },
  getCourierSetUp: {
    'getCourierSetUp':                   ['200 200 404 404 400', S403,                  ALL],
  },
  listWebhookDeliveries: {
    'listWebhookDeliveries of a courier': [ALL,                  S403,                  ALL],
    'listWebhookDeliveries of an event': [ALL,                   S403,                  ALL],
    'listWebhookDeliveries of a package': [ALL,                  S403,                  ALL],
  },
  manageWebhookDeliveries: {
    'redeliver':                         ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'recover_since':                     ['200 200 404 404 400', S403,                  ALL],
    'redeliver_matching':                ['200 200 404 404 400', S403,                  ALL],
    'send_test':                         ['200 200 404 404 400', S403,                  ALL],
  },
  listEvents: {
    'listEvents':                        ['200 200 404 404 400', S403,                  ALL],
  },
  getWebhookDelivery: {
    'getWebhookDelivery':                ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  listWebhookHealth: {
    'listWebhookHealth of a courier':    [ALL,                   S403,                  ALL],
  },
  createIntegrationCheck: {
    'createIntegrationCheck':            ['200 200 404 404 400', S403,                  ALL],
  },
  listIntegrationChecks: {
    'listIntegrationChecks of a courier': [ALL,                  S403,                  ALL],
  },
  listApiCalls: {
    'listApiCalls of a courier':         [ALL,                   S403,                  ALL],
  },
  listDispatches: {
    'listDispatches':                    [ALL,                   ALL,                   ALL],
  },
  listAuditEntries: {
    'listAuditEntries of a package':         adminsOnly(ALL),
    'listAuditEntries of a courier’s key':   adminsOnly(ALL),
    'listAuditEntries before an entry':      adminsOnly(ALL),
  },
  verifyAuditLog: {
    'verifyAuditLog':                    adminsOnly('200'),
  },
  exportCustomersCsv: {
    'exportCustomersCsv of a courier':   [ALL,                   ALL,                   ALL],
  },
  exportCustomersXlsx: {
    'exportCustomersXlsx of a courier':  [ALL,                   ALL,                   ALL],
  },
  exportPackagesCsv: {
    'exportPackagesCsv of a courier':    [ALL,                   ALL,                   ALL],
    'exportPackagesCsv of a carrier':    [ALL,                   ALL,                   ALL],
  },
  exportPackagesXlsx: {
    'exportPackagesXlsx of a courier':   [ALL,                   ALL,                   ALL],
    'exportPackagesXlsx of a carrier':   [ALL,                   ALL,                   ALL],
  },
  queueDispatch: {
    'queueDispatch of packages':         [ALL,                   ALL,                   ALL],
    'queueDispatch of a courier':        [ALL,                   ALL,                   ALL],
  },
  getPackageStatistics: {
    'getPackageStatistics of a courier': [ALL,                   ALL,                   ALL],
  },
  getWorkStatistics: {
    'getWorkStatistics of a courier':    [ALL,                   S403,                  S403],
  },
  getPackage: {
    'getPackage':                        ['200 200 404 404 404', '200 200 404 404 404', '200 404 404 404 404'],
  },
  listPackageChanges: {
    'listPackageChanges':                ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  listLocations: {
    'listLocations':                     ['200',                 '200',                 '403'],
  },
  listStations: {
    'listStations':                      ['200',                 '200',                 '403'],
  },
  rotateWebhookSecret: {
    'rotateWebhookSecret':               ['200 200 404 404 400', S403,                  ALL],
  },
  endPreviousWebhookSecret: {
    'endPreviousWebhookSecret':          ['200 200 404 404 400', S403,                  ALL],
  },
  deleteLogo: {
    'deleteLogo':                        ['200 200 404 404 400', S403,                  ALL],
  },
  uploadLogo: {
    'uploadLogo':                        ['200 200 404 404 400', S403,                  ALL],
  },
  // the API keys are last, because they invalidate the demo keys that earlier cases need
  updateCourierSettings: {
    'updateCourierSettings of a profile': ['200 200 404 404 400', S403,                 ALL, NO_TOKENS],
    'updateCourierSettings of a logo':   ['200 200 404 404 400', S403,                  ALL, NO_TOKENS],
    'updateCourierSettings of a secret': ['200 200 404 404 400', S403,                  ALL],
    'updateCourierSettings of a key':    ['200 200 404 404 400', S403,                  ALL, NO_TOKENS],
  },
  regenerateApiKey: {
    'regenerateApiKey':                  ['200 200 404 404 400', S403,                  ALL],
  },
  getCourierLogo: {
    'getCourierLogo':                    forEverybody('200 200 404 404 400'),
  },
  syncCustomers: {
    'syncCustomers of a courier':        ['200 200 404 404 400', S403,                  ALL],
  },
  listCustomerSyncs: {
    'listCustomerSyncs of a courier':    [ALL,                   ALL,                   ALL],
  },
  listCouriers: {
    'listCouriers':                      ['200',                 '403',                 '403'],
  },
  manageCouriers: {
    'create a courier':                  ['200',                 '403',                 '403'],
    'update a courier':                  ['200 200 404 404 400', S403,                  S403],
    'deactivate a courier':              ['200 200 404 404 400', S403,                  S403],
    'activate a courier':                ['200 200 404 404 400', S403,                  S403],
  },
  listWarehouses: {
    'listWarehouses':                    ['200',                 '200',                 '403'],
  },
  manageWarehouses: {
    'create a warehouse':                ['200',                 '403',                 '403'],
    'update a warehouse':                ['200 200 404 404 400', S403,                  S403],
    'make_primary':                      ['200 200 404 404 400', S403,                  S403],
    'delete a warehouse':                ['200 200 404 404 400', S403,                  S403],
  },
  listCarriers: {
    'listCarriers':                      ['200',                 '200',                 '200'],
  },
  manageCarriers: {
    'create a carrier':                  ['200',                 '403',                 '403'],
    'rename a carrier':                  ['200 200 404 404 400', S403,                  S403],
    'delete a carrier':                  ['200 200 404 404 400', S403,                  S403],
  },
  // after the cases that name a customer by code, because it creates customers with other couriers' codes
  // Before uploadCustomers, which gives couriers the user codes of others.
  uploadPrealerts: {
    // a courier's target_courier_id is ignored
    'uploadPrealerts for a courier':     ['200 200 404 404 400', '200 200 404 404 400', '200 400 400 400 400'],
  },
  uploadCustomers: {
    // a courier's target_courier_id is ignored
    'uploadCustomers for a courier':     ['200 200 404 404 400', S403,                  '200 200 200 200 200'],
    'uploadCustomers with the code of a customer': [ALL,         S403,                  ALL],
  },
  getHealth: {
    'getHealth':                         forEverybody('200'),
  },
  getReadiness: {
    'getReadiness':                      forEverybody('200'),
  },
  getContractJson: {
    'getContractJson':                   forEverybody('200'),
  },
  getSdkContract: {
    'getSdkContract':                    forEverybody('200'),
  },
  getContractYaml: {
    'getContractYaml':                   forEverybody('200'),
  },
  claimParcel: {
    'claimParcel for a courier':         ['201 201 404 404 400', '201 201 404 404 400', '201 400 400 400 400'],
  },
  addClaimDocument: {
    'addClaimDocument':                  ['201 201 404 404 400', '201 201 404 404 400', '201 404 404 404 400'],
  },
  getClaimDocument: {
    'getClaimDocument':                  ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  listParcelClaims: {
    'listParcelClaims before a claim':   [ALL,                   ALL,                   ALL],
  },
  listUnknownParcels: {
    'listUnknownParcels before a parcel': [ALL,                  ALL,                   S403],
  },
  reviewParcelClaim: {
    'approve a claim':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
    'resolve a dispute':                 ['200 200 404 404 400', '200 200 404 404 400', S403],
    'refuse a claim':                    ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  getAttention: {
    'getAttention':                      ['200',                 '200',                 '200'],
  },
  listFeeds: {
    'listFeeds of a courier':            [ALL,                   S403,                  ALL],
  },
  manageFeeds: {
    'create a feed':                     ['200 200 404 404 400', S403,                  ALL],
    'update a feed':                     ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'rotate a feed':                     ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'delete a feed':                     ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  listFeedRefusals: {
    'listFeedRefusals of a courier':     [ALL,                   S403,                  ALL],
  },
  receiveFeedEvent: {
    // without a signature
    'receiveFeedEvent':                  forEverybody('401'),
  },
  getTrackingLink: {
    'getTrackingLink':                   ['200 200 404 404 400', '200 200 404 404 400',  '200 404 404 404 400'],
  },
  manageTrackingLinks: {
    'create a tracking link':            ['200 200 404 404 400', '200 200 404 404 400',  '200 404 404 404 400'],
    'replace a tracking link':           ['200 200 404 404 400', '200 200 404 404 400',  '200 404 404 404 400'],
    'set an amount due':                 ['200 200 404 404 400', '200 200 404 404 400',  '200 404 404 404 400'],
    'end a tracking link':               ['200 200 404 404 400', '200 200 404 404 400',  '200 404 404 404 400'],
  },
  getTrackingSettings: {
    'getTrackingSettings':               ['200 200 404 404 400', S403,                  ALL],
  },
  updateTrackingSettings: {
    'updateTrackingSettings':            ['200 200 404 404 400', S403,                  ALL],
  },
  getTrackingPage: {
    // a key that nobody has
    'getTrackingPage':                   forEverybody('404'),
  },
  getTrackingSearch: {
    // switched off
    'getTrackingSearch':                 forEverybody('404'),
  },
  submitTrackingSearch: {
    'submitTrackingSearch':              forEverybody('404'),
  },
  getNoticeSettings: {
    'getNoticeSettings':                 ['200 200 404 404 400', S403,                  ALL],
  },
  updateNoticeSettings: {
    'updateNoticeSettings':              ['200 200 404 404 400', S403,                  ALL],
  },
  listNotices: {
    'listNotices of a courier':          [ALL,                   ALL,                   ALL],
  },
  getNoticeChoice: {
    // a key that nobody has
    'getNoticeChoice':                   forEverybody('404'),
  },
  submitNoticeChoice: {
    'submitNoticeChoice':                forEverybody('404'),
  },
} satisfies Matrix;

/** A service token with all scopes has the rights of its owner, in the operations that have scopes. */
function tokenStatuses(
  id: string,
  { managers, couriers, keys }: Record<'managers' | 'couriers' | 'keys', Statuses>,
): Record<'courier tokens' | 'staff tokens', Statuses> {
  const operation = Object.values(operations).find((each) => each.id === id);
  if (operation?.credential === 'none') return { 'courier tokens': couriers, 'staff tokens': managers };
  if (!operation || operation.scopes.length === 0) return { 'courier tokens': S403, 'staff tokens': S403 };
  const scopes: readonly string[] = operation.scopes;
  const isOfStaff = scopes.every((scope) => ['intake:write', 'manifests:write'].includes(scope));
  if (isOfStaff) return { 'courier tokens': S403, 'staff tokens': managers };
  return operation.credential === 'key'
    ? { 'courier tokens': keys, 'staff tokens': S403 }
    : { 'courier tokens': couriers, 'staff tokens': managers };
}

type CasesOf<Table> = Table extends Record<string, infer Cases> ? Cases : never;
type KeyOf<Union> = Union extends unknown ? keyof Union & string : never;

/** The title of a case; calls.ts uses it as a key. */
export type CaseTitle = KeyOf<CasesOf<typeof MATRIX>>;

export type MatrixRow = {
  operation: OperationId;
  title: CaseTitle;
  /** One status for each kind of id. */
  expected: Record<Group, number[]>;
};

export const rows: MatrixRow[] = Object.entries(MATRIX).flatMap(([operation, cases]) =>
  Object.entries<Row>(cases).map(([title, [managers, warehouse, couriers, others]]) => {
    const statuses = {
      // managers' statuses are the default for administrators
      admins: managers,
      managers,
      warehouse,
      couriers,
      disabled: S403,
      keys: S401,
      unauthenticated: S401,
      ...tokenStatuses(operation, { managers, couriers, keys: others?.keys ?? S401 }),
      ...others,
    };
    const expected = Object.fromEntries(
      Object.entries(statuses).map(([group, row]) => [group, row.split(' ').map(Number)]),
    );
    // The keys come from the table.
    return { operation, title, expected } as MatrixRow;
  }),
);
