export type Role = 'admin' | 'manager' | 'warehouse' | 'courier';

/** The user that an access token names. The database checks the account in the same round trip as the work. */
export type PersonCaller = {
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

/** The role whose rights a service token has at most: a courier's user for a courier, otherwise the staff of the warehouse. */
export type TokenRole = Extract<Role, 'courier' | 'warehouse'>;

/**
 * A service token. What it claims stands in its text, which the database compares by its hash, in the same round trip as the work:
 * nobody can claim another token or courier.
 */
export type TokenCaller = {
  kind: 'token';
  tenantId: string;
  tokenId: string;
  role: TokenRole;
  /** The courier that the token belongs to; null for a token of the staff. */
  courierId: string | null;
  /** The token's id: columns that name the user who acted name the token. It is no user's id. */
  userId: string;
  keyHash: string;
  /** The scopes of which the operation requires one. The database compares them with those of the token. */
  scopes: readonly string[];
  /** The client's address, which the token may be limited to. */
  address: string;
};

/** Who acts for a courier or for the staff, within the scopes of an operation: a user, or a service token. */
export type UserCaller = PersonCaller | TokenCaller;

/** The sender of an API key. The database looks the courier up by the key's hash. */
export type KeyCaller = {
  kind: 'key';
  tenantId: string;
  keyHash: string;
  /** The client's address. A key that nobody has checked may be invented, so its requests count for their block of networks. */
  address: string;
};

/** Who submits pre-alerts for a courier that only the database knows for certain: an API key, or a service token. */
export type SubmittingCaller = KeyCaller | TokenCaller;

/** The service itself: logins and background jobs, which have no caller. It sees the whole tenant. */
export type SystemCaller = {
  kind: 'system';
  tenantId: string;
  /** The client's address, of a request that needs no credential. */
  address?: string;
  /** The caller of a request in the scope of its whole tenant. The database's connections of the request are of its share. */
  onBehalfOf?: UserCaller | KeyCaller;
};

export type Caller = UserCaller | KeyCaller | SystemCaller;
