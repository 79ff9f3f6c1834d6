import { insertTrackingLinks } from '../../support/fixture/tracking.js';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  clone,
  freshManifestNumber,
  freshNumber,
  insertUser,
  newBillLine,
  newBillPayment,
  newDraftBill,
  type Belongings,
} from '../../support/builders/couriers.js';
import { insertClaim, insertDocument } from '../../support/builders/parcels.js';
import { insertLabelJob } from '../../support/builders/deliveries.js';
import { lastYear } from '../../support/builders/bills.js';
import { png } from '../../support/readers/pictures.js';
import type { Call, Service } from '../../support/service/service.js';
import type { CaseTitle } from './matrix.js';

/** Makes the call of a case. It names a record of `target`; `own` has the records of the caller's courier. */
type MakeCall = (target: Belongings, own: Belongings, service: Service) => Promise<Call> | Call;

/** The call of each case in the matrix. The code NOBODY stands for unknown and malformed ids. */
export const CALLS: Record<CaseTitle, MakeCall> = {
  submitPrealert: announce,
  'submitPrealert with a line': ({ userCode }) => ({
    body: JSON.stringify({ UserCode: userCode, TrackingNumber: freshNumber() }),
    headers: { 'content-type': 'application/x-ndjson' },
  }),
  submitPrealertWithoutSuffix: announce,
  'listPrealerts of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  createPrealert: ({ courierId, userCode }) => ({
    body: { courier_id: courierId, user_code: userCode, tracking_number: freshNumber(), vendor: 'V' },
  }),
  replacePrealert: ({ prealertId, userCode }) => ({
    body: { prealert_id: prealertId, user_code: userCode, tracking_number: freshNumber(), vendor: 'V' },
  }),
  'listMissingPrealerts of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  setPrealertCarrier: ({ prealertId }) => ({ body: { prealert_id: prealertId, carrier: freshNumber() } }),
  deletePrealert: async (target, _own, { owner }) => {
    if (target.code === 'NOBODY') return { body: { prealert_id: target.prealertId } };
    const number = { tracking_number: freshNumber(), tracking_key: freshNumber() };
    return { body: { prealert_id: await clone(owner, 'prealerts', target.prealertId, number) } };
  },
  'listCustomers of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  'listCustomers, the branches of a courier': ({ courierId }) => ({
    query: { action: 'branches', courier_id: courierId },
  }),
  'searchCustomers of a courier': ({ courierId, userCode }) => ({
    query: { q: userCode, courier_id: courierId, limit: 50 },
  }),
  'searchCustomers of a courier, advanced': ({ courierId, code }) => ({
    query: { q: `canary ${code}`, courier_id: courierId, advanced: true, limit: 50 },
  }),
  createCustomer: ({ courierId }) => ({
    body: { courier_id: courierId, user_code: freshNumber(), first_name: 'F', last_name: 'L' },
  }),
  updateCustomer: ({ customerId }) => ({ body: { courier_customer_id: customerId, branch: freshNumber() } }),
  'deleteCustomer by the query': async (target, _own, { owner }) => ({
    query: { id: await newCustomer(owner, target) },
  }),
  'deleteCustomer by the body': async (target, _own, { owner }) => ({
    body: { courier_customer_id: await newCustomer(owner, target) },
  }),
  'syncCustomers of a courier': ({ courierId }) => ({ body: { courier_id: courierId } }),
  'listCustomerSyncs of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  'uploadCustomers for a courier': ({ courierId }) => uploadOf(freshNumber(), courierId),
  'uploadCustomers with the code of a customer': ({ userCode }, { courierId }) =>
    uploadOf(userCode, courierId),
  'uploadPrealerts for a courier': ({ courierId, userCode }) => ({
    form: {
      file: { file: `tracking_number,user_code\n${freshNumber()},${userCode}\n` },
      target_courier_id: courierId,
    },
  }),
  login: ({ userCode }) => ({ body: { action: 'login', username: userCode } }),
  'reset with an unknown token': () => ({
    body: { action: 'reset', token: 'x', new_password: 'seven parcels on a wet quay' },
  }),
  'listUsers of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  'create a user of a courier': ({ courierId }) => ({
    body: {
      action: 'create',
      username: freshNumber(),
      full_name: 'F',
      role: 'courier',
      courier_id: courierId,
    },
  }),
  'listTeam of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  'create a user of the team': ({ courierId }, { code }) => ({
    body: {
      ...{ action: 'create', username: `${code}.${freshNumber()}`, full_name: 'F' },
      ...{ role: 'courier', courier_role: 'member', courier_id: courierId },
    },
  }),
  'update a user of the team': ({ userId }) => ({
    body: { action: 'update', user_id: userId, full_name: freshNumber() },
  }),
  'change_role of a user of the team': ({ userId, courierId }) => ({
    body: {
      ...{ action: 'change_role', user_id: userId },
      ...{ role: 'courier', courier_role: 'member', courier_id: courierId },
    },
  }),
  'change_role to a courier of the team': async ({ courierId }, own, { owner }) => ({
    body: {
      action: 'change_role',
      user_id: await newUser(owner, own),
      ...{ role: 'courier', courier_role: 'member', courier_id: courierId },
    },
  }),
  'disable a user of the team': ({ userId }) => ({ body: { action: 'disable', user_id: userId } }),
  'enable a user of the team': ({ userId }) => ({ body: { action: 'enable', user_id: userId } }),
  'reset_password of a user of the team': ({ userId }) => ({
    body: { action: 'reset_password', user_id: userId },
  }),
  'update a user': ({ userId }) => ({
    body: { action: 'update', user_id: userId, full_name: freshNumber() },
  }),
  'change_role of a user': ({ userId }) => ({
    body: { action: 'change_role', user_id: userId, role: 'warehouse' },
  }),
  'change_role to a courier': async ({ courierId }, own, { owner }) => ({
    body: {
      action: 'change_role',
      user_id: await newUser(owner, own),
      role: 'courier',
      courier_id: courierId,
    },
  }),
  'disable a user': ({ userId }) => ({ body: { action: 'disable', user_id: userId } }),
  'enable a user': ({ userId }) => ({ body: { action: 'enable', user_id: userId } }),
  'reset_password of a user': ({ userId }) => ({ body: { action: 'reset_password', user_id: userId } }),
  'reset_two_factor of a user': ({ userId }) => ({ body: { action: 'reset_two_factor', user_id: userId } }),
  changePassword: () => ({ body: { current_password: 'x', new_password: 'crossdockcrossdock' } }),
  getDeviceSession: () => ({}),
  createDeviceSession: () => ({ body: { action: 'start' } }),
  listStationWorkers: () => ({}),
  remember: () => ({ body: { action: 'remember' } }),
  switchWorker: ({ userId }) => ({ body: { user_id: userId, pin: '480271' } }),
  getPreferences: () => ({}),
  updatePreferences: () => ({ body: {} }),
  getTwoFactor: () => ({}),
  'listSessions of a user': ({ userId }) => ({ query: { user_id: userId } }),
  'end_all of a user': ({ userId }) => ({ body: { action: 'end_all', user_id: userId } }),
  'end an unknown session': ({ userId }) => ({ body: { action: 'end', session_id: userId } }),
  getSandboxLives: () => ({}),
  'stop a life of a parcel': ({ packageId }) => ({ body: { action: 'stop', life_id: packageId } }),
  'getSandbox of a courier': ({ courierId }) => ({ query: { courier_id: courierId } }),
  'create a sandbox': async ({ courierId }, _own, { owner }) => {
    await owner.query('delete from sandboxes');
    // Five a day are allowed.
    await owner.query("delete from courier_quotas where kind = 'sandboxes'");
    return { body: { action: 'create', courier_id: courierId } };
  },
  'end a sandbox': async ({ courierId }, own, { owner }) => {
    await owner.query('delete from sandboxes');
    await owner.query(
      `insert into sandboxes (tenant_id, id, courier_id, path_key, sandbox_courier_id, created_by)
       select tenant_id, gen_random_uuid(), id, replace(id::text, '-', ''), gen_random_uuid(), id from couriers
       where id::text in ($1, $2)`,
      [courierId, own.courierId],
    );
    return { body: { action: 'end', courier_id: courierId } };
  },
  'listServiceTokens of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  'create a service token': async ({ courierId }, _own, { owner }) => {
    // An owner can have 20 active ones.
    await owner.query("delete from service_tokens where name not like 'token %'");
    return {
      body: {
        ...{ action: 'create', courier_id: courierId, name: freshNumber(), scopes: ['packages:read'] },
        current_password: DEMO.password,
      },
    };
  },
  'update a service token': async (target, _own, { owner }) => ({
    body: {
      ...{ action: 'update', token_id: await newServiceToken(owner, target), scopes: ['bills:read'] },
      current_password: DEMO.password,
    },
  }),
  'rotate a service token': async (target, _own, { app, owner }) => ({
    body: {
      ...{ action: 'rotate', token_id: await newServiceToken(owner, target, app.secrets) },
      current_password: DEMO.password,
    },
  }),
  'revoke a service token': async (target, _own, { owner }) => ({
    body: { action: 'revoke', token_id: await newServiceToken(owner, target) },
  }),
  getTenantSettings: () => ({}),
  updateTenantSettings: () => ({ body: {} }),
  getSecuritySettings: () => ({}),
  updateSecuritySettings: () => ({ body: {} }),
  'enable without a setup': () => ({ body: { action: 'enable', code: '000000' } }),
  'receivePackage for a courier': ({ courierId }) => ({
    body: { tracking_number: freshNumber(), weight: 1, courier_id: courierId },
  }),
  'resolveScan of a customer': ({ userCode }) => ({ body: { scan: userCode } }),
  'resolveScan of a package': ({ packageId }, _own, { owner }) =>
    scanOf(owner, 'select house_number as text from packages where id::text = $1', packageId),
  'resolveScan of a pre-alert': ({ prealertId }, _own, { owner }) =>
    scanOf(owner, 'select tracking_number as text from prealerts where id::text = $1', prealertId),
  'resolveScan of a manifest': ({ manifestId }, _own, { owner }) =>
    scanOf(owner, 'select manifest_number as text from manifests where id::text = $1', manifestId),
  // By the house number, which staff scan: it may reach no package of another tenant.
  sendScans: async ({ packageId }, _own, { owner }) => {
    const { rows } = await owner.query<{ scan: string }>(
      'select house_number as scan from packages where id::text = $1',
      [packageId],
    );
    return scanBatch({ kind: 'locate', scan: rows[0]?.scan ?? packageId, location: 'Shelf 1' });
  },
  'sendScans for a courier': ({ courierId }) =>
    scanBatch({ kind: 'receive', scan: freshNumber(), weight: 1, courier_id: courierId }),
  'sendScans for a manifest': ({ manifestId }) =>
    scanBatch({ kind: 'load', scan: freshNumber(), manifest_id: manifestId }),
  getManifestLoading: ({ manifestId }) => ({ query: { manifest_id: manifestId } }),
  'receivePackage for a customer': ({ userCode }) => ({
    body: { tracking_number: freshNumber(), weight: 1, user_code: userCode },
  }),
  'receivePackage from a carrier': ({ carrierId }) => ({
    body: { tracking_number: freshNumber(), weight: 1, carrier_id: carrierId },
  }),
  'receivePackage at a warehouse': ({ warehouseId }) => ({
    body: { tracking_number: freshNumber(), weight: 1, warehouse_id: warehouseId },
  }),
  'listPackages of a courier': ({ courierId }) => ({ body: { courierID: courierId, limit: 10_000 } }),
  'listPackages of a carrier': ({ carrierId }) => ({ body: { carrierID: carrierId, limit: 10_000 } }),
  'listPackages as a file': ({ courierId }) => ({
    body: { export: true, courierID: courierId, limit: 10_000 },
  }),
  'exportCustomersCsv of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 10_000 } }),
  'exportCustomersXlsx of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 1 } }),
  'exportPackagesCsv of a courier': ({ courierId }) => ({ query: { courierID: courierId, limit: 10_000 } }),
  'exportPackagesCsv of a carrier': ({ carrierId }) => ({ query: { carrierID: carrierId, limit: 10_000 } }),
  'exportPackagesXlsx of a courier': ({ courierId }) => ({ query: { courierID: courierId, limit: 1 } }),
  'exportPackagesXlsx of a carrier': ({ carrierId }) => ({ query: { carrierID: carrierId, limit: 1 } }),
  'queue_dispatch of packages': ({ packageId }) => ({
    body: { action: 'queue_dispatch', package_ids: [packageId] },
  }),
  'queue_dispatch of a courier': ({ courierId }) => ({
    body: { action: 'queue_dispatch', courierID: courierId },
  }),
  updatePackage: ({ packageId }) => ({ body: { package_id: packageId, package_type: freshNumber() } }),
  'updatePackage to a number': async (target, _own, { owner }) => ({
    body: { package_id: await newPackage(owner, target, null), tracking_number: freshNumber() },
  }),
  'updatePackage for a customer': async ({ userCode }, own, { owner }) => ({
    body: { package_id: await newPackage(owner, own, null), user_code: userCode },
  }),
  voidReceipt: async (target, _own, { owner }) => ({
    // Workers of the warehouse void only new receipts.
    body: {
      package_id: await newPackage(owner, target, null, { received_at: new Date().toISOString() }),
      reason: 'A mistake',
    },
  }),
  listPackageEvents: ({ packageId }) => ({ query: { package_id: packageId } }),
  recordPackageEvent: async (target, _own, { owner }) => ({
    body: { package_id: await newPackage(owner, target, null), status: 'on_hold' },
  }),
  'recordPackageEvent of several': async (target, own, { owner }) => {
    const packageIds = [await newPackage(owner, own, null), await newPackage(owner, target, null)];
    return { body: { package_ids: packageIds, status: 'on_hold' } };
  },
  getPackageLabel: ({ packageId }) => ({ query: { package_id: packageId, format: 'zpl' } }),
  'listLabelJobs before a job': async (target, _own, { owner }) => ({
    query: { before: await newLabelJob(owner, target, 'failed') },
  }),
  createLabelJobs: ({ packageId }) => ({
    body: { print_id: randomUUID(), station: freshNumber(), package_ids: [packageId] },
  }),
  claimLabelJobs: () => ({ body: { station: freshNumber(), max_jobs: 1 } }),
  reportLabelJob: async (target, _own, { owner }) => ({
    body: { job_id: await newLabelJob(owner, target, 'claimed'), claim_id: CLAIM_ID, status: 'sending' },
  }),
  reprintLabelJob: async (target, _own, { owner }) => ({
    body: { print_id: randomUUID(), job_id: await newLabelJob(owner, target, 'failed') },
  }),
  reviewPrealert: async (target, _own, { owner }) => {
    const review = { reason: 'Looked at it.' };
    if (target.code === 'NOBODY') return { body: { prealert_id: target.prealertId, ...review } };
    const number = freshNumber();
    const flagged = { status: 'flagged', tracking_number: number, tracking_key: number };
    return {
      body: { prealert_id: await clone(owner, 'prealerts', target.prealertId, flagged), ...review },
    };
  },
  'createManifest at a warehouse': ({ warehouseId }) => ({ body: { warehouse_id: warehouseId } }),
  'create_manifest at a warehouse': ({ warehouseId }) => ({
    body: { action: 'create_manifest', warehouse_id: warehouseId },
  }),
  update_meta: ({ manifestId }) => ({
    body: { action: 'update_meta', manifest_id: manifestId, flight_number: freshNumber() },
  }),
  'add_packages to a manifest': async (target, own, { owner }) => {
    // Another tenant's manifest gets the caller's own package; a sibling's manifest gets a package of the
    // sibling.
    const isSameTenant = target.warehouseId === own.warehouseId;
    const packageId = await newPackage(owner, isSameTenant ? target : own, null);
    return { body: { action: 'add_packages', manifest_id: target.manifestId, package_ids: [packageId] } };
  },
  'add_packages of a courier': async (target, own, { owner }) => ({
    body: {
      action: 'add_packages',
      manifest_id: await newManifest(owner, own),
      package_ids: [await newPackage(owner, target, null)],
    },
  }),
  'remove_packages from a manifest': async (target, own, { owner }) => {
    const isReal = target.code !== 'NOBODY';
    const packageId = await newPackage(owner, isReal ? target : own, isReal ? target.manifestId : null);
    return {
      body: { action: 'remove_packages', manifest_id: target.manifestId, package_ids: [packageId] },
    };
  },
  reopen_manifest: async (target, _own, { owner }) => ({
    body: { action: 'reopen_manifest', manifest_id: await newManifest(owner, target, { status: 'ready' }) },
  }),
  delete_manifest: async (target, _own, { owner }) => ({
    body: { action: 'delete_manifest', manifest_id: await newManifest(owner, target) },
  }),
  listManifests: () => ({}),
  getManifest: ({ manifestId }) => ({ query: { id: manifestId } }),
  listManifestChanges: ({ manifestId }) => ({ query: { manifest_id: manifestId } }),
  'getManifestDocument as a PDF': ({ manifestId }) => ({ query: { manifest_id: manifestId } }),
  'getManifestDocument as lines': ({ manifestId }) => ({ query: { manifest_id: manifestId, format: 'csv' } }),
  previewCourierInvoice: ({ courierId }) => ({
    body: { courier_id: courierId, start_date: '2020-01-01', end_date: '2100-01-01' },
  }),
  'listCourierBills of a courier': ({ courierId }) => ({ query: { courier_id: courierId } }),
  getCourierStatement: ({ courierId }) => ({
    query: { courier_id: courierId, from: '2020-01-01', to: '2100-01-01' },
  }),
  'getBillingReconciliation of a courier': ({ courierId }) => ({
    query: { courier_id: courierId, ...lastYear(), limit: 1000 },
  }),
  'downloadCourierBill as a PDF': ({ billId }) => ({ query: { bill_id: billId } }),
  'downloadCourierBill as lines': ({ billId }) => ({ query: { bill_id: billId, format: 'csv' } }),
  getCourierRates: ({ courierId }) => ({ query: { courier_id: courierId } }),
  'save_rates of a courier': ({ courierId, rateId }) => ({
    body: {
      action: 'save_rates',
      courier_id: courierId,
      rates: [{ id: rateId, startweight: 0, endweight: 1, fee: freshFee() }],
    },
  }),
  'save_rates with a tier': ({ rateId }, own) => ({
    body: {
      action: 'save_rates',
      courier_id: own.courierId,
      rates: [{ id: rateId, startweight: 0, endweight: 1, fee: freshFee() }],
    },
  }),
  copy_default: ({ courierId }) => ({ body: { action: 'copy_default', courier_id: courierId } }),
  delete_rate: async (target, _own, { owner }) => ({
    body: { action: 'delete_rate', rate_id: await newRate(owner, target) },
  }),
  update_air_freight: ({ courierId }) => ({
    body: { action: 'update_air_freight', courier_id: courierId, air_freight_rate: freshFee() },
  }),
  getCourierBill: ({ billId }) => ({ query: { bill_id: billId } }),
  'getCourierBill of a draft': ({ draftBillId }) => ({ query: { bill_id: draftBillId } }),
  'create_draft of a courier': async ({ code, courierId, packageId }, _own, { owner }) => {
    // A different day per call, so that drafts do not bill the same packages.
    const day = new Date(Date.UTC(2021, 0, (serial += 1))).toISOString().slice(0, 10);
    const [number, received_at] = [freshNumber(), `${day}T12:00:00Z`];
    const parcel = { tracking_number: number, tracking_key: number, house_number: number, received_at };
    if (code !== 'NOBODY') await clone(owner, 'packages', packageId, parcel);
    const period = { start_date: day, end_date: day };
    return { body: { action: 'create_draft', courier_id: courierId, ...period, service_type: 'Air' } };
  },
  add_adjustment: async (target, _own, { owner }) => ({
    body: { action: 'add_adjustment', bill_id: await newDraft(owner, target), description: 'D', amount: 1 },
  }),
  remove_adjustment: async (target, _own, { owner }) => {
    const billId = await newDraft(owner, target);
    const lineId = target.code === 'NOBODY' ? billId : await newBillLine(owner, billId);
    return { body: { action: 'remove_adjustment', line_id: lineId } };
  },
  publish: async (target, _own, { owner }) => ({
    body: { action: 'publish', bill_id: await newDraft(owner, target) },
  }),
  record_payment: ({ billId }) => ({
    body: { action: 'record_payment', bill_id: billId, amount: 0.01, method: 'cash' },
  }),
  void_payment: async ({ code, billId }, _own, { owner }) => ({
    body: {
      action: 'void_payment',
      payment_id: code === 'NOBODY' ? billId : await newBillPayment(owner, billId),
      reason: 'R',
    },
  }),
  delete_draft: async (target, _own, { owner }) => ({
    body: { action: 'delete_draft', bill_id: await newDraft(owner, target) },
  }),
  'getPaymentTerms of a courier': ({ courierId }) => ({ query: { courier_id: courierId } }),
  'updatePaymentTerms of a courier': ({ courierId }) => ({ body: { courier_id: courierId, days: 14 } }),
  listCourierStatements: () => ({}),
  listBillMails: ({ billId }) => ({ query: { bill_id: billId } }),
  sendBill: async ({ billId, courierId }, _own, { owner }) => {
    await owner.query('update couriers set email = $2 where id::text = $1', [
      courierId,
      'bills@courier.example',
    ]);
    return { body: { bill_id: billId, again: true } };
  },
  listBillingRun: () => ({ query: { month: '2024-05' } }),
  'draft of a courier': ({ courierId }) => ({
    body: { action: 'draft', month: '2024-05', service_type: 'Air', courier_ids: [courierId] },
  }),
  'publish of a courier': ({ courierId }) => ({
    body: { action: 'publish', month: '2024-05', courier_ids: [courierId] },
  }),
  'send of a courier': ({ courierId }) => ({
    body: { action: 'send', month: '2024-05', courier_ids: [courierId] },
  }),
  getCourierSettings: ({ courierId }) => ({ query: { id: courierId } }),
  getCourierSetUp: ({ courierId }) => ({ query: { id: courierId } }),
  'updateCourierSettings of a profile': ({ courierId }) => ({
    query: { id: courierId },
    body: { phone_number2: freshNumber() },
  }),
  'updateCourierSettings of a logo': ({ courierId }) => ({
    query: { id: courierId },
    form: { logo: { file: png() } },
  }),
  'updateCourierSettings of a key': ({ courierId }) => ({
    query: { id: courierId },
    urlencoded: { action: 'regenerate_key' },
  }),
  'updateCourierSettings of a secret': ({ courierId }) => ({
    query: { id: courierId },
    urlencoded: { action: 'rotate_webhook_secret' },
  }),
  'queueDispatch of packages': ({ packageId }) => ({ body: { package_ids: [packageId] } }),
  'queueDispatch of a courier': ({ courierId }) => ({ body: { courierID: courierId } }),
  regenerateApiKey: ({ courierId }) => ({ body: { courier_id: courierId } }),
  rotateWebhookSecret: ({ courierId }) => ({ body: { courier_id: courierId } }),
  endPreviousWebhookSecret: ({ courierId }) => ({ body: { courier_id: courierId } }),
  uploadLogo: ({ courierId }) => ({ form: { logo: { file: png() }, courier_id: courierId } }),
  deleteLogo: ({ courierId }) => ({ body: { courier_id: courierId } }),
  'listWebhookDeliveries of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  'listWebhookDeliveries of an event': ({ eventId }) => ({ query: { event_id: eventId } }),
  'listWebhookDeliveries of a package': ({ packageId }) => ({ query: { package_id: packageId } }),
  redeliver: ({ deliveryId }) => ({ body: { action: 'redeliver', delivery_id: deliveryId } }),
  recover_since: ({ courierId }) => ({
    body: { action: 'recover_since', since: '2026-01-01 00:00:00', courier_id: courierId },
  }),
  redeliver_matching: ({ courierId }) => ({
    body: { action: 'redeliver_matching', from: '2026-01-01 00:00:00', courier_id: courierId },
  }),
  send_test: ({ courierId }) => ({
    body: { action: 'send_test', endpoint: 'add_package', courier_id: courierId },
  }),
  listEvents: ({ courierId }) => ({ query: { courier_id: courierId, limit: 1000 } }),
  getWebhookDelivery: ({ deliveryId }) => ({ query: { delivery_id: deliveryId } }),
  createIntegrationCheck: ({ courierId }) => ({
    body: { endpoint: 'add_package', courier_id: courierId },
  }),
  'listIntegrationChecks of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 50 } }),
  'listApiCalls of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  'listWebhookHealth of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  listDispatches: ({ dispatchId }) => ({ query: { dispatch_id: dispatchId } }),
  'getPackageStatistics of a courier': ({ courierId }) => ({
    query: { courier_id: courierId, from: '2026-01-01', to: '2026-01-31' },
  }),
  'getWorkStatistics of a courier': ({ courierId }) => ({
    query: { courier_id: courierId, from: '2026-01-01', to: '2026-01-31' },
  }),
  previewRates: ({ courierId }) => ({
    body: {
      courier_id: courierId,
      month: '2026-01',
      rates: [{ startweight: 0, endweight: 1, fee: 2 }],
    },
  }),
  getPackage: ({ packageId }) => ({ query: { package: packageId } }),
  listPackageChanges: ({ packageId }) => ({ query: { package_id: packageId } }),
  listLocations: () => ({}),
  listStations: () => ({}),
  'listAuditEntries of a package': ({ packageId }) => ({ query: { entity_id: packageId } }),
  'listAuditEntries of a courier’s key': ({ courierId }) => ({ query: { actor_id: courierId } }),
  'listAuditEntries before an entry': ({ auditId }) => ({ query: { before: auditId } }),
  verifyAuditLog: () => ({ body: { action: 'verify' } }),
  async getCourierLogo({ courierId, logoFile }, _own, { owner }) {
    // An earlier call may have replaced the logo.
    const { rows } = await owner.query<{ hash: string }>(
      'select content_hash as hash from courier_logos where courier_id::text = $1',
      [courierId],
    );
    return { path: { courier_id: courierId, file: rows[0] ? `${rows[0].hash}.png` : logoFile } };
  },
  listCouriers: () => ({ query: { limit: 500 } }),
  'create a courier': () => ({
    body: {
      action: 'create',
      courier_code: freshCode(),
      courier_name: 'New',
      house_color: '#2B5FA8',
      login: { username: freshNumber().toLowerCase(), full_name: 'F' },
    },
  }),
  'update a courier': ({ courierId }) => ({
    body: { action: 'update', courier_id: courierId, phone_number2: freshNumber() },
  }),
  'deactivate a courier': async (target, _own, { owner }) => ({
    body: { action: 'deactivate', courier_id: await newCourier(owner, target, true) },
  }),
  'activate a courier': async (target, _own, { owner }) => ({
    body: { action: 'activate', courier_id: await newCourier(owner, target, false) },
  }),
  listWarehouses: () => ({ query: { limit: 500 } }),
  'create a warehouse': () => ({ body: { action: 'create', name: freshNumber() } }),
  'update a warehouse': ({ warehouseId }) => ({
    body: { action: 'update', warehouse_id: warehouseId, phone: freshNumber() },
  }),
  make_primary: async (target, _own, { owner }) => ({
    body: { action: 'make_primary', warehouse_id: await newWarehouse(owner, target) },
  }),
  'delete a warehouse': async (target, _own, { owner }) => ({
    body: { action: 'delete', warehouse_id: await newWarehouse(owner, target) },
  }),
  listCarriers: () => ({ query: { limit: 500 } }),
  'create a carrier': () => ({ body: { action: 'create', name: freshNumber() } }),
  'rename a carrier': async (target, _own, { owner }) => ({
    body: { action: 'rename', carrier_id: await newCarrier(owner, target), name: freshNumber() },
  }),
  'delete a carrier': async (target, _own, { owner }) => ({
    body: { action: 'delete', carrier_id: await newCarrier(owner, target) },
  }),
  getHealth: () => ({}),
  getReadiness: () => ({}),
  getContractJson: () => ({}),
  getContractYaml: () => ({}),
  getSdkContract: () => ({}),
  'claimParcel for a courier': async (target, _own, { owner }) => {
    await owner.query("delete from courier_quotas where kind = 'claim_attempts'");
    // Other cases upload the code of the target's customer for the caller's courier too.
    const { rows } = await owner.query<{ code: string }>(
      'select user_code as code from customers where id::text = $1',
      [await newCustomer(owner, target)],
    );
    const user_code = rows[0]?.code ?? freshNumber();
    return { body: { courier_id: target.courierId, tracking_number: freshNumber(), user_code } };
  },
  addClaimDocument: async (target, _own, { owner }) => ({
    form: { claim_id: await newClaim(owner, target), document: { file: png() } },
  }),
  getClaimDocument: async (target, _own, { owner }) => ({
    query: { document_id: await newDocument(owner, target) },
  }),
  'listParcelClaims before a claim': async (target, _own, { owner }) => ({
    query: { before: await newClaim(owner, target) },
  }),
  'listUnknownParcels before a parcel': ({ packageId }) => ({ query: { before: packageId } }),
  'approve a claim': async (target, _own, { owner }) => ({
    body: { action: 'approve', claim_id: await newClaimOfParcel(owner, target), reason: 'R' },
  }),
  'resolve a dispute': async (target, _own, { owner }) => ({
    body: { action: 'resolve', prealert_id: await newPrealertOfParcel(owner, target), reason: 'R' },
  }),
  'refuse a claim': async (target, _own, { owner }) => ({
    body: { action: 'refuse', claim_id: await newClaim(owner, target), reason: 'R' },
  }),
  getAttention: () => ({}),
  'listFeeds of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  'listFeedRefusals of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  'create a feed': async ({ courierId }, _own, { owner }) => {
    // A courier can have 20.
    await owner.query('delete from feeds');
    return { body: { action: 'create', courier_id: courierId, kind: 'easypost', name: freshNumber() } };
  },
  'update a feed': async (target, _own, { owner }) => ({
    body: { action: 'update', feed_id: await newFeed(owner, target), is_active: false },
  }),
  'rotate a feed': async (target, _own, { app, owner }) => ({
    body: { action: 'rotate', feed_id: await newFeed(owner, target, app.secrets) },
  }),
  'delete a feed': async (target, _own, { owner }) => ({
    body: { action: 'delete', feed_id: await newFeed(owner, target) },
  }),
  receiveFeedEvent: ({ courierId }) => ({ query: { feed_id: courierId }, body: {} }),
  getTrackingLink: ({ packageId }) => ({ query: { package_id: packageId } }),
  'create a tracking link': ({ packageId }) => ({ body: { action: 'create', package_id: packageId } }),
  'replace a tracking link': ({ packageId }) => ({ body: { action: 'replace', package_id: packageId } }),
  'set an amount due': ({ packageId }) => ({
    body: { action: 'set_amount_due', package_id: packageId, amount_due: 18.5 },
  }),
  'end a tracking link': async ({ packageId }, _own, { owner }) => {
    await insertTrackingLinks(owner);
    return { body: { action: 'end', package_id: packageId } };
  },
  getTrackingSettings: ({ courierId }) => ({ query: { courier_id: courierId } }),
  updateTrackingSettings: ({ courierId }) => ({ body: { courier_id: courierId, transit_days: 3 } }),
  getTrackingPage: () => ({ path: { key: 'Zk3vQm8sT1yLr0bHcN5xWg' } }),
  getTrackingSearch: () => ({ query: { courier: 'IEX' } }),
  submitTrackingSearch: () => ({
    query: { courier: 'IEX' },
    urlencoded: { tracking_number: freshNumber(), last_name: 'Brown' },
  }),
  getNoticeSettings: ({ courierId }) => ({ query: { courier_id: courierId } }),
  updateNoticeSettings: ({ courierId }) => ({ body: { courier_id: courierId, language: 'es' } }),
  'listNotices of a courier': ({ courierId }) => ({ query: { courier_id: courierId, limit: 100 } }),
  getNoticeChoice: () => ({ path: { key: '5f0c2b9a71e84d63a2f7c1908be4d35a' } }),
  submitNoticeChoice: () => ({
    path: { key: '5f0c2b9a71e84d63a2f7c1908be4d35a' },
    urlencoded: { choice: 'stop' },
  }),
};

function announce({ userCode }: Belongings): Call {
  return { body: { UserCode: userCode, TrackingNumber: freshNumber() } };
}

function uploadOf(userCode: string, courierId: string): Call {
  const file = `user_code,first_name,last_name\n${userCode},Uploaded,Customer\n`;
  return { form: { file: { file }, target_courier_id: courierId } };
}

type Owner = Service['owner'];

async function newPackage(
  owner: Owner,
  { code, packageId }: Belongings,
  manifestId: string | null,
  more: object = {},
): Promise<string> {
  if (code === 'NOBODY') return packageId;
  const number = freshNumber();
  const parcel = {
    ...more,
    tracking_number: number,
    tracking_key: number,
    house_number: number,
    manifest_id: manifestId,
  };
  return clone(owner, 'packages', packageId, parcel);
}

const CLAIM_ID = randomUUID();

async function newLabelJob(
  owner: Owner,
  { code, packageId }: Belongings,
  status: 'claimed' | 'failed',
): Promise<string> {
  return code === 'NOBODY' ? packageId : insertLabelJob(owner, { packageId, status, claimId: CLAIM_ID });
}

async function newClaim(
  owner: Owner,
  { code, courierId }: Belongings,
  number = freshNumber(),
): Promise<string> {
  return code === 'NOBODY' ? courierId : insertClaim(owner, { courierId, trackingNumber: number });
}

async function newDocument(owner: Owner, target: Belongings): Promise<string> {
  const claimId = await newClaim(owner, target);
  return target.code === 'NOBODY' ? claimId : insertDocument(owner, claimId);
}

/** Copies the target's package as one without an owner. */
async function newUnknown(owner: Owner, { packageId }: Belongings): Promise<string> {
  const number = freshNumber();
  const unknown = {
    courier_id: null,
    user_code: null,
    manifest_id: null,
    prealert_id: null,
    claimed_by: null,
  };
  const numbered = { tracking_number: number, tracking_key: number, house_number: number };
  await clone(owner, 'packages', packageId, { ...unknown, ...numbered });
  return number;
}

async function newClaimOfParcel(owner: Owner, target: Belongings): Promise<string> {
  return target.code === 'NOBODY'
    ? target.courierId
    : newClaim(owner, target, await newUnknown(owner, target));
}

async function newPrealertOfParcel(owner: Owner, target: Belongings): Promise<string> {
  if (target.code === 'NOBODY') return target.prealertId;
  const number = await newUnknown(owner, target);
  const pending = { status: 'pending', tracking_number: number, tracking_key: number };
  return clone(owner, 'prealerts', target.prealertId, pending);
}

async function newDraft(owner: Owner, { code, courierId, draftBillId }: Belongings): Promise<string> {
  if (code === 'NOBODY') return draftBillId;
  const { rows } = await owner.query<{ tenant_id: string }>('select tenant_id from couriers where id = $1', [
    courierId,
  ]);
  return newDraftBill(owner, { tenant_id: rows[0]?.tenant_id ?? '', courier_id: courierId });
}

/** A scan of the text that the statement selects. Ids without a row are scanned themselves. */
async function scanOf(owner: Owner, statement: string, id: string): Promise<Call> {
  const { rows } = await owner.query<{ text: string }>(statement, [id]);
  return { body: { scan: rows[0]?.text ?? id } };
}

async function newCustomer(owner: Owner, { code, customerId }: Belongings): Promise<string> {
  if (code === 'NOBODY') return customerId;
  return clone(owner, 'customers', customerId, { user_code: freshNumber() });
}

/** Removes what earlier calls made and of which a courier may have few: service tokens, and tests that no worker sends. */
export async function removeCounted(owner: Owner): Promise<void> {
  await owner.query('delete from service_tokens where created_by = courier_id');
  await owner.query("delete from webhook_deliveries where origin = 'test' and status = 'pending'");
}

/** The matrix needs the row only; `secrets` gives it a secret that can be rotated. */
async function newServiceToken(
  owner: Owner,
  { code, courierId }: Belongings,
  secrets?: Service['app']['secrets'],
): Promise<string> {
  if (code === 'NOBODY') return courierId;
  const id = randomUUID();
  const { rows } = await owner.query<{ tenant_id: string }>('select tenant_id from couriers where id = $1', [
    courierId,
  ]);
  const tenantId = rows[0]?.tenant_id ?? '';
  const cipher =
    secrets?.encrypt('0'.repeat(64), { tenantId, rowId: id, field: 'service_token' }) ?? 'v1.none';
  await owner.query(
    `insert into service_tokens (tenant_id, id, courier_id, name, scopes, token_hash, digest_cipher, hint, expires_at, created_by)
     values ($1, $2, $3, $4, '{packages:read}', 'none', $5, 'abcdef', now() + interval '1 day', $3)`,
    [tenantId, id, courierId, freshNumber(), cipher],
  );
  return id;
}

/** The same for feeds. */
async function newFeed(
  owner: Owner,
  { code, courierId }: Belongings,
  secrets?: Service['app']['secrets'],
): Promise<string> {
  if (code === 'NOBODY') return courierId;
  const id = randomUUID();
  const { rows } = await owner.query<{ tenant_id: string }>('select tenant_id from couriers where id = $1', [
    courierId,
  ]);
  const tenantId = rows[0]?.tenant_id ?? '';
  const cipher = secrets?.encrypt('0'.repeat(43), { tenantId, rowId: id, field: 'feed_secret' }) ?? 'v1.none';
  await owner.query(
    `insert into feeds (tenant_id, id, courier_id, kind, name, secret_cipher, hint, created_by)
     values ($1, $2, $3, 'easypost', $4, $5, '0000', $3)`,
    [tenantId, id, courierId, freshNumber(), cipher],
  );
  return id;
}

async function newManifest(
  owner: Owner,
  { code, manifestId }: Belongings,
  columns: { status?: string } = {},
): Promise<string> {
  if (code === 'NOBODY') return manifestId;
  return clone(owner, 'manifests', manifestId, { manifest_number: freshManifestNumber(), ...columns });
}

const freshCode = () => `C${(serial += 1)}`.padEnd(2, '0');

/** Creates a courier like the target, without an API key. */
async function newCourier(owner: Owner, { code, courierId }: Belongings, isActive: boolean): Promise<string> {
  if (code === 'NOBODY') return courierId;
  const withoutKey = { api_key_hash: null, api_key_cipher: null };
  return clone(owner, 'couriers', courierId, { code: freshCode(), is_active: isActive, ...withoutKey });
}

async function newWarehouse(owner: Owner, { code, warehouseId }: Belongings): Promise<string> {
  if (code === 'NOBODY') return warehouseId;
  return clone(owner, 'warehouses', warehouseId, { name: freshNumber(), is_primary: false });
}

async function newCarrier(owner: Owner, { code, carrierId }: Belongings): Promise<string> {
  if (code === 'NOBODY') return carrierId;
  return clone(owner, 'carriers', carrierId, { name: freshNumber() });
}

let serial = 0;

/** Returns a different fee each time, so that each call changes something. */
const freshFee = () => (serial += 1);

/** Creates a tier of the courier beyond its other tiers. Tiers of different calls do not overlap. */
async function newRate(owner: Owner, { code, courierId, rateId }: Belongings): Promise<number> {
  if (code === 'NOBODY') return rateId;
  const { rows } = await owner.query<{ id: number }>(
    `insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
     select tenant_id, id, 50000 + $2, 50000 + $2, 1 from couriers where id = $1 returning id`,
    [courierId, (serial += 1)],
  );
  return rows[0]?.id ?? 0;
}

/** One scan of a station, at this time. */
function scanBatch(scan: object): Call {
  const scanned_at = new Date().toISOString().slice(0, 19).replace('T', ' ');
  return { body: { station: 'Dock', scans: [{ scan_id: randomUUID(), scanned_at, ...scan }] } };
}

/** Plants another user of a courier. Returns its id. */
async function newUser(owner: pg.Pool, { courierId }: Belongings): Promise<string> {
  const { rows } = await owner.query<{ tenant: string }>(
    'select tenant_id as tenant from couriers where id = $1',
    [courierId],
  );
  return insertUser(owner, rows[0]?.tenant ?? '', courierId);
}
