import type { Secrets } from '../../platform/access/secrets.js';
import { daysBefore } from './values/calendar.js';
import { DAYS_IN_BUSINESS } from './couriers.js';
import { type CourierCode, DEMO, DEMO_BACKUP_CODES } from './demo.js';
import { demoId } from './values/ids.js';
import type { Row } from './values/rows.js';

type User = {
  username: string;
  fullName: string;
  role: 'admin' | 'manager' | 'warehouse' | 'courier';
  courier?: CourierCode;
  isActive?: boolean;
  totpSecret?: string;
};

const USERS: Record<keyof typeof DEMO.users, Omit<User, 'username'>> = {
  admin: { fullName: 'Demo Admin', role: 'admin' },
  manager: { fullName: 'Demo Manager', role: 'manager' },
  warehouse: { fullName: 'Demo Warehouse', role: 'warehouse' },
  iex: { fullName: 'Island Express', role: 'courier', courier: 'IEX' },
  hrb: { fullName: 'Harbour Couriers', role: 'courier', courier: 'HRB' },
  disabled: { fullName: 'Disabled Manager', role: 'manager', isActive: false },
  guarded: { fullName: 'Guarded Manager', role: 'manager', totpSecret: DEMO.totpSecret },
};

const USERS_OF_TWO: Record<keyof typeof DEMO.usersOfTwo, Omit<User, 'username'>> = {
  admin: { fullName: 'Second Admin', role: 'admin' },
  two: { fullName: 'Two Rivers Couriers', role: 'courier', courier: 'TWO' },
};

/** The values that the rows of all users share. */
type Enrolment = { passwordHash: string; secrets: Secrets; now: Date };

export function userRows(enrolment: Enrolment): Row[] {
  return Object.entries(USERS).map(([username, user], index) =>
    userRow(DEMO.tenants.demo, demoId('demo', 'user', index + 1), { username, ...user }, enrolment),
  );
}

export function userRowsOfTwo(enrolment: Enrolment): Row[] {
  return Object.entries(USERS_OF_TWO).map(([username, user], index) =>
    userRow(DEMO.tenants.two, demoId('two', 'user', index + 1), { username, ...user }, enrolment),
  );
}

export function backupCodeRows(secrets: Secrets): Row[] {
  return DEMO_BACKUP_CODES.map((code, index) => ({
    tenant_id: DEMO.tenants.demo,
    id: demoId('demo', 'backupCode', index + 1),
    user_id: DEMO.users.guarded,
    code_hash: secrets.lookupHash(code, 'backup_code'),
  }));
}

function userRow(tenantId: string, id: string, user: User, { passwordHash, secrets, now }: Enrolment): Row {
  const { username, fullName, role, courier, isActive = true, totpSecret } = user;
  return {
    tenant_id: tenantId,
    id,
    username,
    full_name: fullName,
    email: `${username}${tenantId === DEMO.tenants.two ? '.two' : ''}@example.com`,
    role,
    courier_id: courier ? DEMO.couriers[courier] : null,
    password_hash: passwordHash,
    is_active: isActive,
    two_factor_enabled: totpSecret !== undefined,
    totp_secret: totpSecret
      ? secrets.encrypt(totpSecret, { tenantId, rowId: id, field: 'totp_secret' })
      : null,
    created_at: daysBefore(now, DAYS_IN_BUSINESS),
    updated_at: daysBefore(now, DAYS_IN_BUSINESS),
  };
}
