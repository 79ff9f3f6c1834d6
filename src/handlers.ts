import type { Handlers } from '../generated/handlers.js';
import { accountHandlers } from './modules/auth/account/handlers.js';
import { deviceSessionHandlers } from './modules/auth/device/handlers.js';
import { stationHandlers } from './modules/auth/station/handlers.js';
import { auditLogHandlers } from './modules/audit-log/handlers.js';
import { loginHandlers } from './modules/auth/login/handlers.js';
import { billHandlers } from './modules/bills/handlers.js';
import { paymentTermsHandlers } from './modules/bills/payment-terms/handlers.js';
import { billAccountHandlers } from './modules/bills/accounts/handlers.js';
import { billMailHandlers } from './modules/bills/mails/handlers.js';
import { billingRunHandlers } from './modules/bills/run/handlers.js';
import { customerHandlers } from './modules/customers/handlers.js';
import { carrierHandlers } from './modules/carriers/handlers.js';
import { claimHandlers } from './modules/claims/handlers.js';
import { courierSetUpHandlers } from './modules/couriers/set-up/handlers.js';
import { courierHandlers } from './modules/couriers/settings/handlers.js';
import { courierAdministrationHandlers } from './modules/couriers/administration/handlers.js';
import type { Deps } from './modules/dependencies.js';
import { invoiceHandlers } from './modules/invoices/handlers.js';
import { manifestHandlers } from './modules/manifests/handlers.js';
import { packageEventHandlers } from './modules/packages/events/handlers.js';
import { packageHandlers } from './modules/packages/handlers.js';
import { labelJobHandlers } from './modules/packages/label-jobs/handlers.js';
import { getPackageHandlers } from './modules/packages/get-package/handlers.js';
import { packageStatisticsHandlers } from './modules/packages/statistics/handlers.js';
import { packageChangesHandlers } from './modules/packages/changes/handlers.js';
import { locationHandlers } from './modules/packages/locations/handlers.js';
import { stationListHandlers } from './modules/packages/stations/handlers.js';
import { passwordResetHandlers } from './modules/password-reset/handlers.js';
import { prealertHandlers } from './modules/prealerts/handlers.js';
import { prealertSubmissionHandlers } from './modules/prealerts/submission/handlers.js';
import { prealertUploadHandlers } from './modules/prealerts/upload/handlers.js';
import { preferencesHandlers } from './modules/preferences/handlers.js';
import { rateHandlers } from './modules/rates/handlers.js';
import { executeWaitingScans } from './modules/scans/batch/execute-parcels.js';
import { scanBatchHandlers } from './modules/scans/batch/handlers.js';
import { sandboxHandlers } from './modules/sandboxes/handlers.js';
import { sandboxLivesHandlers } from './modules/sandboxes/lives/handlers.js';
import { scanHandlers } from './modules/scans/handlers.js';
import { manifestLoadingHandlers } from './modules/scans/loading/handlers.js';
import { securityHandlers } from './modules/security/handlers.js';
import { tenantSettingsHandlers } from './modules/tenant-settings/handlers.js';
import { serviceHandlers } from './modules/service/handlers.js';
import { serviceTokenHandlers } from './modules/service-tokens/handlers.js';
import { sessionHandlers } from './modules/sessions/handlers.js';
import { userHandlers } from './modules/users/handlers.js';
import { teamHandlers } from './modules/users/team/handlers.js';
import { warehouseHandlers } from './modules/warehouses/handlers.js';
import { webhookHandlers } from './modules/webhooks/log/handlers.js';
import { webhookHealthHandlers } from './modules/webhooks/health/handlers.js';
import { attentionHandlers } from './modules/attention/handlers.js';
import { apiCallHandlers } from './modules/api-calls/handlers.js';
import { integrationCheckHandlers } from './modules/integration-checks/handlers.js';
import { feedHandlers } from './modules/feeds/handlers.js';
import { trackingHandlers } from './modules/tracking/handlers.js';
import { trackingPageHandlers } from './modules/tracking/pages/handlers.js';
import { noticeHandlers } from './modules/notices/handlers.js';
import { noticeChoiceHandlers } from './modules/notices/choice/handlers.js';

/** Returns the handler of every operation of the contract. A missing handler fails the type check and the start. */
export function makeHandlers(deps: Deps) {
  return {
    ...serviceHandlers(deps),
    ...loginHandlers(deps),
    ...accountHandlers(deps),
    ...deviceSessionHandlers(deps),
    ...stationHandlers(deps),
    ...passwordResetHandlers(deps),
    ...sessionHandlers(),
    ...serviceTokenHandlers(deps),
    ...sandboxHandlers(deps),
    ...sandboxLivesHandlers(),
    ...securityHandlers(deps),
    ...tenantSettingsHandlers(),
    ...preferencesHandlers(),
    ...userHandlers(deps),
    ...teamHandlers(deps),
    ...prealertHandlers(deps),
    ...prealertSubmissionHandlers(),
    ...customerHandlers(deps),
    ...prealertUploadHandlers(deps),
    ...packageHandlers(deps, executeWaitingScans),
    ...packageEventHandlers(),
    ...labelJobHandlers(),
    ...getPackageHandlers(),
    ...packageStatisticsHandlers(deps),
    ...packageChangesHandlers(),
    ...locationHandlers(),
    ...stationListHandlers(),
    ...scanHandlers(),
    ...scanBatchHandlers(deps),
    ...manifestLoadingHandlers(),
    ...manifestHandlers(deps),
    ...rateHandlers(),
    ...invoiceHandlers(deps),
    ...billHandlers(deps),
    ...paymentTermsHandlers(),
    ...billAccountHandlers(),
    ...billingRunHandlers(deps),
    ...billMailHandlers(),
    ...courierHandlers(deps),
    ...courierSetUpHandlers(),
    ...courierAdministrationHandlers(deps),
    ...warehouseHandlers(),
    ...carrierHandlers(),
    ...claimHandlers(deps),
    ...webhookHandlers(deps),
    ...webhookHealthHandlers(deps),
    ...auditLogHandlers(deps),
    ...attentionHandlers(deps),
    ...integrationCheckHandlers(),
    ...apiCallHandlers(deps),
    ...feedHandlers(deps),
    ...trackingHandlers(deps),
    ...trackingPageHandlers(deps),
    ...noticeHandlers(deps),
    ...noticeChoiceHandlers(deps),
  } satisfies Handlers;
}
