/** The roles of the contract. */
export const ROLES = ['admin', 'manager', 'warehouse', 'courier'] as const;
