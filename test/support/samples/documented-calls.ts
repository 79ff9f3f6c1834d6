import { hasPermission } from '../../../src/platform/access/permissions.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { operationOf, type Body } from '../service/contract.js';
import type { Call } from '../service/service.js';

/** Returns the caller that an example is written for. */
export function documentedCaller(id: OperationId, name: string): Call {
  const { credential, permission } = operationOf(id);
  if (credential === 'key') return { key: DEMO.apiKeys.IEX };
  if (credential === 'none') return {};
  // The example logs out, and no other test uses hrb here.
  if (id === 'manageSessions') return { as: 'hrb' };
  // Another example resets the password of the only warehouse worker of the demo data. The tests insert this one.
  if (id === 'manageStationWorker') return { as: 'spare-1' };
  if (name.startsWith('courier')) return { as: 'iex' };
  return { as: hasPermission('manager', permission) ? 'manager' : 'admin' };
}

/** Examples that do not succeed, with the expected status and the reason. */
export const EXPECTED_FAILURES: Record<string, number> = {
  // They are no sandboxes. test/modules/sandboxes/lives sends the same examples in one.
  getSandboxLives: 409,
  'manageSandboxLives advance': 409,
  'manageSandboxLives next_step': 409,
  'manageSandboxLives set_speed': 409,
  'manageSandboxLives start': 409,
  'manageSandboxLives stop': 409,
  // Their preauth_token is a placeholder.
  'login verifyCode': 401,
  'login verifyBackupCode': 401,
  // Its token is a placeholder for a mailed one.
  'resetPassword reset': 400,
  // The secret is a placeholder.
  'endPreviousWebhookSecret staff': 409,
  // No webhook was sent.
  'manageWebhookDeliveries redeliver': 404,
  getWebhookDelivery: 404,
  // The demo couriers have no URLs, so that a fresh installation sends no requests.
  'createIntegrationCheck staff': 400,
  'createIntegrationCheck courier': 400,
  'syncCustomers staff': 400,
  'syncCustomers courier': 400,
  // The one-time password and the codes are placeholders.
  'changePassword firstLogin': 400,
  'manageTwoFactor enable': 400,
  'manageTwoFactor disable': 400,
  'manageTwoFactor regenerate': 400,
  // It needs the cookie of a station.
  'switchWorker switch': 401,
  // The session id is a placeholder.
  'manageSessions end': 404,
  // The token ids are placeholders.
  'manageServiceTokens update': 404,
  'manageServiceTokens rotate': 404,
  'manageServiceTokens revoke': 404,
  // The example of deletePrealert has deleted it.
  'setPrealertCarrier correct': 404,
  // The feed ids are placeholders.
  'manageFeeds update': 404,
  'manageFeeds rotate': 404,
  'manageFeeds delete': 404,
  // Examples are sent without their query.
  'receiveFeedEvent easypost': 400,
  'receiveFeedEvent shippo': 400,
  'receiveFeedEvent shopify': 400,
  'receiveFeedEvent woocommerce': 400,
  'receiveFeedEvent ping': 400,
  // The key is a placeholder, and pages are switched off at first.
  getTrackingPage: 404,
  getNoticeChoice: 404,
  'submitNoticeChoice stop': 404,
  'submitNoticeChoice oneClick': 404,
  // Examples are sent without their query.
  getTrackingSearch: 400,
  'submitTrackingSearch search': 400,
  // The job ids are placeholders.
  'reportLabelJob sending': 404,
  'reportLabelJob failed': 404,
  'reprintLabelJob again': 404,
  // The claims and their documents are placeholders.
  'addClaimDocument receipt': 404,
  getClaimDocument: 404,
  'reviewParcelClaim approve': 404,
  'reviewParcelClaim refuse': 404,
  // Packages refer to them.
  'manageWarehouses delete': 400,
  'manageCarriers delete': 400,
  // The demo manifest contains packages.
  'manageManifest delete_manifest': 400,
  // The adjustment id is a placeholder.
  'manageCourierBills remove_adjustment': 404,
  // The previous example published it.
  'manageCourierBills delete_draft': 400,
};

const ONE_MINUTE_AGO = new Date(Date.now() - 60_000).toISOString().slice(0, 19).replace('T', ' ');
/** Fields that depend on the demo data, which dates from the weeks before today. */
export const TIMES: Record<string, Body> = {
  'manageCourierBills create_draft': { start_date: '2020-01-01', end_date: '2100-01-01' },
  'recordPackageEvent several': { occurred_at: ONE_MINUTE_AGO },
};

// Samples that fail only because they run after another sample.
const AFTER_ANOTHER: Record<string, number> = {
  // They announce the parcel that submitPrealert has announced.
  'submitPrealertWithoutSuffix minimal': 409,
  'replacePrealert full': 409,
};

/** Samples that have another status on some days, or after others, and why. */
export const OTHERWISE: Record<string, number> = {
  // manageBillingRun has sent the bill, if the day of the test makes it one of the month in that example.
  'sendBill first': 409,
  // updateCourierSettings has set the URLs.
  'createIntegrationCheck staff': 200,
  'createIntegrationCheck courier': 200,
  // Samples are sent with their query, which names a feed that does not exist.
  'receiveFeedEvent easypost': 401,
  'receiveFeedEvent shippo': 401,
  'receiveFeedEvent shopify': 401,
  'receiveFeedEvent woocommerce': 401,
  'receiveFeedEvent ping': 401,
  // As above, of a courier that has not switched the search on.
  getTrackingSearch: 404,
  'submitTrackingSearch search': 404,
};

/**
 * Returns whether a sample has a status that its operation declares, and succeeds if it can.
 *
 * @param hasNewNumbers whether each sample has a tracking number of its own
 */
export function isExpectedStatus(
  id: OperationId,
  example: string,
  status: number,
  hasNewNumbers = false,
): boolean {
  const name = `${id} ${example}`;
  const failure =
    EXPECTED_FAILURES[name] ?? EXPECTED_FAILURES[id] ?? (hasNewNumbers ? undefined : AFTER_ANOTHER[name]);
  const isDeclared = (operationOf(id).statuses as readonly number[]).includes(status);
  const isUsual = failure === undefined ? status < 300 : status === failure;
  return isDeclared && (name in TIMES || isUsual || status === OTHERWISE[name]);
}
