import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OFFICE_PAGES } from '../../../console/src/office/pages.js';
import { PAGES } from '../../../console/src/pages.js';
import { operations } from '../../../generated/operations.js';
import { projectRoot } from '../../../src/config/project-root.js';

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
  getTrackingPage: 'public: a page for customers of couriers',
  getTrackingSearch: 'public: a page for customers of couriers',
  submitTrackingSearch: 'public: a page for customers of couriers',
  getNoticeChoice: 'public: a page for customers of couriers',
  submitNoticeChoice: 'public: a page for customers of couriers',
};

/** For programs. No person calls them. */
const FOR_PROGRAMS = {
  getSandboxLives: 'of a sandbox, which has no console; people see the same with getSandbox',
  manageSandboxLives: 'of a sandbox, which has no console: the developer sends it from a terminal',
  submitPrealert: 'a system of a courier, with an API key; a person uses createPrealert',
  submitPrealertWithoutSuffix: 'the same at another path',
  receivePackage: 'a system of the warehouse; a person scans, which is sendScans',
  receiveFeedEvent: 'services for tracking, with a signature',
  claimLabelJobs: 'the print bridge',
  reportLabelJob: 'the print bridge',
  getContractJson: 'generators of clients',
  getContractYaml: 'generators of clients',
  getSdkContract: 'generators of clients',
  getHealth: 'a load balancer',
  getReadiness: 'a load balancer',
};

const onPages = new Set([
  ...[...PAGES, ...OFFICE_PAGES].flatMap(({ operations: ids }) => ids),
  ...OFFICE_PAGES.flatMap(({ adminOperations = [] }) => adminOperations),
]);
const explained = { ...EVERYWHERE, ...FOR_PROGRAMS };

test('every operation of the contract has a page of the console, or a reason why it has none', () => {
  const all = Object.keys(operations);
  expect(all.filter((id) => !onPages.has(id) && !(id in explained))).toEqual([]);
  expect(Object.keys(explained).filter((id) => !all.includes(id))).toEqual([]);
});

test('no operation that has a page is listed as one without', () => {
  expect(Object.keys(FOR_PROGRAMS).filter((id) => onPages.has(id))).toEqual([]);
});

const textOf = (...path: string[]) => readFileSync(join(projectRoot, ...path), 'utf8');

/** The group and the method of the SDK for each operation, such as `packages.list`. */
function methodsOfSdk(): Map<string, string> {
  const methods = new Map<string, string>();
  let group = '';
  let method = '';
  for (const line of textOf('sdk', 'typescript', 'src', 'generated', 'methods.ts').split('\n')) {
    group = /^export const (\w+) = \(call/.exec(line)?.[1] ?? group;
    method = /^ {2}(\w+): \(/.exec(line)?.[1] ?? method;
    const id = /\{'id':'(\w+)'/.exec(line)?.[1];
    if (id) methods.set(id, `${group}.${method}`);
  }
  return methods;
}

test('each operation that a page names is called by the console', () => {
  const sources = readdirSync(join(projectRoot, 'console', 'src'), { recursive: true, encoding: 'utf8' });
  const code = sources
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => textOf('console', 'src', name))
    .join('\n')
    .replaceAll(/\s+\./g, '.');
  const methods = methodsOfSdk();
  expect(methods.get('listPackages')).toBe('packages.list');
  const isCalled = (id: string) => new RegExp(`\\b${methods.get(id) ?? 'nothing'}\\b`).test(code);
  expect([...onPages].filter((id) => !isCalled(id))).toEqual([]);
  expect(isCalled('claimLabelJobs')).toBe(false);
});
