export type Role = 'admin' | 'manager' | 'warehouse' | 'courier';

/** The user that a bearer token names. The database checks the account in the same round trip as the work. */
export type UserCaller = {
  kind: 'user';
  tenantId: string;
  userId: string;
  role: Role;
  /** The courier that a user of the courier role belongs to; null for staff, who see all couriers. */
  courierId: string | null;
  tokenVersion: number;
  /** Seconds since the epoch, by the database's clock. */
  expiresAt: number;
  /** The token's session. Tokens that earlier versions issued have none. */
  sessionId?: string | undefined;
  /** Set for the few operations that a user may call with a one-time password. */
  changesPassword?: boolean;
  /** Set for the few operations that a user may call without the second factor that its role requires. */
  enrolsFactor?: boolean;
};

/** The sender of an API key. The database looks the courier up by the key's hash. */
export type KeyCaller = {
  kind: 'key';
  tenantId: string;
  keyHash: string;
  /** The client's address. A key that nobody has checked may be invented, so its requests count for their block of networks. */
  address: string;
};

/** The service itself: logins and background jobs, which have no caller. It sees the whole tenant. */
export type SystemCaller = {
  kind: 'system';
  tenantId: string;
  /** The client's address, of a request that needs no credential. */
  address?: string;
};

export type Caller = UserCaller | KeyCaller | SystemCaller;
