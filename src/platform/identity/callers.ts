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
  /** The token's session. Tokens that were issued before there were sessions have none. */
  sessionId?: string | undefined;
  /** Set for the few operations that a user may call with a one-time password. */
  changesPassword?: boolean;
  /** Set for the few operations that a user may call without the second factor that its role requires. */
  enrolsFactor?: boolean;
};

/** Who sent an API key; which courier that is, only the database knows. */
export type KeyCaller = { kind: 'key'; tenantId: string; keyHash: string };

/** The service itself, before or without a caller: signing in, background work. Sees the whole tenant. */
export type SystemCaller = { kind: 'system'; tenantId: string };

export type Caller = UserCaller | KeyCaller | SystemCaller;

/** Under which name work that is costly takes its turn: users of one courier share theirs. */
export const laneOf = ({ tenantId, courierId, userId }: UserCaller): string =>
  `${tenantId} ${courierId ?? userId}`;
