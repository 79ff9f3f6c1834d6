import type { Handlers } from '../generated/handlers.js';
import { accountHandlers } from './auth/account-handlers.js';
import { auditLogHandlers } from './audit-log/handlers.js';
import { loginHandlers } from './auth/handlers.js';
import { billingAccountHandlers } from './bills/billing-account-handlers.js';
import { billHandlers } from './bills/handlers.js';
import { billManagementHandlers } from './bills/manage-handlers.js';
import { billDocumentHandlers } from './bills/document-handlers.js';
import { customerHandlers } from './customers/handlers.js';
import { carrierHandlers } from './carriers/handlers.js';
import { courierHandlers } from './couriers/handlers.js';
import { courierRegisterHandlers } from './couriers/register-handlers.js';
import { customerUploadHandlers } from './customers/upload-handlers.js';
import { customerSyncHandlers } from './customers/sync-handlers.js';
import { customerSearchHandlers } from './customers/search-handlers.js';
import type { Deps } from './deps.js';
import { invoiceHandlers } from './invoices/handlers.js';
import { manifestHandlers } from './manifests/handlers.js';
import { packageEventHandlers } from './packages/event-handlers.js';
import { packageHandlers } from './packages/handlers.js';
import { passwordResetHandlers } from './password-reset/handlers.js';
import { prealertHandlers } from './prealerts/handlers.js';
import { prealertReviewHandlers } from './prealerts/review-handlers.js';
import { rateHandlers } from './rates/handlers.js';
import { securityHandlers } from './security/handlers.js';
import { serviceHandlers } from './service/handlers.js';
import { sessionHandlers } from './sessions/handlers.js';
import { userHandlers } from './users/handlers.js';
import { warehouseHandlers } from './warehouses/handlers.js';
import { webhookHandlers } from './webhooks/handlers.js';

/** Every operation of the contract; one that is missing fails the type check and the boot. */
export function makeHandlers(deps: Deps) {
  return {
    ...serviceHandlers(deps),
    ...loginHandlers(deps),
    ...accountHandlers(deps),
    ...passwordResetHandlers(deps),
    ...sessionHandlers(deps),
    ...securityHandlers(deps),
    ...userHandlers(deps),
    ...prealertHandlers(deps),
    ...customerHandlers(deps),
    ...customerUploadHandlers(deps),
    ...customerSearchHandlers(deps),
    ...customerSyncHandlers(deps),
    ...prealertReviewHandlers(deps),
    ...packageHandlers(deps),
    ...packageEventHandlers(deps),
    ...manifestHandlers(deps),
    ...rateHandlers(deps),
    ...invoiceHandlers(deps),
    ...billHandlers(deps),
    ...billManagementHandlers(deps),
    ...billingAccountHandlers(deps),
    ...billDocumentHandlers(deps),
    ...courierHandlers(deps),
    ...courierRegisterHandlers(deps),
    ...warehouseHandlers(deps),
    ...carrierHandlers(deps),
    ...webhookHandlers(deps),
    ...auditLogHandlers(deps),
  } satisfies Handlers;
}
