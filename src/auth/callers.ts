export type Role = 'admin' | 'manager' | 'warehouse' | 'courier';

/** Who a bearer token says it is. The database has the last word, in the same round trip as the work. */
export type UserCaller = {
  kind: 'user';
  tenantId: string;
  userId: string;
  role: Role;
  /** The account that the courier role is held to; null for staff, who see all couriers. */
  courierId: string | null;
  tokenVersion: number;
  /** Seconds since the epoch, by the database's clock. */
  expiresAt: number;
  /** Of the one operation that a user with a one-time password may call: to change it. */
  changesPassword?: boolean;
};

/** Who sent an API key; which courier that is, only the database knows. */
export type KeyCaller = { kind: 'key'; tenantId: string; keyHash: string };

/** The service itself, before or without a caller: signing in, background work. Sees the whole tenant. */
export type SystemCaller = { kind: 'system'; tenantId: string };

export type Caller = UserCaller | KeyCaller | SystemCaller;

/** Under which name work that is costly takes its turn: users of one courier share theirs. */
export const laneOf = ({ tenantId, courierId, userId }: UserCaller): string =>
  `${tenantId} ${courierId ?? userId}`;
