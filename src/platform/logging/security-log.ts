/** What the log says of sign-ins, each under a name that never changes: docs/operations.md lists them. */
export type SecurityEvent =
  'login.succeeded' | 'login.code_required' | 'password.refused' | 'code.refused' | 'account.locked';

export type SecurityFacts = {
  reqId: string;
  tenantId: string;
  address: string;
  userId?: string | undefined;
  /** A keyed hash of the user name that was sent: the name itself may be a password in the wrong field. */
  nameHash?: string | undefined;
  secondFactor?: string | undefined;
  /** The failure code that the client got. */
  code?: string | undefined;
};

export type SecurityLog = (event: SecurityEvent, facts: SecurityFacts) => void;
