/** The failures of the operations that only couriers call, in Spanish. A test finds missing ones. */
export const courierFailuresEs: Record<string, string> = {};
