/** The login events in the log. Their names are stable; docs/operations.md lists them. */
type SecurityEvent =
  | 'login.succeeded'
  | 'login.code_required'
  | 'password.refused'
  | 'code.refused'
  | 'pin.refused'
  | 'account.locked';

export type SecurityEventFields = {
  reqId: string;
  tenantId: string;
  address: string;
  userId?: string | undefined;
  /** A keyed hash of the user name that was sent: the name itself may be a password in the wrong field. */
  nameHash?: string | undefined;
  secondFactor?: string | undefined;
  /** The failure code of the response. */
  code?: string | undefined;
};

export type SecurityLog = (event: SecurityEvent, fields: SecurityEventFields) => void;
