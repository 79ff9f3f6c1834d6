import type { SourceMutant } from '../mutant.js';

/** Guards of passwords, second factors and tokens. */
export const SIGN_IN: readonly SourceMutant[] = [
  {
    name: 'login: the password is compared again after the hash',
    file: 'src/modules/auth/login/login.ts',
    find: 'fresh?.passwordHash !== account.passwordHash || fresh.isPasswordExpired',
    replace: 'fresh === undefined || fresh.isPasswordExpired',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['whose password is changed meanwhile'] },
    ],
  },
  {
    name: 'login: the expiry of a one-time password is read again after the hash',
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
    name: 'login: a user who is disabled while the password is hashed is refused',
    file: 'src/modules/auth/login/login.ts',
    find: "if (!fresh.isEnabled) return new ApiError('account_disabled');",
    replace: '',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['of a user who is disabled meanwhile'] },
    ],
  },
  {
    name: 'login: a second factor that is on is asked for',
    file: 'src/modules/auth/login/login.ts',
    find: 'if (!fresh.twoFactorEnabled) return',
    replace: 'if (fresh) return',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['who turns a second factor on meanwhile'],
      },
    ],
  },
  {
    name: 'login: the user is held while the session begins',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: ' for share of users`',
    replace: '`',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['whose password is changed meanwhile'] },
    ],
  },
  {
    name: 'password: it is compared with the hash',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'return canMatch && isSame;',
    replace: 'return canMatch;',
    tests: [
      {
        file: 'test/modules/auth/login.test.ts',
        titles: ['an unknown user, a wrong password and a disabled user'],
      },
    ],
  },
  {
    name: 'password: an unknown user costs the time of a hash',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'const isSame =',
    replace: 'if (!canMatch) return false;\n  const isSame =',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['all of these take the time of a hash'] }],
  },
  {
    name: 'password: what bcrypt would cut off does not match',
    file: 'src/modules/auth/credentials/passwords.ts',
    find: 'const canMatch = hash !== undefined && isHashable(password);',
    replace: 'const canMatch = hash !== undefined;',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a password beyond 72 bytes'] }],
  },
  {
    name: 'password: a one-time password that has expired is wrong',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: ' && !account.isPasswordExpired)',
    replace: ')',
    tests: [
      { file: 'test/modules/users.test.ts', titles: ['a one-time password that has expired is a wrong one'] },
    ],
  },
  {
    name: 'throttle: an attempt is refused while the name is locked',
    file: 'src/modules/auth/credentials/throttle.ts',
    find: 'where throttle.locked_until is null or throttle.locked_until <= now()\n    returning failures',
    replace: 'returning failures',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['of 1,000 attempts that reach the database'],
      },
    ],
  },
  {
    name: 'throttle: the fifth attempt locks before it is judged',
    file: 'src/modules/auth/credentials/throttle.ts',
    find: 'throttle.failures + 1 >= ${MAX_FAILURES}::int then',
    replace: 'false then',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['of 1,000 attempts that reach the database'],
      },
    ],
  },
  {
    name: 'throttle: a lock is asked for before the queue',
    file: 'src/modules/auth/credentials/password-attempt.ts',
    find: 'if (!counted?.[0]) throw lockedOutError(left ?? []);',
    replace: 'if (!counted?.[0]) return { failures: 0, account: accounts?.[0] as Account | undefined };',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['of 200 wrong passwords at once for one name'],
      },
    ],
  },
  {
    name: 'throttle: fifty failures end the tries of an address',
    file: 'src/platform/access/login-limiter.ts',
    find: 'if (!counted || counted.consumedPoints < FAILURES_PER_ADDRESS) return;',
    replace: 'if (counted !== undefined) return;',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['fifty failures from one address'] }],
  },
  {
    name: 'throttle: an IPv6 network counts as one address',
    file: 'src/platform/values/network-address.ts',
    find: '.slice(0, 4)',
    replace: '',
    tests: [{ file: 'test/modules/auth/login-races.test.ts', titles: ['failures from'] }],
  },
  {
    name: 'queue: one user name has one place at a time',
    file: 'src/platform/access/login-limiter.ts',
    find: 'limiter.run(`${tenantId} ${username.toLowerCase()}`, attempt)',
    replace: 'limiter.run(`${tenantId} ${Math.random()}`, attempt)',
    tests: [
      {
        file: 'test/modules/auth/login-races.test.ts',
        titles: ['a flood on one name', 'three places serve three names'],
      },
    ],
  },
  {
    name: 'codes: a preauth token is used up once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and consumed_at is null and expires_at > now()',
    replace: 'and expires_at > now()',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a wrong code burns the token'] }],
  },
  {
    name: 'codes: a preauth token ends after five minutes',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and consumed_at is null and expires_at > now()',
    replace: 'and consumed_at is null',
    tests: [
      {
        file: 'test/modules/auth/login.test.ts',
        titles: ['an unknown, an empty, a used and an expired token'],
      },
    ],
  },
  {
    name: 'codes: a step of the authenticator is taken once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and (totp_last_step is null or totp_last_step < ${step}::int)',
    replace: '',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a step is accepted once'] }],
  },
  {
    name: 'codes: a backup code is taken once',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and code_hash = ${codeHash}\n      and used_at is null',
    replace: 'and code_hash = ${codeHash}',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a backup code works once'] }],
  },
  {
    name: 'codes: a backup code is its own user’s',
    file: 'src/modules/auth/credentials/account-queries.ts',
    find: 'and user_id = ${userId}::uuid and code_hash',
    replace: 'and code_hash',
    tests: [
      { file: 'test/modules/auth/login.test.ts', titles: ["another user's backup code is a wrong code"] },
    ],
  },
  {
    name: 'codes: wrong codes are counted, and the sixth is not judged',
    file: 'src/modules/auth/credentials/code-attempt.ts',
    find: 'if (!counted) return lockedOut',
    replace: 'if (!counted && Math.random() > 2) return lockedOut',
    tests: [
      { file: 'test/modules/auth/login.test.ts', titles: ['five wrong codes in a row lock the codes'] },
    ],
  },
  {
    name: 'codes: an empty or short secret has no codes',
    file: 'src/modules/auth/credentials/totp.ts',
    find: 'if (!USABLE_SECRET.test(secret)) return undefined;',
    replace: '',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a user whose secret is empty or short'] }],
  },
  {
    name: 'codes: a code is six digits',
    file: 'src/modules/auth/credentials/totp.ts',
    find: 'if (!/^\\d{6}$/.test(code)) return undefined;',
    replace: '',
    tests: [{ file: 'test/modules/auth/login.test.ts', titles: ['a code is six digits and nothing else'] }],
  },
  {
    name: 'codes: a user who is disabled between the steps is refused',
    file: 'src/modules/auth/login/second-step.ts',
    find: "if (!account.isEnabled) return new ApiError('account_disabled');",
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/login.test.ts',
        titles: ['the code of a user disabled between the two steps is neither judged nor used up'],
      },
    ],
  },
  {
    name: 'codes: a user who is disabled while a code is judged is refused',
    file: 'src/modules/auth/login/second-step.ts',
    find: "if (!account?.isEnabled) return new ApiError('account_disabled');",
    replace: "if (!account) return new ApiError('account_disabled');",
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['a second factor that is verified while the user is disabled hands out no token'],
      },
    ],
  },
  {
    name: 'codes: a factor that is off accepts no backup code',
    file: 'src/modules/auth/credentials/code-attempt.ts',
    find: 'if (!account.twoFactorEnabled) return undefined;',
    replace: '',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['a second factor that was switched off between the two steps accepts no backup code'],
      },
    ],
  },
  {
    name: 'own account: a new password needs the current one',
    file: 'src/modules/auth/account/change-password.ts',
    find: 'return withPassword(deps, attempt, refuse, work);',
    replace:
      'return ownAccount({ deps, caller, address, requestId }).then(work).catch(() => withPassword(deps, attempt, refuse, work));',
    tests: [
      {
        file: 'test/modules/auth/change-password.test.ts',
        titles: ['five wrong passwords, here and at login together'],
      },
    ],
  },
  {
    name: 'own account: the password is still the one that was judged',
    file: 'src/modules/auth/account/queries.ts',
    find: ' and users.password_hash = ${old}`',
    replace: '`',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['the password is changed > a new password'],
      },
    ],
  },
  {
    name: 'own account: the token is still good when the change is written',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.token_version = ${caller.tokenVersion}::int and users.is_active',
    replace: 'and users.is_active',
    tests: [
      { file: 'test/modules/auth/credential-races.test.ts', titles: ['tokens are ended > a new password'] },
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
        titles: ['the user is disabled > a new password'],
      },
    ],
  },
  {
    name: 'second factor: it is turned on with the secret that was proven',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.totp_pending_secret = ${proven} and',
    replace: 'and',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['another set-up is begun > turning a second factor on'],
      },
    ],
  },
  {
    name: 'second factor: it is turned off for the password that was judged',
    file: 'src/modules/auth/account/queries.ts',
    find: '${endTokens}\n    where ${authenticatedUser(db, caller)} and users.password_hash = ${passwordHash} and users.two_factor_enabled`',
    replace: '${endTokens}\n    where ${authenticatedUser(db, caller)} and users.two_factor_enabled`',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['the password is changed > turning a second factor off'],
      },
    ],
  },
  {
    name: 'second factor: backup codes are made for the password that was judged',
    file: 'src/modules/auth/account/queries.ts',
    find: 'and users.password_hash = ${passwordHash} and users.two_factor_enabled for update',
    replace: 'and users.two_factor_enabled for update',
    tests: [
      {
        file: 'test/modules/auth/credential-races.test.ts',
        titles: ['the password is changed > new backup codes'],
      },
    ],
  },
  {
    name: 'tokens: the signature is verified',
    file: 'src/platform/access/tokens.ts',
    find: 'const claims = signer.verify(token);',
    replace:
      "const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;",
    tests: [
      { file: 'test/modules/auth/tokens.test.ts', titles: ['a token with > under the signature of its own'] },
    ],
  },
  {
    name: 'tokens: those of another deployment are worth nothing',
    file: 'src/platform/access/tokens.ts',
    find: 'allowedIss: issuer,\n        allowedAud: issuer,\n',
    replace: '',
    tests: [{ file: 'test/modules/auth/tokens.test.ts', titles: ['another issuer', 'another audience'] }],
  },
  {
    name: 'tokens: those of another tenant are refused on this host',
    file: 'src/platform/access/authenticate.ts',
    find: "if (caller.tenantId !== tenantId) throw new ApiError('token_invalid');",
    replace: '',
    tests: [
      {
        file: 'test/security/transport/transport.test.ts',
        titles: ['a token is refused on another tenant’s host'],
      },
    ],
  },
];
