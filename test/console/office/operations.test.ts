import { expect, test } from '@jest/globals';
import { OFFICE_PAGES } from '../../../console/src/office/pages.js';
import { PAGES } from '../../../console/src/pages.js';
import { operations } from '../../../generated/operations.js';

/** Calls of the login, the account and the palette, which belong to no page. */
const EVERYWHERE = {
  login: 'the login',
  resetPassword: 'a forgotten password, beside the login',
  changePassword: 'the account',
  createDeviceSession: 'the login, which gives its token to the browser',
  getDeviceSession: 'the start of a page',
  getPreferences: 'the start of a page, and its lists',
  updatePreferences: 'the account menu, the page of the account, and the views of lists',
  listStationWorkers: 'the login at a station',
  switchWorker: 'the login at a station',
  manageStationWorker: 'the account, and the login',
  getTwoFactor: 'the login has told whether it is on: `two_factor_enabled` of the user',
  manageTwoFactor: 'the account',
  searchCustomers: 'the palette',
  resolveScan: 'the palette',
  getCourierLogo: 'public: the picture of a logo, which Profile of a courier shows',
};

/** For programs. No person calls them. */
const FOR_PROGRAMS = {
  submitPrealert: 'a system of a courier, with an API key; a person uses createPrealert',
  submitPrealertWithoutSuffix: 'the same at another path',
  receivePackage: 'a system of the warehouse; a person scans, which is sendScans',
  claimLabelJobs: 'the print bridge',
  reportLabelJob: 'the print bridge',
  listEvents: 'a system that reads the feed of events',
  getContractJson: 'generators of clients',
  getContractYaml: 'generators of clients',
  getSdkContract: 'generators of clients',
  getHealth: 'a load balancer',
  getReadiness: 'a load balancer',
};

/** Needed by a person, and without a page still. Each line is work that is open. */
const WITHOUT_PAGE = {
  listDispatches: 'Webhooks: the batches that were sent again',
};

const onPages = new Set([
  ...[...PAGES, ...OFFICE_PAGES].flatMap(({ operations: ids }) => ids),
  ...OFFICE_PAGES.flatMap(({ adminOperations = [] }) => adminOperations),
]);
const explained = { ...EVERYWHERE, ...FOR_PROGRAMS, ...WITHOUT_PAGE };

test('every operation of the contract has a page of the console, or a reason why it has none', () => {
  const all = Object.keys(operations);
  expect(all.filter((id) => !onPages.has(id) && !(id in explained))).toEqual([]);
  expect(Object.keys(explained).filter((id) => !all.includes(id))).toEqual([]);
});

test('no operation that has a page is listed as one without', () => {
  expect(Object.keys({ ...FOR_PROGRAMS, ...WITHOUT_PAGE }).filter((id) => onPages.has(id))).toEqual([]);
});
