import type { components } from '../../../generated/contract.js';

export type FailureCode = components['schemas']['FailureCode'];
export type FieldError = components['schemas']['FieldError'];

// Public text says what to do. A rule that knows better gives its own message with the code.
const CATALOGUE = {
  validation_failed: { http: 400, text: 'Correct the fields named in errors.' },
  body_required: { http: 400, text: 'Send a JSON object as the request body.' },
  malformed_json: { http: 400, text: 'Send a body that is well-formed JSON.' },
  malformed_form: { http: 400, text: 'Send a whole, well-formed form, with its boundary in Content-Type.' },
  malformed_request: { http: 400, text: 'Send a well-formed HTTP request.' },
  invalid_encoding: { http: 400, text: 'Send text as well-formed UTF-8, without NUL characters.' },
  unknown_user_code: { http: 400, text: 'Use the user code of an active customer of the courier.' },
  manifest_invalid_transition: {
    http: 400,
    text: 'Move the manifest one step: draft, ready, shipped, completed.',
  },
  manifest_closed: { http: 400, text: 'Packages can be changed only while the manifest is draft or ready.' },
  manifest_not_empty: { http: 400, text: 'Remove the packages from the manifest before deleting it.' },
  packages_not_assignable: { http: 400, text: 'Leave out the packages named in errors.' },
  package_invalid_transition: { http: 400, text: 'No package was changed. See errors.' },
  package_not_assignable: {
    http: 400,
    text: 'No package of this number has come in yet. Leave assign out.',
  },
  prealert_not_flagged: { http: 400, text: 'Only a flagged pre-alert can be reviewed.' },
  default_rates_missing: { http: 400, text: 'Save default rates before you copy them.' },
  logo_not_acceptable: { http: 400, text: 'Send the logo as a JPG, PNG or SVG file.' },
  endpoint_missing: {
    http: 400,
    text: 'The courier has not set this URL, or is disabled. Set it in the settings first.',
  },
  endpoint_paused: {
    http: 400,
    text: 'The URL is paused. Send it a test first: the first that it takes ends the pause.',
  },
  tests_pending: { http: 400, text: 'Ten tests wait to be sent. Wait until one of them has been.' },
  sync_url_missing: {
    http: 400,
    text: 'Set api_url_get_customers in the settings of the courier, then synchronise.',
  },
  password_wrong: { http: 400, text: 'The password is wrong. Send the one that you log in with.' },
  code_wrong: { http: 400, text: 'The code is wrong or used. Wait for the next one of your authenticator.' },
  own_account: {
    http: 400,
    text: 'Change your own password with ChangePassword.php, and your second factor with TwoFactor.php.',
  },
  last_admin: { http: 400, text: 'Make or enable another administrator first: this is the last one.' },
  two_factor_enabled: { http: 400, text: 'Two-factor authentication is on. Disable it before a new set-up.' },
  two_factor_disabled: { http: 400, text: 'Two-factor authentication is off. Set it up first.' },
  two_factor_setup_missing: {
    http: 400,
    text: 'Nothing is being set up, or not within ten minutes. Start with the action setup.',
  },
  reset_token_invalid: {
    http: 400,
    text: 'The reset token is wrong, used, replaced or expired. Request a new one.',
  },
  warehouse_is_primary: { http: 400, text: 'Make another warehouse the primary one first.' },
  warehouse_in_use: { http: 400, text: 'Packages or manifests name this warehouse. It cannot be deleted.' },
  carrier_in_use: { http: 400, text: 'Packages name this carrier. It cannot be deleted; rename it instead.' },
  nothing_to_bill: { http: 400, text: 'The courier has no package of this period that is on no bill yet.' },
  bill_too_large: { http: 400, text: 'The bill would be too large. Choose a shorter period.' },
  bill_total_negative: {
    http: 400,
    text: 'The lines of the bill would sum to less than 0. Give back the rest on another bill.',
  },
  bill_not_draft: {
    http: 400,
    text: 'The bill is published and stays as it is. Put a correction on the next bill as an adjustment.',
  },
  bill_not_published: { http: 400, text: 'Publish the bill before you record a payment.' },
  payment_exceeds_balance: { http: 400, text: 'Record no more than is outstanding.' },
  bill_too_long: { http: 400, text: 'A PDF holds at most 10,000 lines. Ask for csv.' },
  key_missing: { http: 401, text: 'Send your API key in the header X-API-KEY.' },
  credentials_invalid: { http: 401, text: 'The user name or the password is wrong.' },
  code_invalid: { http: 401, text: 'The code is wrong, used or expired. Log in again.' },
  token_missing: { http: 401, text: 'Send an access token as Authorization: Bearer <token>.' },
  token_invalid: { http: 401, text: 'The access token is not valid. Log in again.' },
  token_expired: { http: 401, text: 'The access token has expired. Log in again.' },
  session_ended: { http: 401, text: 'The session has ended. Log in again.' },
  key_invalid: {
    http: 403,
    text: 'The API key is not valid here. Take the current one from the courier profile.',
  },
  account_disabled: { http: 403, text: 'The account is disabled. Ask an administrator to enable it.' },
  permission_denied: { http: 403, text: 'Your role does not allow this.' },
  record_forbidden: { http: 403, text: 'The record belongs to another courier.' },
  https_required: { http: 403, text: 'Use HTTPS.' },
  password_change_required: {
    http: 403,
    text: 'Your password is a one-time password. Change it with ChangePassword.php first.',
  },
  two_factor_required: {
    http: 403,
    text: 'Your role requires two-factor authentication. Set it up with TwoFactor.php first.',
  },
  route_not_found: { http: 404, text: 'There is no such path. See /docs.' },
  unknown_host: { http: 404, text: 'No instance answers on this host name.' },
  prealert_not_found: { http: 404, text: 'There is no such pre-alert.' },
  package_not_found: { http: 404, text: 'There is no such package.' },
  manifest_not_found: { http: 404, text: 'There is no such manifest.' },
  courier_not_found: { http: 404, text: 'There is no such courier.' },
  customer_not_found: { http: 404, text: 'There is no such customer.' },
  warehouse_not_found: { http: 404, text: 'There is no such warehouse.' },
  carrier_not_found: { http: 404, text: 'There is no such carrier.' },
  rate_not_found: { http: 404, text: 'There is no such rate.' },
  logo_not_found: { http: 404, text: 'There is no such logo.' },
  delivery_not_found: { http: 404, text: 'There is no such delivery.' },
  user_not_found: { http: 404, text: 'There is no such user.' },
  session_not_found: { http: 404, text: 'There is no such session.' },
  bill_not_found: { http: 404, text: 'There is no such bill.' },
  adjustment_not_found: {
    http: 404,
    text: 'There is no such adjustment. Packages and air freight stay on their bill.',
  },
  payment_not_found: { http: 404, text: 'There is no such payment.' },
  method_not_allowed: { http: 405, text: 'Use one of the methods in the header Allow.' },
  request_timeout: { http: 408, text: 'The request did not arrive in time. Send it again.' },
  duplicate_tracking_number: {
    http: 409,
    text: 'The tracking number has a pre-alert already. Read it from the list.',
  },
  duplicate_user_code: {
    http: 409,
    text: 'Another customer of the courier has this user code. Read it from the list, or use another code.',
  },
  duplicate_username: { http: 409, text: 'Another user has this user name. Choose another.' },
  duplicate_courier_code: { http: 409, text: 'Another courier has this code. Use another one.' },
  duplicate_warehouse_name: { http: 409, text: 'Another warehouse has this name. Use another one.' },
  duplicate_carrier_name: { http: 409, text: 'Another carrier has this name. Use another one.' },
  idempotency_key_reused: {
    http: 409,
    text: 'This Idempotency-Key came with another request before. Send a new key with a new request.',
  },
  idempotency_in_progress: {
    http: 409,
    text: 'The first request with this Idempotency-Key is still at work. Send it again after Retry-After.',
  },
  body_too_large: { http: 413, text: 'Send a smaller body.' },
  unsupported_media_type: {
    http: 415,
    text: 'Send Content-Type: application/json, uncompressed and in UTF-8.',
  },
  credentials_required: { http: 422, text: 'Send a user name and a password.' },
  too_many_attempts: { http: 429, text: 'Too many failed attempts. Wait as long as Retry-After says.' },
  quota_exceeded: {
    http: 429,
    text: 'The courier may do no more of this for now. Wait as long as Retry-After says.',
  },
  rate_limited: { http: 429, text: 'Too many requests. Wait as long as Retry-After says.' },
  headers_too_large: { http: 431, text: 'Send fewer or shorter headers.' },
  internal_error: { http: 500, text: 'Something went wrong on our side. Tell us the request_id.' },
  unavailable: { http: 503, text: 'The service cannot answer just now. Try again after Retry-After.' },
  overloaded: { http: 503, text: 'Too much work at once. Try again after Retry-After.' },
} satisfies Record<FailureCode, { http: number; text: string }>;

export type ApiErrorDetail = { errors?: FieldError[]; retryAfterSeconds?: number };

/** A refusal with a code of the catalogue; only platform/http/replies/error-handler.ts makes a reply of it. */
export class ApiError extends Error {
  readonly httpStatus: number;

  constructor(
    readonly code: FailureCode,
    message: string = CATALOGUE[code].text,
    readonly detail: ApiErrorDetail = {},
  ) {
    super(message);
    this.httpStatus = CATALOGUE[code].http;
  }
}

/** A 400 that names one field. */
export function invalidFieldError(field: string, message: string, code = 'invalid'): ApiError {
  return new ApiError('validation_failed', `${field} ${message}.`, {
    errors: [{ field, code, message: `${field} ${message}.` }],
  });
}
