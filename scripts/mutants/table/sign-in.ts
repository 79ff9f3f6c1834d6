import type { SourceMutant } from '../mutant.js';

const RECENT = 'test/modules/users/recent-login.test.ts';

const PINS = 'test/modules/auth/device/pins.test.ts';
const RACES = 'test/modules/auth/device/pin-races.test.ts';
const QUERIES = 'src/modules/auth/station/queries.ts';

/** Guards of passwords, second factors, PINs and tokens. */
export const SIGN_IN: readonly SourceMutant[] = [
  // Decision 0135: access that outlives a session.
  {
    name: 'users: an old login gives nobody access',
    file: 'src/modules/auth/credentials/recent-login.ts',
    find: 'if (!login?.isRecent)',
    replace: 'if (!login)',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: create is confirmed',
    file: 'src/modules/users/handlers.ts',
    find: 'await confirmed(sent, (settle) => createUser(ctx, deps, input, settle))',
    replace: 'await createUser(ctx, deps, (void sent, input))',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: change_role is confirmed',
    file: 'src/modules/users/handlers.ts',
    find: 'await confirmed(sent, (settle) => changeRole(ctx, id, { role, courierId }, settle))',
    replace: 'await changeRole(ctx, id, (void sent, { role, courierId }))',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: enable is confirmed',
    file: 'src/modules/users/handlers.ts',
    find: 'await confirmed(sent, (settle) => setUserActive(ctx, id, true, settle))',
    replace: 'await setUserActive(ctx, (void sent, id), true)',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: reset_password is confirmed',
    file: 'src/modules/users/handlers.ts',
    find: 'await confirmed(sent, (settle) => resetPassword(ctx, deps, id, settle))',
    replace: 'await resetPassword(ctx, deps, (void sent, id))',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: reset_two_factor is confirmed',
    file: 'src/modules/users/handlers.ts',
    find: 'await confirmed(sent, (settle) => resetTwoFactor(ctx, id, settle))',
    replace: 'await resetTwoFactor(ctx, (void sent, id))',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: "users: a change of another user's address is confirmed",
    file: 'src/modules/users/change.ts',
    find: 'if (!(await redirectsMail(ctx, userId, sent)))',
    replace: 'if (userId !== ctx.caller.userId || !(await redirectsMail(ctx, userId, sent)))',
    tests: [{ file: RECENT, titles: ['needs the own password 15 minutes after the login'] }],
  },
  {
    name: 'users: the own address needs the password after a fresh login, too',
    file: 'src/modules/users/change.ts',
    find: 'if (userId === ctx.caller.userId && confirmation.password === undefined)',
    replace: 'if (Math.random() > 1)',
    tests: [{ file: RECENT, titles: ['a fresh login changes its own address'] }],
  },
  {
    name: 'login: the password hash is compared again after hashing',
    file: 'src/modules/auth/login/login.ts',
    find: 'fresh?.passwordHash !== account.passwordHash || fresh.isPasswordExpired',
    replace: 'fresh === undefined || fresh.isPasswordExpired',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['whose password is changed meanwhile'] },
    ],
  },
  {
    name: 'login: the expiry of a one-time password is checked again after hashing',
    file: 'src/modules/auth/login/login.ts',
    find: ' || fresh.isPasswordExpired)',
    replace: ')',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['whose one-time password expires meanwhile'],
      },
    ],
  },
  {
    name: 'login: a user disabled during hashing is rejected',
    file: 'src/modules/auth/login/login.ts',
    find: "if (!fresh.isEnabled) return new ApiError('account_disabled');",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['is rejected with 403 if the user was disabled meanwhile'],
      },
    ],
  },
  {
    name: 'login: an enabled second factor is required',
    file: 'src/modules/auth/login/login.ts',
    find: 'if (!fresh.twoFactorEnabled) return',
    replace: 'if (fresh) return',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['asks for a code if the user enabled two-factor authentication'],
      },
    ],
  },
  {
    name: 'login: the user is locked while the session starts',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: '::uuid for share`',
    replace: '::uuid`',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['whose password is changed meanwhile'] },
    ],
  },
  {
    name: 'password: it is compared with the hash',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'return canMatch && isSame && !refused.includes(password);',
    replace: 'return canMatch;',
    tests: [
      {
        file: 'test/modules/auth/login.test.ts',
        titles: ['an unknown user, a wrong password and a disabled user'],
      },
    ],
  },
  {
    name: 'password: an unknown user takes as long as a known one',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'const isSame =',
    replace: 'if (!canMatch) return false;\n  const isSame =',
    tests: [
      { file: 'test/modules/auth/login.test.ts', titles: ['takes the time of a hash for every failure'] },
    ],
  },
  {
    name: 'password: a password that bcrypt would truncate does not match',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'const canMatch = hash !== undefined && isHashable(password);',
    replace: 'const canMatch = hash !== undefined;',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a password beyond 72 bytes'] }],
  },
  {
    name: 'password: an expired one-time password is rejected',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: 'account && isRight && !account.isPasswordExpired;',
    replace: 'account && isRight;',
    tests: [
      { file: 'test/modules/users/users.test.ts', titles: ['treats an expired one-time password as wrong'] },
    ],
  },
  {
    name: 'throttle: an attempt is rejected while the username is locked',
    file: 'src/platform/limits/stored/login-throttle.ts',
    find: 'where throttle.locked_until is null or throttle.locked_until <= now()\n    returning failures',
    replace: 'returning failures',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['simultaneous attempts counted in the database'],
      },
    ],
  },
  {
    name: 'throttle: the fifth attempt locks before the password is verified',
    file: 'src/platform/limits/stored/login-throttle.ts',
    find: 'throttle.failures + 1 >= ${MAX_FAILURES}::int then',
    replace: 'false then',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['simultaneous attempts counted in the database'],
      },
    ],
  },
  {
    name: 'throttle: the lock is checked before queueing',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: 'if (!counted) throw lockedOutError(throttle, left);',
    replace: 'if (!counted) return { failures: 0, account };',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['simultaneous wrong passwords for one user name'],
      },
    ],
  },
  {
    name: 'throttle: fifty failures block an address',
    file: 'src/platform/limits/network-budget.ts',
    find: 'if (counted && counted.consumedPoints >= level.limit.quota) throw',
    replace: 'if (counted && counted.consumedPoints < 0) throw',
    tests: [
      {
        file: 'test/modules/auth/login-locks.test.ts',
        titles: ['blocks an address for every name after fifty failures'],
      },
    ],
  },
  {
    name: 'throttle: an IPv6 network counts as one address',
    file: 'src/platform/values/network-address.ts',
    find: '.slice(0, 4)',
    replace: '',
    tests: [{ file: 'test/modules/auth/login-races.test.ts', titles: ['failures from'] }],
  },
  {
    name: 'throttle: the networks of an IPv6 /56 and /48 fail together',
    file: 'src/platform/limits/network-budget.ts',
    find: 'const levels = isKnown ? [own] : [own, ...widerOf(who)];',
    replace: 'const levels = [own];',
    tests: [{ file: 'test/modules/auth/login-budgets.test.ts', titles: ['a /56 may fail 250 logins'] }],
  },
  {
    name: 'throttle: an address cannot try a locked name without end',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: '      if (isOfLock(error)) await deps.loginLimiter.countLocked(ctx.tenantId, username, address);\n',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/login-budgets.test.ts',
        titles: ['of 80 attempts of an address on a locked name'],
      },
    ],
  },
  {
    name: 'queue: strangers do not take the places of known networks',
    file: 'src/platform/limits/queues/keyed-limiter.ts',
    find: "group: isStranger ? 'others' : 'known',",
    replace: "group: 'known',",
    tests: [
      {
        file: 'test/resilience/overload/logins-of-many-networks.test.ts',
        titles: ['logins from 60 networks that have nothing in common'],
      },
    ],
  },
  {
    name: 'queue: a login that the queue refuses costs no transaction',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: '    await deps.loginLimiter.assertSpace(ctx.tenantId, username, address);\n',
    replace: '',
    tests: [{ file: 'test/modules/auth/login-races.test.ts', titles: ['a flood that the queue refuses'] }],
  },
  {
    name: 'queue: attempts for one username run one at a time',
    file: 'src/platform/limits/login-limiter.ts',
    find: 'limiter.run(nameKeyOf(tenantId, username), attempt,',
    replace: 'limiter.run(`${tenantId} ${Math.random()}`, attempt,',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['a flood of attempts for one name', 'a limiter with three slots'],
      },
    ],
  },
  {
    name: 'codes: a preauth token can be used once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and consumed_at is null and expires_at > now()',
    replace: 'and expires_at > now()',
    tests: [
      {
        file: 'test/modules/auth/second-factor.test.ts',
        titles: ['a wrong code consumes the preauth token'],
      },
    ],
  },
  {
    name: 'codes: a preauth token expires after five minutes',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and consumed_at is null and expires_at > now()',
    replace: 'and consumed_at is null',
    tests: [
      {
        file: 'test/modules/auth/second-factor.test.ts',
        titles: ['unknown, empty, used and expired tokens are rejected'],
      },
    ],
  },
  {
    name: 'codes: a TOTP step is accepted once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and (totp_last_step is null or totp_last_step < ${step}::int)',
    replace: '',
    tests: [{ file: 'test/modules/auth/second-factor.test.ts', titles: ['a TOTP step is accepted once'] }],
  },
  {
    name: 'codes: a backup code is accepted once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and code_hash = ${codeHash}\n      and used_at is null',
    replace: 'and code_hash = ${codeHash}',
    tests: [{ file: 'test/modules/auth/second-factor.test.ts', titles: ['a backup code works once'] }],
  },
  {
    name: 'codes: a backup code works only for its user',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and user_id = ${userId}::uuid and code_hash',
    replace: 'and code_hash',
    tests: [
      { file: 'test/modules/auth/second-factor.test.ts', titles: ["rejects another user's backup code"] },
    ],
  },
  {
    name: 'codes: wrong codes are counted, and the sixth attempt is not verified',
    file: 'src/modules/auth/credentials/code-attempt.ts',
    find: 'if (!counted) return lockedOut',
    replace: 'if (!counted && Math.random() > 2) return lockedOut',
    tests: [
      {
        file: 'test/modules/auth/second-factor.test.ts',
        titles: ['five wrong codes in a row lock the codes'],
      },
    ],
  },
  {
    name: 'codes: an empty or short secret accepts no code',
    file: 'src/modules/auth/credentials/totp.ts',
    find: 'if (!USABLE_SECRET.test(secret)) return undefined;',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/second-factor.test.ts',
        titles: ['rejects every code of a user whose secret is empty'],
      },
    ],
  },
  {
    name: 'codes: a code has six digits',
    file: 'src/modules/auth/credentials/totp.ts',
    find: 'if (!/^\\d{6}$/.test(code)) return undefined;',
    replace: '',
    tests: [{ file: 'test/modules/auth/second-factor.test.ts', titles: ['a code is exactly six digits'] }],
  },
  {
    name: 'codes: a user disabled between the two steps is rejected',
    file: 'src/modules/auth/login/second-step.ts',
    find: "if (!account.isEnabled) return new ApiError('account_disabled');",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/second-factor.test.ts',
        titles: ['does not verify or consume the code of a user who was disabled'],
      },
    ],
  },
  {
    name: 'codes: a user disabled while a code is verified is rejected',
    file: 'src/modules/auth/login/second-step.ts',
    find: "if (!account?.isEnabled) return new ApiError('account_disabled');",
    replace: "if (!account) return new ApiError('account_disabled');",
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['verify_2fa issues no token if the user was disabled'],
      },
    ],
  },
  {
    name: 'codes: a disabled second factor accepts no backup code',
    file: 'src/modules/auth/credentials/code-attempt.ts',
    find: 'if (!account.twoFactorEnabled) return undefined;',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['verify_2fa accepts no backup code'],
      },
    ],
  },
  {
    name: 'own account: a password change requires the current password',
    file: 'src/modules/auth/credentials/own-password.ts',
    find: 'return withPassword(ctx, deps, { username, password, address }, refuse, work);',
    replace:
      'return readOwnAccount(ctx).then(work).catch(() => withPassword(ctx, deps, { username, password, address }, refuse, work));',
    tests: [
      {
        file: 'test/modules/auth/change-password.test.ts',
        titles: ['five wrong passwords, counted together with login'],
      },
    ],
  },
  {
    name: 'own account: the password did not change since it was verified',
    file: 'src/modules/auth/account/queries.ts',
    find: ' and users.password_hash = ${old}`',
    replace: '`',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['rejects a password change if meanwhile > the password is changed'],
      },
    ],
  },
  {
    name: 'own account: the token is still valid when the change is written',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.token_version = ${ctx.caller.tokenVersion}::int and users.is_active',
    replace: 'and users.is_active',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['rejects a password change if meanwhile > tokens are ended'],
      },
    ],
  },
  {
    name: 'own account: the user is still enabled when the change is written',
    file: 'src/modules/auth/account/queries.ts',
    find: '::int and users.is_active`',
    replace: '::int`',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['rejects a password change if meanwhile > the user is disabled'],
      },
    ],
  },
  {
    name: 'second factor: it is enabled with the verified secret',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.totp_pending_secret = ${pendingCipher} and',
    replace: 'and',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['does not enable two-factor authentication if meanwhile > another setup begins'],
      },
    ],
  },
  {
    name: 'second factor: it is disabled only for the verified password',
    file: 'src/modules/auth/account/queries.ts',
    find: '${endTokens}\n    where ${authenticatedUser(ctx)} and users.password_hash = ${passwordHash} and users.two_factor_enabled`',
    replace: '${endTokens}\n    where ${authenticatedUser(ctx)} and users.two_factor_enabled`',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['does not disable two-factor authentication if meanwhile > the password is changed'],
      },
    ],
  },
  {
    name: 'second factor: backup codes are created only for the verified password',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.password_hash = ${passwordHash} and users.two_factor_enabled for update',
    replace: 'and users.two_factor_enabled for update',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['creates no backup codes if meanwhile > the password is changed'],
      },
    ],
  },
  {
    name: 'own address: an administrator confirms it with the password',
    file: 'src/modules/users/change.ts',
    find: 'return stored !== undefined && stored.email !== email;',
    replace: 'return false;',
    tests: [{ file: 'test/modules/own-email.test.ts', titles: ['a stolen token does not redirect'] }],
  },
  {
    name: 'passwords: a correct password is hashed with the configured cost',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: 'if (!passwords.isOutdated(account.passwordHash)) return account;',
    replace: 'return account;',
    tests: [
      {
        file: 'test/modules/auth/hash-cost.test.ts',
        titles: ['a correct password is hashed with the configured cost'],
      },
    ],
  },
  {
    name: 'passwords: an unknown name takes the time of most stored hashes',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'hash ?? dummyHash(usualCost)',
    replace: 'hash ?? dummyHash(cost)',
    tests: [
      {
        file: 'test/modules/auth/hash-cost.test.ts',
        titles: ['an unknown name takes the time of most stored hashes'],
      },
    ],
  },
  {
    name: 'tokens: the claims have a fixed form',
    file: 'src/platform/access/tokens.ts',
    find: "if (!isWellFormed) throw new ApiError('token_invalid');",
    replace: '',
    tests: [
      {
        file: 'test/security/token-rights.test.ts',
        titles: ['a token with > is refused with 401'],
      },
    ],
  },
  {
    name: 'tokens: the signature is verified',
    file: 'src/platform/access/tokens.ts',
    find: 'const claims = assertWellFormed(signer.verify(token));',
    replace:
      "const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;",
    tests: [
      { file: 'test/modules/auth/tokens.test.ts', titles: ['a later expiry and the original signature'] },
    ],
  },
  {
    name: 'tokens: tokens of another deployment are rejected',
    file: 'src/platform/access/tokens.ts',
    find: 'allowedIss: issuer,\n        allowedAud: issuer,\n',
    replace: '',
    tests: [{ file: 'test/modules/auth/tokens.test.ts', titles: ['another issuer', 'another audience'] }],
  },
  {
    name: 'tokens: tokens of another tenant are rejected on this host',
    file: 'src/platform/access/authenticate.ts',
    find: "if (caller.tenantId !== tenantId) throw new ApiError('token_invalid');",
    replace: '',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ["a token is rejected on another tenant's host"],
      },
    ],
  },
  {
    name: 'sessions: a user who is disabled meanwhile ends no session',
    file: 'src/modules/sessions/manage.ts',
    find: "if (!account.isActive) throw new ApiError('account_disabled');",
    replace: '',
    tests: [
      {
        file: 'test/modules/sessions/end-sessions.test.ts',
        titles: ['while a request waits ends no session'],
      },
    ],
  },
  {
    name: 'session cookie: a request needs the header that other origins cannot send',
    file: 'src/platform/access/session-cookie.ts',
    find: 'if (headers[USER_HEADER] === undefined) return false;',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/device/cookie-forgery.test.ts',
        titles: ['is refused without the header, as forms'],
      },
    ],
  },
  {
    name: 'session cookie: the browser must not name another page',
    file: 'src/platform/access/session-cookie.ts',
    find: "if (site !== undefined) return site === 'same-origin';",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/device/cookie-forgery.test.ts',
        titles: ['is refused with the header if the browser or Origin names another page'],
      },
    ],
  },
  {
    name: 'session cookie: Origin must not name another page',
    file: 'src/platform/access/session-cookie.ts',
    find: 'return headers.origin === undefined ||',
    replace: 'return true ||',
    tests: [
      {
        file: 'test/modules/auth/device/cookie-forgery.test.ts',
        titles: ['is refused with the header if the browser or Origin names another page'],
      },
    ],
  },
  {
    name: 'session cookie: the page is of the same user',
    file: 'src/platform/access/authenticate.ts',
    find: 'if (cookie !== undefined) assertUserOfPage(request, operation, caller);',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/device/device-session.test.ts',
        titles: ['of one user is refused from the page'],
      },
    ],
  },
  {
    name: 'session cookie: a header Authorization counts alone',
    file: 'src/platform/access/session-cookie.ts',
    find: 'if (request.headers.authorization !== undefined) return undefined;',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/device/device-session.test.ts',
        titles: ['and with a header Authorization counts as the header alone'],
      },
    ],
  },
  {
    name: 'session cookie: with HTTPS only the name that no other host can set',
    file: 'src/platform/access/cookies.ts',
    find: "isSecure ? { name: `__Host-${name}`, path: '/' } : { name, path: '/api/' };",
    replace: "({ name, path: isSecure ? '/' : '/api/' });",
    tests: [
      {
        file: 'test/modules/auth/device/device-session.test.ts',
        titles: ['counts with HTTPS only under the name'],
      },
    ],
  },
  {
    name: 'logins: passwords that a team sets fill no queue of others',
    file: 'src/platform/limits/login-limiter.ts',
    find: 'hash, { tenant, networks: placeOfTeam(caller) });',
    replace: 'hash, { tenant });',
    tests: [
      {
        file: 'test/resilience/bulk/turns-of-callers.test.ts',
        titles: ['a login is neither refused nor late because'],
      },
    ],
  },
  // Decision 0137.
  {
    name: 'PINs: five wrong ones end the PIN at the station',
    file: QUERIES,
    find: 'w.failures < ${MAX_PIN_FAILURES}::int and ${isRemembered}',
    replace: '${MAX_PIN_FAILURES}::int > 0 and ${isRemembered}',
    tests: [
      { file: PINS, titles: ['after five in a row needs the password'] },
      { file: RACES, titles: ['five are admitted across replicas'] },
    ],
  },
  {
    name: 'PINs: wrong ones count until the next login',
    file: QUERIES,
    find: 'failures = case when excluded.expires_at > known.expires_at then 0 else known.failures end',
    replace: 'failures = 0',
    tests: [{ file: PINS, titles: ['does not begin anew'] }],
  },
  {
    name: 'PINs: new stations do not push out one where wrong PINs count',
    file: QUERIES,
    find: 'order by newest.failures > 0 and newest.expires_at > now() desc, newest.remembered_at',
    replace: 'order by newest.remembered_at',
    tests: [{ file: PINS, titles: ['does not begin anew'] }],
  },
  {
    name: 'PINs: they end 12 hours after the login',
    file: QUERIES,
    find: 'const isRemembered = sql`w.expires_at > now() and ',
    replace: 'const isRemembered = sql`',
    tests: [{ file: PINS, titles: ['ends 12 hours after the login'] }],
  },
  {
    name: 'PINs: a station forgets whose tokens were revoked',
    file: QUERIES,
    find: 'w.token_version = u.token_version\n',
    replace: 'w.token_version <= u.token_version\n',
    tests: [{ file: PINS, titles: ['a PIN that is set anew does not work at stations of before'] }],
  },
  {
    name: 'PINs: only warehouse workers take over',
    file: QUERIES,
    find: "u.is_active and u.role = 'warehouse'`;",
    replace: "u.is_active and u.role <> 'courier'`;",
    tests: [{ file: PINS, titles: ['is refused after'] }],
  },
  {
    name: 'PINs: a PIN does not begin the 12 hours anew',
    file: QUERIES,
    find: "s.started_by <> 'pin' and ",
    replace: '',
    tests: [{ file: PINS, titles: ['does not begin the 12 hours anew'] }],
  },
  {
    name: 'PINs: a new password does not replace the second factor',
    file: QUERIES,
    find: "and (s.started_by <> 'password_change' or not u.two_factor_enabled)",
    replace: '',
    tests: [{ file: PINS, titles: ['does not go around the second factor by a new password'] }],
  },
  {
    name: 'PINs: a name of a station that somebody made up is not taken',
    file: 'src/modules/auth/station/stations.ts',
    find: 'return found?.isKnown === true;',
    replace: 'return found !== undefined;',
    tests: [{ file: PINS, titles: ['takes no name that somebody has made up'] }],
  },
  {
    name: 'PINs: ending the other sessions deletes the PIN',
    file: 'src/modules/sessions/manage.ts',
    find: '    await removePinOf(tx, userId);\n',
    replace: '',
    tests: [{ file: PINS, titles: ['after ending all sessions, which delete the PIN'] }],
  },
  {
    name: 'PINs: the user is compared again after the hash',
    file: 'src/modules/auth/station/switch.ts',
    find: ' || (await tx.count(acceptPin(ctx, sent, pinHash))) !== 1',
    replace: ' || (await tx.count(acceptPin(ctx, sent, pinHash))) > 1',
    tests: [
      {
        file: RACES,
        titles: ['no session starts if the user changes while the PIN is compared'],
      },
    ],
  },
  {
    name: 'PINs: managers and administrators have none',
    file: 'src/modules/auth/station/pin.ts',
    find: "if (caller.role !== 'warehouse')",
    replace: "if (caller.role === 'courier')",
    tests: [{ file: PINS, titles: ['is for the role warehouse only'] }],
  },
  {
    name: 'PINs: a page of another origin is no station',
    file: 'src/platform/access/station-cookie.ts',
    find: 'comesFromOwnPage(request) ? readCookie(request, NAME) : undefined',
    replace: 'readCookie(request, NAME)',
    tests: [{ file: PINS, titles: ['needs the station: no other browser, no page of another origin'] }],
  },
  {
    name: 'PINs: those that everybody tries first are refused',
    file: 'src/modules/auth/station/pin.ts',
    find: "if (isEasy(pin)) throw invalidFieldError('pin', 'easy_pin');",
    replace: '',
    tests: [{ file: PINS, titles: ['is 6 to 8 digits that nobody tries first'] }],
  },
  {
    name: 'stations: a name that somebody has made up needs no statement',
    file: 'src/modules/auth/station/station-name.ts',
    find: 'timingSafeEqual(given, expected) ?',
    replace: 'timingSafeEqual(given, given) ?',
    tests: [
      {
        file: 'test/modules/auth/device/station-names.test.ts',
        titles: ['a name of a station that somebody has made up'],
      },
    ],
  },
];
