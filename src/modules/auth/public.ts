// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { insertUser } from './credentials/new-user.js';
export { ONE_TIME_PASSWORD_DAYS, newOneTimePassword } from './credentials/new-user.js';
export { confirmOwnPassword, type Confirmation, type Settle } from './credentials/own-password.js';
export { assertRecentLogin, confirmAccess } from './credentials/recent-login.js';
export { confirming } from './credentials/confirming.js';
export { validatePassword } from './credentials/password-policy.js';
export { openPasswords, type Passwords } from './credentials/passwords.js';
export {
  codeThrottle,
  countAttempt,
  limitOf,
  lockedOutError,
  lockLeft,
  passwordThrottle,
  resetFailures,
  resetThrottle,
} from '../../platform/limits/stored/login-throttle.js';
