/** Something that the login of the service must not have, or another role that may use the database. */
export type LoginFault = {
  /** Whether staging and production must not serve with it. */
  isDangerous: boolean;
  message: string;
  /** Ends with statements that correct it. */
  remedy: string;
};
