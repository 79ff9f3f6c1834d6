import type { OperationId } from '../../../src/platform/contract/types.js';
import type { Principal } from '../../support/service/principals.js';

/** Whose thing a call names, seen from the caller. */
export const KINDS = ['own', 'sibling', 'other', 'unknown', 'malformed'] as const;
export type Kind = (typeof KINDS)[number];

export const GROUPS = {
  anonymous: 'strangers',
  'garbage token': 'strangers',
  'expired token': 'strangers',
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
} as const satisfies Record<Principal, string>;

export type Group = (typeof GROUPS)[Principal];

/** For own, sibling, other tenant's, unknown and malformed; or one, where nothing is named. */
type Statuses = `${number}` | `${number} ${number} ${number} ${number} ${number}`;

/**
 * What the groups with a user's token are told. The others are refused by their credential unless they stand here, and
 * administrators are told what managers are.
 */
type Row = [
  managers: Statuses,
  warehouse: Statuses,
  couriers: Statuses,
  others?: Partial<Record<Group, Statuses>>,
];

/** An operation that is missing here does not compile. */
export type Matrix = Record<OperationId, Record<string, Row>>;

const ALL = '200 200 200 200 400';
const S401 = '401 401 401 401 401';
const S403 = '403 403 403 403 403';
const S422 = '422 422 422 422 422';

const KEYS_ONLY: Row = [S401, S401, S401, { disabled: S401, keys: '201 400 400 400 400' }];
const everybody = (statuses: Statuses): Row => [
  statuses,
  statuses,
  statuses,
  { disabled: statuses, keys: statuses, strangers: statuses },
];

const adminsAlone = (statuses: Statuses): Row => [S403, S403, S403, { admins: statuses }];
const ALONE_400: Row = ['400', '400', '400', { disabled: '403', keys: '401', strangers: '401' }];

/** What each operation answers to each group, for each kind of id: a case is one place where it takes an id. */
// prettier-ignore
export const MATRIX = {
  //                                     managers               warehouse              couriers
  submitPrealert: {
    'submitPrealert':                    KEYS_ONLY,
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
    // a courier's own account is set, whatever it names
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
    'login':                             everybody(S422),
  },
  resetPassword: {
    'reset with an unknown token':       everybody('400'),
  },
  listUsers: {
    'listUsers of a courier':            adminsAlone(ALL),
  },
  manageUsers: {
    'create a user of a courier':        adminsAlone('200 200 404 404 400'),
    'update a user':                     adminsAlone('200 200 404 404 400'),
    'change_role of a user':             adminsAlone('200 200 404 404 400'),
    'change_role to a courier':          adminsAlone('200 200 404 404 400'),
    'disable a user':                    adminsAlone('200 200 404 404 400'),
    'enable a user':                     adminsAlone('200 200 404 404 400'),
    'reset_password of a user':          adminsAlone('200 200 404 404 400'),
    'reset_two_factor of a user':        adminsAlone('200 200 404 404 400'),
  },
  // about the caller itself: what it may send is refused for its content
  changePassword: {
    'changePassword':                    ALONE_400,
  },
  getTwoFactor: {
    'getTwoFactor':                      ['200', '200', '200', { disabled: '403', keys: '401', strangers: '401' }],
  },
  manageTwoFactor: {
    'enable what was not set up':        ALONE_400,
  },
  // sessions of another user: an administrator's to see and to end
  listSessions: {
    'listSessions of a user':            ['403 403 403 403 400', '403 403 403 403 400', '403 403 403 403 400', { admins: '200 200 404 404 400' }],
  },
  manageSessions: {
    'end_all of a user':                 ['403 403 403 403 400', '403 403 403 403 400', '403 403 403 403 400', { admins: '200 200 404 404 400' }],
    'end a session that is not there':   ['404 404 404 404 400', '404 404 404 404 400', '404 404 404 404 400'],
  },
  getSecuritySettings: {
    'getSecuritySettings':               adminsAlone('200'),
  },
  updateSecuritySettings: {
    'updateSecuritySettings':            adminsAlone('200'),
  },
  receivePackage: {
    'receivePackage for a courier':      ['201 201 404 404 400', '201 201 404 404 400', S403],
    'receivePackage for a customer':     ['201 201 400 400 400', '201 201 400 400 400', S403],
    'receivePackage from a carrier':     ['201 201 404 404 400', '201 201 404 404 400', S403],
    'receivePackage at a warehouse':     ['201 201 404 404 400', '201 201 404 404 400', S403],
  },
  retrievePackages: {
    'retrievePackages of a courier':     [ALL,                   ALL,                   ALL],
    'retrievePackages as a file':        [ALL,                   ALL,                   ALL],
    'queue_dispatch of packages':        [ALL,                   ALL,                   ALL],
    'queue_dispatch of a courier':       [ALL,                   ALL,                   ALL],
    'retrievePackages of a carrier':     [ALL,                   ALL,                   ALL],
  },
  updatePackage: {
    'updatePackage':                     ['200 200 404 404 400', '200 200 404 404 400', '200 403 404 404 400'],
    'updatePackage to a number':         ['200 200 404 404 400', '200 200 404 404 400', '403 403 404 404 400'],
    'updatePackage for a customer':      ['200 400 400 400 400', '200 400 400 400 400', '200 400 400 400 400'],
  },
  packageEvents: {
    'packageEvents':                     ['200 200 404 404 400', '200 200 404 404 400', '200 403 404 404 400'],
  },
  recordPackageEvent: {
    'recordPackageEvent':                ['200 200 404 404 400', '200 200 404 404 400', S403],
    'recordPackageEvent of several':     ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  packageLabel: {
    'packageLabel':                      ['200 200 404 404 400', '200 200 404 404 400', S403],
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
    'delete_manifest':                   ['200 200 404 404 400', '200 200 404 404 400', S403],
  },
  getManifest: {
    'getManifest':                       ['200 200 404 404 400', '200 200 404 404 400', '200 404 404 404 400'],
  },
  generateCourierInvoice: {
    'generateCourierInvoice':            ['200 200 404 404 400', S403,                  '200 403 403 403 400'],
  },
  loadCourierBills: {
    'loadCourierBills of a courier':     [ALL,                   S403,                  ALL],
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
  courierStatement: {
    'courierStatement':                  ['200 200 404 404 400', S403,                  ALL],
  },
  billingReconciliation: {
    'billingReconciliation of a courier': ['200 200 404 404 400', S403,                 S403],
  },
  downloadCourierBill: {
    'downloadCourierBill as a PDF':      ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'downloadCourierBill as lines':      ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
  },
  getCourierRates: {
    'getCourierRates':                   ['200 200 404 404 400', S403,                  S403],
  },
  manageCourierRates: {
    'save_rates of a courier':           ['200 200 404 404 400', S403,                  S403],
    // of all tables, only the caller's own courier's has the tier
    'save_rates with a tier':            ['200 404 404 404 400', S403,                  S403],
    'copy_default':                      ['200 200 404 404 400', S403,                  S403],
    'delete_rate':                       ['200 200 404 404 400', S403,                  S403],
    'update_air_freight':                ['200 200 404 404 400', S403,                  S403],
  },
  getCourierSettings: {
    'getCourierSettings':                ['200 200 404 404 400', S403,                  ALL],
  },
  listWebhookDeliveries: {
    'listWebhookDeliveries of a courier': [ALL,                  S403,                  ALL],
    'listWebhookDeliveries of an event': [ALL,                   S403,                  ALL],
    'listWebhookDeliveries of a package': [ALL,                  S403,                  ALL],
  },
  manageWebhookDeliveries: {
    'redeliver':                         ['200 200 404 404 400', S403,                  '200 404 404 404 400'],
    'recover_since':                     ['200 200 404 404 400', S403,                  ALL],
    'send_test':                         ['200 200 404 404 400', S403,                  ALL],
  },
  readEvents: {
    'readEvents':                        ['200 200 404 404 400', S403,                  ALL],
  },
  listDispatches: {
    'listDispatches':                    [ALL,                   ALL,                   ALL],
  },
  listAuditLog: {
    'listAuditLog of a package':         adminsAlone(ALL),
    'listAuditLog of a courier’s key':   adminsAlone(ALL),
    'listAuditLog before an entry':      adminsAlone(ALL),
  },
  verifyAuditLog: {
    'verifyAuditLog':                    adminsAlone('200'),
  },
  // the key last: it leaves the keys of the demo data worthless, and what needs them is above
  updateCourierSettings: {
    'updateCourierSettings of a profile': ['200 200 404 404 400', S403,                 ALL],
    'updateCourierSettings of a logo':   ['200 200 404 404 400', S403,                  ALL],
    'updateCourierSettings of a secret': ['200 200 404 404 400', S403,                  ALL],
    'updateCourierSettings of a key':    ['200 200 404 404 400', S403,                  ALL],
  },
  getCourierLogo: {
    'getCourierLogo':                    everybody('200 200 404 404 400'),
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
  // after those that name a customer by its code: it makes customers with codes of others
  uploadCustomers: {
    // a courier's is not read
    'uploadCustomers for a courier':     ['200 200 404 404 400', S403,                  '200 200 200 200 200'],
    'uploadCustomers with the code of a customer': [ALL,         S403,                  ALL],
  },
  getHealth: {
    'getHealth':                         everybody('200'),
  },
  getReadiness: {
    'getReadiness':                      everybody('200'),
  },
  getContractJson: {
    'getContractJson':                   everybody('200'),
  },
  getContractYaml: {
    'getContractYaml':                   everybody('200'),
  },
} satisfies Matrix;

type CasesOf<Table> = Table extends Record<string, infer Cases> ? Cases : never;
type KeyOf<Union> = Union extends unknown ? keyof Union & string : never;

/** The title of a case, which is its name in calls.ts as well. */
export type CaseTitle = KeyOf<CasesOf<typeof MATRIX>>;

export type MatrixRow = {
  operation: OperationId;
  title: CaseTitle;
  /** A status for each kind of id. */
  expected: Record<Group, number[]>;
};

export const rows: MatrixRow[] = Object.entries(MATRIX).flatMap(([operation, cases]) =>
  Object.entries<Row>(cases).map(([title, [managers, warehouse, couriers, others]]) => {
    const statuses = {
      // what managers are told, where nothing else stands
      admins: managers,
      managers,
      warehouse,
      couriers,
      disabled: S403,
      keys: S401,
      strangers: S401,
      ...others,
    };
    const expected = Object.fromEntries(
      Object.entries(statuses).map(([group, row]) => [group, row.split(' ').map(Number)]),
    );
    // as: the keys are the table's own
    return { operation, title, expected } as MatrixRow;
  }),
);
